from __future__ import annotations

from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chatbot.chat"
    label = "chat"
    verbose_name = "Chat"
