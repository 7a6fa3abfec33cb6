from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class ToolsConfig(AppConfig):
    name = "tools"
    label = "tools"
    verbose_name = "Tools"

    def ready(self) -> None:
        from tools.backends import BACKENDS

        if settings.TOOLS_BACKEND not in BACKENDS:
            known = ", ".join(sorted(BACKENDS))
            raise ImproperlyConfigured(f"TOOLS_BACKEND must be one of: {known}.")
        if settings.TOOLS_BACKEND == "http_api" and not settings.SHOP_API_URL:
            raise ImproperlyConfigured("SHOP_API_URL is not set.")
