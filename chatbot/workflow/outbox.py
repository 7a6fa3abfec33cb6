"""Our own outbox: facts are recorded with their transaction and delivered after it.

The database holds what is due and when; a broker, where there is one, only brings the
news sooner. Delivery is at least once, so every handler is safe to run twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.module_loading import import_string

from chatbot.event_routes import EVENT_ROUTES
from chatbot.workflow.models import Alert, Delivery, DeliveryState, Event
from tools.database import in_database

logger = logging.getLogger(__name__)

# Seconds before the second to the sixth attempt; after the sixth the delivery is dead.
RETRY_WAITS = (1, 2, 4, 8, 16)
MAX_CRASHES = 3
# Renewed every second by the process that holds it; so this is how long a dead one's
# deliveries wait.
LEASE = timedelta(seconds=5)
# Handlers that wait for an outside system at the same time, per process.
MAX_AT_ONCE = 8

Handler: TypeAlias = Callable[[Event], Awaitable[None]]


class Retryable(Exception):
    """A handler's word that the same delivery may succeed later.

    Raised for time-outs, lost connections, 429 and 5xx; whatever else a handler raises
    is a bug or a refusal, and another attempt would only repeat it.
    """


class Later(Exception):
    """A handler's word that it has not ended yet and that nothing is wrong.

    It is asked again ``at`` this time, as often as it wants, and no attempt is counted.
    """

    def __init__(self, at: datetime) -> None:
        super().__init__(at)
        self.at = at


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that is ours until its lease ends or somebody raises the fence."""

    delivery_id: int
    fence: int
    handler: str
    event: Event
    attempts: int


def record_event(
    name: str, *, key: str, now: datetime, ids: Mapping[str, str | int]
) -> Event:
    """Write a fact and what has to hear of it; call it inside the fact's transaction.

    The same ``key`` twice is one event. Nothing is delivered if the transaction fails.
    """
    event, created = Event.objects.get_or_create(
        key=key, defaults={"name": name, "ids": dict(ids), "created_at": now}
    )
    if created:
        Delivery.objects.bulk_create(
            Delivery(event=event, handler=handler, due_at=now)
            for handler in EVENT_ROUTES[name]
        )
        transaction.on_commit(_tell_listeners)
    return event


_listeners: set[Callable[[], None]] = set()


def listen(listener: Callable[[], None]) -> None:
    """Have ``listener`` called, from any thread, when this process records an event."""
    _listeners.add(listener)


def stop_listening(listener: Callable[[], None]) -> None:
    _listeners.discard(listener)


def _tell_listeners() -> None:
    for listener in tuple(_listeners):
        listener()


def claim_due(*, owner: str, now: datetime, limit: int = MAX_AT_ONCE) -> list[Claim]:
    """Take what is due, and what a dead process left behind; at most ``limit``."""
    _bury_poison(now=now)
    due = Q(state=DeliveryState.WAITING, due_at__lte=now) | Q(
        state=DeliveryState.RUNNING, lease_until__lt=now
    )
    waiting = Delivery.objects.filter(due).order_by("due_at")[:limit]
    claims = (
        _claim(row, owner=owner, now=now) for row in waiting.select_related("event")
    )
    return [claim for claim in claims if claim is not None]


def _claim(row: Delivery, *, owner: str, now: datetime) -> Claim | None:
    # One UPDATE settles the race between sweeps; the fence that we read is part of it.
    taken = Delivery.objects.filter(pk=row.pk, fence=row.fence, state=row.state).update(
        state=DeliveryState.RUNNING,
        fence=F("fence") + 1,
        # As a number: PostgreSQL adds no truth value to one.
        crashes=F("crashes") + int(row.state == DeliveryState.RUNNING),
        lease_owner=owner,
        lease_until=now + LEASE,
    )
    if not taken:
        return None
    return Claim(row.pk, row.fence + 1, row.handler, row.event, row.attempts)


