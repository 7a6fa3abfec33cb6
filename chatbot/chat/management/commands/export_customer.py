"""``manage.py export_customer``: all that is kept of a customer, as JSON."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chatbot.chat.models import Account
from chatbot.chat.privacy import export_customer
from tools.contracts import Role


def customer_named(name: str) -> Account:
    accounts = Account.objects.select_related("user").filter(role=Role.CUSTOMER)
    account = accounts.filter(user__username=name).first()
    if account is None:
        raise CommandError(f"there is no customer named {name!r}")
    return account


class Command(BaseCommand):
    help = "Print what is kept of a customer: conversations, opinions, changes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="log-in name of the customer")

    def handle(self, *args: Any, **options: Any) -> None:
        found = export_customer(customer_named(options["name"]))
        self.stdout.write(json.dumps(found, ensure_ascii=False, indent=2))
