"""What the server runs: pages, sockets, and the work beside them."""

from __future__ import annotations

import os
from typing import Any, cast

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import CookieMiddleware
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.urls import path, re_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatbot.settings")

# Loads the apps: what is imported below needs them.
pages = get_asgi_application()

from chatbot.chat.consumers import ChatConsumer  # noqa: E402
from chatbot.health import Health  # noqa: E402
from chatbot.lifespan import Lifespan  # noqa: E402
from chatbot.origins import SameOrigin, no_such_socket  # noqa: E402
from chatbot.security import AsgiApp, BodyLimit  # noqa: E402

sockets = URLRouter(
    [
        path("ws/chat/<uuid:conversation>/", ChatConsumer.as_asgi()),
        re_path("", cast("Any", no_such_socket)),
    ]
)

application = ProtocolTypeRouter(
    {
        "http": Health(BodyLimit(cast("AsgiApp", pages), settings.BODY_MAX_BYTES)),
        # Who comes is found out by the gate, once: no session is loaded before it.
        "websocket": SameOrigin(CookieMiddleware(sockets)),
        "lifespan": Lifespan(),
    }
)