def _bury_poison(*, now: datetime) -> None:
    poison = Delivery.objects.filter(
        state=DeliveryState.RUNNING, lease_until__lt=now, crashes__gte=MAX_CRASHES - 1
    )
    for row in poison:
        claim = _claim(row, owner="", now=now)
        if claim is not None:
            _bury(claim, problem="the process died each time it was tried", now=now)


async def deliver(claim: Claim) -> None:
    """Run one claimed handler and record what came of it, if the claim still holds."""
    handler: Handler = import_string(claim.handler)
    try:
        await handler(claim.event)
    except Later as later:
        await in_database(_wait, claim, until=later.at)
    except Retryable as error:
        await in_database(_again_or_bury, claim, problem=str(error), now=timezone.now())
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        await in_database(_bury, claim, problem=problem, now=timezone.now())
        logger.exception("event %s: %s failed", claim.event.pk, claim.handler)
    else:
        await in_database(_done, claim, now=timezone.now())


async def sweep(*, owner: str) -> int:
    """Deliver what is due now, to its end; how many deliveries were tried."""
    claims = await in_database(claim_due, owner=owner, now=timezone.now())
    await asyncio.gather(*(deliver(claim) for claim in claims))
    return len(claims)


def renew(claims: Collection[Claim], *, now: datetime) -> None:
    """Say that this process is alive and still works on these."""
    for claim in claims:
        Delivery.objects.filter(_held(claim)).update(lease_until=now + LEASE)


def _held(claim: Claim) -> Q:
    return Q(pk=claim.delivery_id, fence=claim.fence, state=DeliveryState.RUNNING)


def _done(claim: Claim, *, now: datetime) -> None:
    Delivery.objects.filter(_held(claim)).update(
        state=DeliveryState.DONE, ended_at=now, lease_until=None, problem=""
    )


def _wait(claim: Claim, *, until: datetime) -> None:
    Delivery.objects.filter(_held(claim)).update(
        state=DeliveryState.WAITING, due_at=until, lease_until=None, problem=""
    )


def _again_or_bury(claim: Claim, *, problem: str, now: datetime) -> None:
    if claim.attempts >= len(RETRY_WAITS):
        _bury(claim, problem=problem, now=now)
        return
    Delivery.objects.filter(_held(claim)).update(
        state=DeliveryState.WAITING,
        attempts=F("attempts") + 1,
        due_at=now + timedelta(seconds=RETRY_WAITS[claim.attempts]),
        lease_until=None,
        problem=problem[:400],
    )


def _bury(claim: Claim, *, problem: str, now: datetime) -> None:
    with transaction.atomic():
        buried = Delivery.objects.filter(_held(claim)).update(
            state=DeliveryState.DEAD,
            attempts=F("attempts") + 1,
            ended_at=now,
            lease_until=None,
            problem=problem[:400],
        )
        if buried:
            raise_alert(
                "dead_letter",
                key=f"delivery:{claim.delivery_id}:{claim.fence}",
                text=f"{claim.event.name} was given up: {problem}"[:400],
                ids={"event": claim.event.pk, "delivery": claim.delivery_id},
                now=now,
            )


def raise_alert(
    kind: str, *, key: str, text: str, ids: Mapping[str, str | int], now: datetime
) -> None:
    """Write an alert, once per ``key``, in the caller's transaction."""
    Alert.objects.get_or_create(
        key=key,
        defaults={"kind": kind, "text": text, "ids": dict(ids), "created_at": now},
    )


def requeue(delivery_id: int, *, reason: str, now: datetime) -> bool:
    """Offer a dead delivery again from its first attempt; False if it is not dead."""
    return _revive(delivery_id, DeliveryState.WAITING, reason, now)


def resolve(delivery_id: int, *, reason: str, now: datetime) -> bool:
    """Close a dead delivery by hand; False if it is not dead."""
    return _revive(delivery_id, DeliveryState.RESOLVED, reason, now)


def _revive(delivery_id: int, state: DeliveryState, reason: str, now: datetime) -> bool:
    dead = Delivery.objects.filter(pk=delivery_id, state=DeliveryState.DEAD)
    return (
        dead.update(
            state=state, attempts=0, crashes=0, due_at=now, resolved_reason=reason
        )
        == 1
    )
