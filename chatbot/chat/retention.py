"""What was kept for long enough is forgotten by itself, once a day.

Every process says which day it is, and says it often; the day's first word is an event
like any other, so that one process delivers it, another where that one dies.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from importlib import import_module

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from chatbot.chat.guests import forget_guests
from chatbot.chat.lookups import forget_addresses
from chatbot.chat.privacy import forget_old
from chatbot.workflow.models import Event
from chatbot.workflow.outbox import Retryable, record_event
from tools.database import in_database

DUE = "retention.due"
# Seconds between two looks at the day.
LOOK_AT_THE_DAY = 600.0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many of each there were."""

    conversations: int
    visitors: int


def forget_everything_old(*, now: datetime) -> Forgotten:
    """Delete what the settings let nobody keep any longer; safe to repeat."""
    conversations, visitors = forget_old(now=now), 0
    while gone := forget_guests(now=now):
        visitors += gone
    forget_addresses(now=now)
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    return Forgotten(conversations, visitors)


def note_the_day(*, now: datetime) -> None:
    """Have the forgetting of this day (UTC) done; once, however often it is said."""
    record_event(DUE, key=f"{DUE}:{now:%Y-%m-%d}", now=now, ids={})


async def look_at_the_day() -> None:
    await in_database(note_the_day, now=timezone.now())


async def forget(event: Event) -> None:
    """Handler of ``retention.due``."""
    try:
        await in_database(forget_everything_old, now=timezone.now())
    except DatabaseError as error:
        raise Retryable(f"the database: {type(error).__name__}") from error
