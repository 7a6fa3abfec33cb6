"""How often orders may be named that lead nowhere or are not proved: per visitor, and
per address for customers and visitors alike, in the database.

A number in the chat and a wrong code are failures at once. A request for a code counts
as one until the code comes back: whether an order exists never shows in the count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from chatbot.accounts.digests import digest
from chatbot.accounts.models import Guest, LookupGate, LookupTry

FORGOTTEN_AT_ONCE = 500


def keys_of(guest: Guest) -> list[str]:
    """What this visitor's tries are counted for, in the order that gates are locked."""
    return sorted([digest("lookups visitor", str(guest.pk)), guest.address])


def number_subject(number: str) -> str:
    return digest("lookups number", number)


def proof_subject(proof_id: int, attempt: int = 0) -> str:
    return digest("lookups proof", f"{proof_id}.{attempt}")


def locked_until(keys: Iterable[str], *, now: datetime) -> datetime | None:
    """When the last of their locks ends; None where no gate is closed."""
    gates = LookupGate.objects.filter(key__in=list(keys), locked_until__gt=now)
    last: datetime | None = gates.aggregate(last=Max("locked_until"))["last"]
    return last


def is_locked(keys: Iterable[str], *, now: datetime) -> bool:
    return locked_until(keys, now=now) is not None


@transaction.atomic
def note_failures(keys: Sequence[str], subjects: Iterable[str], now: datetime) -> bool:
    """Count failures; True where they close a gate that was open."""
    locked = False
    for gate in _gates(keys):
        if _is_closed(gate, now):
            continue
        _count(gate.key, subjects, now)
        if _tried(gate, now) >= settings.CHAT_LOOKUP_FAILURES:
            locked = _close(gate, now)
    return locked


@transaction.atomic
def may_begin(keys: Sequence[str], now: datetime) -> tuple[bool, bool]:
    """Whether one more may be tried, and whether this is what closed a gate."""
    open_, locked = True, False
    for gate in _gates(keys):
        if _is_closed(gate, now):
            open_ = False
        elif _tried(gate, now) >= settings.CHAT_LOOKUP_FAILURES:
            open_, locked = False, _close(gate, now)
    return open_, locked


def note_begun(keys: Sequence[str], subject: str, now: datetime) -> None:
    """Count a try whose end is not known yet."""
    for key in keys:
        _count(key, [subject], now)


def strike_out(keys: Sequence[str], subjects: Iterable[str]) -> None:
    """Take back what turned out to be no failure; all others of a key still count."""
    LookupTry.objects.filter(key__in=keys, subject__in=list(subjects)).delete()


@transaction.atomic
def forget(now: datetime) -> None:
    """Delete what no longer counts for anybody; what somebody holds stays for now."""
    since = now - timedelta(seconds=settings.CHAT_LOOKUP_WINDOW_SECONDS)
    _delete_free(LookupTry.objects.filter(at__lte=since))
    tried = LookupTry.objects.filter(key=OuterRef("key"))
    idle = LookupGate.objects.exclude(locked_until__gt=now).filter(~Exists(tried))
    _delete_free(idle)


def _delete_free(rows: QuerySet[Any]) -> None:
    # Waiting for a row while holding others, in no order, is how a deadlock begins.
    free = rows.select_for_update(skip_locked=True).values_list("pk", flat=True)
    rows.model.objects.filter(pk__in=list(free[:FORGOTTEN_AT_ONCE])).delete()


def _gates(keys: Sequence[str]) -> Iterator[LookupGate]:
    for key in keys:
        yield _gate(key)


def _gate(key: str) -> LookupGate:
    """The gate's row, locked; made anew where it is forgotten at the same moment."""
    locked = LookupGate.objects.select_for_update().filter(key=key)
    while (gate := locked.first()) is None:
        LookupGate.objects.get_or_create(key=key)
    return gate


def _is_closed(gate: LookupGate, now: datetime) -> bool:
    return gate.locked_until is not None and gate.locked_until > now


def _count(key: str, subjects: Iterable[str], now: datetime) -> None:
    LookupTry.objects.bulk_create(
        LookupTry(key=key, subject=subject, at=now) for subject in subjects
    )


def _tried(gate: LookupGate, now: datetime) -> int:
    """How many things were tried within the window, and since the last lock's end."""
    since = now - timedelta(seconds=settings.CHAT_LOOKUP_WINDOW_SECONDS)
    if gate.locked_until is not None:
        since = max(since, gate.locked_until)
    tries = LookupTry.objects.filter(key=gate.key, at__gt=since)
    return tries.values("subject").distinct().count()


def _close(gate: LookupGate, now: datetime) -> bool:
    gate.locked_until = now + timedelta(seconds=settings.CHAT_LOOKUP_LOCK_SECONDS)
    gate.save(update_fields=["locked_until"])
    return True
