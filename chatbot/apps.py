from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import Tags, register


class WaybillConfig(AppConfig):
    """The project as an app: it refuses to start with unsafe production settings."""

    name = "chatbot"
    label = "waybill"
    verbose_name = "Waybill"

    def ready(self) -> None:
        from chatbot import safety

        safety.refuse_unsafe_settings()
        register(safety.check_settings, Tags.security, deploy=True)
        register(safety.check_names)
