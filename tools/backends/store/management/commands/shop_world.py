from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from tools.backends.store.models import Order
from tools.backends.store.world import photograph, plant


class Command(BaseCommand):
    help = "A shop from a JSON description: plant it in an empty one, or photograph it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=["plant", "photograph"])
        parser.add_argument("--file", help="the description, for plant")

    def handle(self, *args: Any, **options: Any) -> str:
        if options["what"] == "photograph":
            return json.dumps(photograph())
        if Order.objects.exists():
            raise CommandError("The shop is not empty: use a new database.")
        if not options["file"]:
            raise CommandError("--file FILE is needed.")
        try:
            world = json.loads(Path(options["file"]).read_text("utf-8"))
            return f"{plant(world, now=timezone.now())} orders planted."
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CommandError(f"{options['file']} is no world: {error!r}") from None
