"""``manage.py forget_old``: delete now what would be forgotten within the day."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from chatbot.chat.retention import forget_everything_old


class Command(BaseCommand):
    help = "Delete conversations and visitors that were kept for long enough."

    def handle(self, *args: Any, **options: Any) -> None:
        gone = forget_everything_old(now=timezone.now())
        self.stdout.write(
            f"Forgot {gone.conversations} conversations and {gone.visitors} visitors."
        )
