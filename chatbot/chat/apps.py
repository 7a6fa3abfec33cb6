from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class ChatConfig(AppConfig):
    name = "chatbot.chat"
    label = "chat"
    verbose_name = "Chat"

    def ready(self) -> None:
        # Admin pages of the workflow's rows, in this room's words.
        autodiscover_modules("desk", "desk_rules")
        from chatbot.chat.labels import name_tables

        name_tables()
