"""Executing an approved request: once, under one key, and honest about the unknown.

The shop is asked under the request's id. The same key goes with every attempt, and an
attempt whose outcome is not known is looked up before the next one. Attempts wait 1, 2,
4, 8 and 16 seconds; then the request stays ``unknown`` for a person, never ``failed``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.db.models import F, Q
from django.utils import timezone

from tools.actions.models import ActionRequest
from tools.actions.requests import hash_of, move
from tools.actions.states import RequestState
from tools.backends.changes import ChangeResult, ChangingBackend
from tools.contracts import ActionKind
from tools.database import in_database
from tools.errors import ToolError, ToolTimeout

logger = logging.getLogger(__name__)

# Hears of a request that has moved, or that was found ended already.
Tell: TypeAlias = Callable[[ActionRequest], None]

RETRY_WAITS = (1, 2, 4, 8, 16)
MAX_CRASHES = 3
# Renewed while the shop is asked; so this is how long a dead process's request waits.
LEASE = timedelta(seconds=5)
RENEW_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class Turn:
    """A request that is ours to execute until the lease ends or the fence rises."""

    request: ActionRequest
    # Something may have been sent before: ask the shop what it knows first.
    look_first: bool


def nobody(request: ActionRequest) -> None:
    """Tells nobody."""


async def perform(
    request_id: UUID, *, shop: ChangingBackend, now: datetime, tell: Tell = nobody
) -> ActionRequest:
    """Take the request one attempt further; its row afterwards.

    Safe to call any number of times and from any number of processes: only one holds
    the lease. A request that is not due, not approved or already ended is returned
    untouched. ``tell`` hears of a move in the transaction that makes it.
    """
    turn = await in_database(_claim_and_tell, request_id, tell=tell, now=now)
    if not isinstance(turn, Turn):
        return turn

    async def settle(
        move_on: Callable[..., ActionRequest], *args: object
    ) -> ActionRequest:
        return await in_database(_and_tell, tell, partial(move_on, *args, now=now))

    request = turn.request
    try:
        async with _held(request):
            result = await _asked(turn, shop)
        if result is None:
            return await settle(_leave_unknown, request)
    except TimeoutError:
        late = ToolTimeout("the shop did not answer in time")
        return await settle(_wait_or_leave, request, late)
    except ToolError as error:
        return await settle(_wait_or_leave, request, error)
    return await settle(_record, request, result)


@transaction.atomic
def _and_tell(tell: Tell, move_on: Callable[[], ActionRequest]) -> ActionRequest:
    request = move_on()
    tell(request)
    return request


@transaction.atomic
def _claim_and_tell(
    request_id: UUID, *, tell: Tell, now: datetime
) -> Turn | ActionRequest:
    """Claim the request; where that is not to be, say how it stands."""
    claimed = _claim(request_id, now=now)
    if not isinstance(claimed, Turn):
        tell(claimed)
    return claimed


async def _asked(turn: Turn, shop: ChangingBackend) -> ChangeResult | None:
    """What the shop knows of the request, or does now; None where it may not be tried.

    Each question has the tools' own time; ``TimeoutError`` where that is over.
    """
    request = turn.request
    if turn.look_first:
        async with asyncio.timeout(settings.TOOL_TIMEOUT_SECONDS):
            known = await shop.lookup(str(request.pk))
        if known is not None or request.crashes >= MAX_CRASHES:
            return known
    async with asyncio.timeout(settings.TOOL_TIMEOUT_SECONDS):
        return await shop.execute(
            request.customer_id,
            ActionKind(request.kind),
            request.arguments,
            key=str(request.pk),
            agreed=request.terms,
        )


@asynccontextmanager
async def _held(request: ActionRequest) -> AsyncIterator[None]:
    """Keep the lease as long as this process lives and the shop is being asked."""
    keeper = asyncio.create_task(_keep(request.pk, request.fence))
    try:
        yield
    finally:
        keeper.cancel()
        await asyncio.wait([keeper])


async def _keep(request_id: UUID, fence: int) -> None:
    while True:
        await asyncio.sleep(RENEW_EVERY)
        try:
            await in_database(_renew, request_id, fence)
        except DatabaseError:
            # Whoever takes it up meanwhile looks before it asks, under the same key.
            logger.warning("the lease of request %s was not renewed", request_id)


def _renew(request_id: UUID, fence: int) -> None:
    held = ActionRequest.objects.filter(
        pk=request_id, fence=fence, state=RequestState.EXECUTING
    )
    held.update(lease_until=timezone.now() + LEASE)


def _claim(request_id: UUID, *, now: datetime) -> Turn | ActionRequest:
    request = ActionRequest.objects.select_related("policy").get(pk=request_id)
    if request.state == RequestState.APPROVED:
        if reason := stale(request, now=now):
            move(request, RequestState.REFUSED, now=now, reason=reason)
            return request
    elif not _is_due(request, now):
        return request
    crashed = request.state == RequestState.EXECUTING
    look_first = request.state != RequestState.APPROVED
    # One UPDATE settles who executes: the fence that was read is part of it.
    taken = ActionRequest.objects.filter(
        pk=request.pk, state=request.state, fence=request.fence
    ).update(
        state=RequestState.EXECUTING,
        fence=F("fence") + 1,
        attempts=F("attempts") + (0 if crashed else 1),
        crashes=F("crashes") + (1 if crashed else 0),
        lease_until=now + LEASE,
        started_at=request.started_at or now,
        next_attempt_at=None,
    )
    request.refresh_from_db()
    return Turn(request, look_first) if taken else request


def _is_due(request: ActionRequest, now: datetime) -> bool:
    match request.state:
        case RequestState.RETRY_WAIT:
            return request.next_attempt_at is None or request.next_attempt_at <= now
        case RequestState.EXECUTING:
            return request.lease_until is None or request.lease_until < now
        case _:
            return False


def due_requests(*, now: datetime, limit: int = 50) -> list[UUID]:
    """Requests that wait for an attempt, or whose process died in one."""
    due = (
        Q(state=RequestState.APPROVED)
        | Q(state=RequestState.RETRY_WAIT, next_attempt_at__lte=now)
        | Q(state=RequestState.EXECUTING, lease_until__lt=now)
    )
    found = ActionRequest.objects.filter(due).order_by("created_at")
    return list(found.values_list("pk", flat=True)[:limit])


def stale(request: ActionRequest, *, now: datetime) -> str:
    """Why an approval no longer counts at the moment of execution, or ""."""
    if request.expires_at <= now:
        return "expired"
    if hash_of(request.kind, request.customer_id, request.arguments) != (
        request.arguments_hash
    ):
        return "arguments_changed"
    given = list(request.approvals.filter(approved=True).select_related("approver"))
    valid = [
        one
        for one in given
        if one.arguments_hash == request.arguments_hash and _may_still(one.approver)
    ]
    if len(valid) < request.approvals_needed:
        return "approval_no_longer_valid"
    newest = type(request.policy).objects.filter(kind=request.kind)
    latest = newest.order_by("-version").first()
    if latest is not None and not latest.enabled:
        return "not_offered"
    return ""


def _may_still(approver: User) -> bool:
    return approver.is_active and approver.is_staff


def _record(
    request: ActionRequest, result: ChangeResult, *, now: datetime
) -> ActionRequest:
    to = RequestState.SUCCEEDED if result.succeeded else RequestState.REFUSED
    move(
        request,
        to,
        now=now,
        reason=result.reason,
        outcome={**result.details, "repeated": result.repeated},
        lease_until=None,
    )
    return request


def _wait_or_leave(
    request: ActionRequest, error: ToolError, *, now: datetime
) -> ActionRequest:
    tried = request.attempts
    if not error.retryable or tried > len(RETRY_WAITS):
        return _leave_unknown(request, now=now)
    move(
        request,
        RequestState.RETRY_WAIT,
        now=now,
        next_attempt_at=now + timedelta(seconds=RETRY_WAITS[tried - 1]),
        lease_until=None,
        reason=type(error).__name__,
    )
    return request


def _leave_unknown(request: ActionRequest, *, now: datetime) -> ActionRequest:
    move(request, RequestState.UNKNOWN, now=now, lease_until=None, reason="not_settled")
    return request


async def reconcile(
    request_id: UUID, *, shop: ChangingBackend, now: datetime, tell: Tell = nobody
) -> ActionRequest:
    """Ask the shop what became of an unknown request; where that fails it stays so.

    Nothing is executed here.
    """
    request = await in_database(ActionRequest.objects.get, pk=request_id)
    if request.state != RequestState.UNKNOWN:
        return request
    try:
        async with asyncio.timeout(settings.TOOL_TIMEOUT_SECONDS):
            result = await shop.lookup(str(request.pk))
    except (ToolError, TimeoutError):
        return request
    if result is None:
        return request
    record = partial(_record, request, result, now=now)
    return await in_database(_and_tell, tell, record)


def requeue(request: ActionRequest, *, now: datetime) -> ActionRequest:
    """Offer an unknown request again from its first attempt, which looks it up.

    The key stays: what the shop has done under it is not done again.
    """
    if request.state == RequestState.UNKNOWN:
        move(
            request,
            RequestState.EXECUTING,
            now=now,
            attempts=1,
            crashes=0,
            # As if the process had died: whoever sweeps next takes it up.
            lease_until=now,
            reason="",
        )
    return request


def resolve(request: ActionRequest, *, now: datetime) -> ActionRequest:
    """Close an unknown request by hand: somebody looked into the shop's own books."""
    if request.state == RequestState.UNKNOWN:
        move(request, RequestState.RESOLVED, now=now, reason="resolved_by_staff")
    return request
