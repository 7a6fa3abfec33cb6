"""``manage.py forget_old``: delete what was kept for long enough; once a day."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from chatbot.chat.guests import forget_guests
from chatbot.chat.privacy import forget_old


class Command(BaseCommand):
    help = "Delete conversations and visitors that were kept for long enough."

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        conversations, visitors = forget_old(now=now), 0
        while gone := forget_guests(now=now):
            visitors += gone
        self.stdout.write(
            f"Forgot {conversations} conversations and {visitors} visitors."
        )
