"""The people of the demo shop, whom a visitor may try the product as."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth import get_user_model

from chatbot.chat.words import word

# Log-in name -> the word that says what one sees as them.
_PEOPLE = {
    "lin": "demo_lin",
    "mei": "demo_mei",
    "sam": "demo_sam",
    "ada": "demo_ada",
    "olga": "demo_olga",
}


@dataclass(frozen=True, slots=True)
class DemoPerson:
    username: str
    name: str
    what: str
    staff: bool


def demo_people() -> list[DemoPerson]:
    """Those of the demo cast that exist; nobody outside ``ENVIRONMENT=demo``."""
    if settings.ENVIRONMENT != "demo":
        return []
    users = get_user_model().objects.filter(username__in=_PEOPLE, is_active=True)
    found = {user.username: user for user in users}
    return [
        DemoPerson(
            username=username,
            name=found[username].get_full_name() or username.capitalize(),
            what=word(what),
            staff=found[username].is_staff,
        )
        for username, what in _PEOPLE.items()
        if username in found
    ]
