"""``manage.py bootstrap``: what an installation needs beside its tables."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command, get_commands
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from chatbot.chat.models import Account
from chatbot.chat.roles import make_groups
from tools.contracts import Role

# In the demo alone, whose server listens on this machine only.
PASSWORD = "waybill-demo"  # noqa: S105


@dataclass(frozen=True, slots=True)
class _Person:
    name: str
    role: Role
    customer_id: str = ""
    language: str = "zh"


PEOPLE = (
    _Person("lin", Role.CUSTOMER, "C-LIN"),
    _Person("mei", Role.CUSTOMER, "C-MEI"),
    _Person("ada", Role.AGENT),
    _Person("sam", Role.SUPERVISOR),
    _Person("olga", Role.OPERATOR),
)


class Command(BaseCommand):
    help = (
        "Make the staff groups; in the demo also tables, shop and people. Repeatable."
    )
    # The checks load every page; `make run` starts the server right after, which does.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--quiet", action="store_true", help="do not print address and log-ins"
        )

    def handle(self, *args: Any, quiet: bool, **options: Any) -> None:
        demo = settings.ENVIRONMENT == "demo"
        try:
            self._fill(demo=demo)
        except (DatabaseError, OSError) as error:
            problem = " ".join(str(error).split())
            raise CommandError(f"the database cannot be used: {problem}") from None
        if demo and not quiet:
            self._say_hello()

    def _fill(self, *, demo: bool) -> None:
        if demo:
            call_command("migrate", verbosity=0)
        make_groups()
        if not demo:
            return
        if "seed_store" in get_commands():
            call_command("seed_store", verbosity=0)
        make_people()

    def _say_hello(self) -> None:
        port = os.environ.get("PORT", "8000")
        names = ", ".join(person.name for person in PEOPLE)
        # An endpoint without a key would be left unused without a word.
        keyless = settings.OPENAI_BASE_URL or settings.LLM_MODEL
        offline = "offline" + (" (OPENAI_API_KEY is not set)" if keyless else "")
        model = settings.LLM_MODEL if settings.OPENAI_API_KEY else offline
        self.stdout.write(
            f"\n  Waybill   http://127.0.0.1:{port}/\n"
            f"  Staff     http://127.0.0.1:{port}/admin/\n"
            f"  Model     {model}\n"
            f"  Log in as {names}; password {PASSWORD}\n\n"
        )


def make_people() -> None:
    """The demo's customers and staff, made once; a changed password stays changed."""
    users = get_user_model().objects
    there = set(
        users.filter(username__in=[person.name for person in PEOPLE]).values_list(
            "username", flat=True
        )
    )
    for person in PEOPLE:
        if person.name in there:
            continue
        staff = person.role is not Role.CUSTOMER
        user = users.create_user(
            person.name,
            password=PASSWORD,
            first_name=person.name.capitalize(),
            is_staff=staff,
        )
        if staff:
            user.groups.add(Group.objects.get(name=person.role))
        Account.objects.create(
            user=user,
            role=person.role,
            customer_id=person.customer_id,
            language=person.language,
            time_zone="Asia/Shanghai",
        )
