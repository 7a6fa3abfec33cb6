"""``manage.py erase_customer``: forget a customer who asks for it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.utils import timezone

from chatbot.chat.management.commands.export_customer import customer_named
from chatbot.chat.privacy import erase_customer
from chatbot.workflow.services import NotPossible
from tools.contracts import Role

_WHY = {
    "two_people": "two different people have to agree",
    "still_open": "a change of theirs is still open: let it end first",
}


class Command(BaseCommand):
    help = "Delete a customer's log-in, sessions and conversations; two people agree."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="log-in name of the customer")
        parser.add_argument("--by", required=True, help="the operator who does it")
        parser.add_argument("--agreed", required=True, help="who agrees to it")

    def handle(self, *args: Any, **options: Any) -> None:
        account = customer_named(options["name"])
        by, agreed = _staff(options["by"]), _staff(options["agreed"])
        try:
            erased = erase_customer(
                account.pk, by=by, agreed=agreed, now=timezone.now()
            )
        except NotPossible as refusal:
            raise CommandError(_WHY[refusal.reason]) from None
        self.stdout.write(
            f"Erased {erased.conversations} conversations and"
            f" {erased.sessions} sessions; emptied {erased.requests} changes."
        )


def _staff(name: str) -> User:
    """One of those who may: an operator, or a supervisor to agree."""
    roles = (Role.OPERATOR, Role.SUPERVISOR)
    staff = User.objects.filter(is_active=True, is_staff=True, username=name)
    may = Q(groups__name__in=roles) | Q(account__role__in=roles)
    person = staff.filter(may).first()
    if person is None:
        raise CommandError(f"{name!r} is no operator or supervisor")
    return person
