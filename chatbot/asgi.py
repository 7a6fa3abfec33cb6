"""What the server runs: pages, sockets, and the work beside them."""

from __future__ import annotations

import os
import sys
from typing import Any, cast

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import CookieMiddleware
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.urls import path, re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatbot.settings")

# Loads the apps: what is imported below needs them.
try:
    django.setup(set_prefix=False)
except ImproperlyConfigured as problem:
    # Whoever starts a server reads one line, and no traceback of it.
    sys.exit(f"Waybill does not start: {problem}")

from chatbot.chat.consumers import ChatConsumer
from chatbot.health import Health
from chatbot.lifespan import Lifespan
from chatbot.origins import SameOrigin, no_such_socket
from chatbot.pages import Pages
from chatbot.security import AsgiApp, BodyLimit

sockets = URLRouter(
    [
        path("ws/chat/<uuid:conversation>/", ChatConsumer.as_asgi()),
        re_path("", cast("Any", no_such_socket)),
    ]
)

application = ProtocolTypeRouter(
    {
        "http": Health(BodyLimit(cast("AsgiApp", Pages()), settings.BODY_MAX_BYTES)),
        # Who comes is found out by the gate, once: no session is loaded before it.
        "websocket": SameOrigin(CookieMiddleware(sockets)),
        "lifespan": Lifespan(),
    }
)
