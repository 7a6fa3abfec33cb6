from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from tools.backends.store.models import Order
from tools.backends.store.retail import load, load_customer, photograph


class Command(BaseCommand):
    help = "The public retail benchmark in the embedded shop: load, reset, photograph."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=["load", "reset", "photograph"])
        parser.add_argument("--db", help="the benchmark's db.json")
        parser.add_argument("--user", default="", help="a customer of it")

    def handle(self, *args: Any, **options: Any) -> str | None:
        user, now = options["user"], timezone.now()
        match options["what"]:
            case "load":
                if Order.objects.exists():
                    raise CommandError("The shop is not empty: use a new database.")
                return f"{load(_database(options['db']), now=now)} orders loaded."
            case "reset":
                load_customer(_database(options["db"]), user, now=now)
                return None
            case _:
                return json.dumps(photograph(user))


@lru_cache(maxsize=1)
def _database(path: str | None) -> dict[str, Any]:
    if not path:
        raise CommandError("--db FILE is needed.")
    try:
        database: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} is no benchmark database: {error}") from None
    return database
