from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from tools.backends.store.seeding.shop import seed_store
from tools.help_seed import seed_help


class Command(BaseCommand):
    help = (
        "Fill the demo shop and the help centre. A shop with any order is left alone."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        orders = seed_store(now=timezone.now())
        articles = seed_help()
        self.stdout.write(f"{orders} orders and {articles} help articles added.")
