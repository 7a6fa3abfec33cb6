"""The people of the tests, by first name; house.md calls them the cast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.contrib.auth.models import Group, User

from chatbot.chat.models import Account
from tools.contracts import Actor, Role

PASSWORD = "open-sesame-42"


@dataclass(frozen=True, slots=True)
class Person:
    """Who someone is to Django, to the chat and to the tools."""

    user: User
    account: Account
    actor: Actor


@dataclass(frozen=True, slots=True)
class _Part:
    role: Role
    customer_id: str = ""
    language: Literal["zh", "en"] = "en"
    time_zone: str = "Asia/Shanghai"


PARTS: dict[str, _Part] = {
    "lin": _Part(Role.CUSTOMER, "C-LIN", language="zh"),
    "mei": _Part(Role.CUSTOMER, "C-MEI", language="zh"),
    "ada": _Part(Role.AGENT),
    "sam": _Part(Role.SUPERVISOR),
    "olga": _Part(Role.OPERATOR),
}


def person(name: str) -> Person:
    """This person's row, made if need be; the log-in is the name and ``PASSWORD``."""
    part = PARTS[name]
    user, made = User.objects.get_or_create(
        username=name, defaults={"is_staff": part.role is not Role.CUSTOMER}
    )
    if made:
        user.set_password(PASSWORD)
        user.save()
        user.groups.set(Group.objects.filter(name=part.role))
    account, _ = Account.objects.get_or_create(
        user=user,
        defaults={
            "role": part.role,
            "customer_id": part.customer_id,
            "language": part.language,
            "time_zone": part.time_zone,
        },
    )
    actor = Actor(
        role=part.role,
        customer_id=part.customer_id or None,
        language=part.language,
        time_zone=part.time_zone,
    )
    return Person(user=user, account=account, actor=actor)
