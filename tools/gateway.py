"""THE ONE DOOR to every tool: who may pass, how long it may take, what comes back.

Reads go through ``observe()``. Changes go through a request: ``preview()`` says what
one would do, ``request()`` freezes it, people agree, ``perform()`` makes it, once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.contrib.auth.models import User
from pydantic import ValidationError

from tools.actions import forgetting, performing, requests
from tools.actions.faults import Fault, FaultyShop
from tools.actions.models import ActionRequest
from tools.actions.requests import RequestRefused
from tools.backends import changing_backend, contact_book, refund_ledger
from tools.backends.changes import Preview
from tools.catalog import CATALOG
from tools.catalog.tool import Raw, Tool
from tools.contracts import (
    ActionKind,
    Actor,
    Json,
    Observation,
    ObservationStatus,
    RetryClass,
    Role,
    ToolCall,
    ToolSpec,
    argument_problem,
)
from tools.errors import (
    BadArguments,
    BadResult,
    NotFound,
    ToolDenied,
    ToolError,
    ToolTimeout,
)
from tools.permissions import allowed, visible
from tools.timeouts import run_tool_with_timeout

__all__ = [
    "Preview",
    "RequestRefused",
    "can_prove_orders",
    "confirm_request",
    "decide_request",
    "due_requests",
    "email_of_order",
    "expire_due",
    "forget_before",
    "forget_customer",
    "make_room",
    "observe",
    "overdue_refunds",
    "perform",
    "preview",
    "reconcile",
    "request",
    "requests_of",
    "requeue_request",
    "resolve_request",
    "settle_refund",
    "visible_tools",
    "withdraw_request",
]

logger = logging.getLogger(__name__)

# Seconds before a read that failed is tried once more.
RETRY_PAUSE = 0.2


def visible_tools(actor: Actor) -> tuple[ToolSpec, ...]:
    """What a model that works for this actor may be shown."""
    return tuple(tool.spec for tool in CATALOG.values() if visible(tool.spec, actor))


async def observe(call: ToolCall, *, actor: Actor, observation_id: str) -> Observation:
    """Make a read and say what came of it; raises nothing that a tool may expect.

    "Not yours" and "no such" are the same observation after the same query. A failure
    that may pass is tried once more within the tool's time. What the tool did not
    declare is dropped.
    """
    began = perf_counter()
    attempts = 0
    fields: Mapping[str, Json] = {}
    status, message, retryable = ObservationStatus.OK, "", False
    tool = CATALOG.get(call.name)
    try:
        if tool is None:
            raise ToolDenied("no such tool")
        _admit(tool, call, actor)
        deadline = began + min(tool.spec.timeout, settings.TOOL_TIMEOUT_SECONDS)
        while True:
            attempts += 1
            try:
                fields = await _read(tool, call, actor, deadline)
                break
            except ToolError as error:
                if not _once_more(error, tool, attempts, deadline):
                    raise
                await asyncio.sleep(RETRY_PAUSE)
    except ToolError as error:
        status, message, retryable = error.status, str(error), error.retryable
        if status is not ObservationStatus.NOT_FOUND:
            logger.warning("tool %s: %s after %s tries", call.name, status, attempts)
    return Observation(
        id=observation_id,
        call_id=call.id,
        tool=call.name,
        arguments=call.arguments,
        status=status,
        fields=fields,
        observed_at=datetime.now(UTC),
        source=tool.source_of(fields) if tool else "gateway",
        message=message,
        retryable=retryable,
        duration_ms=round((perf_counter() - began) * 1000),
        attempts=attempts,
    )


def _admit(tool: Tool, call: ToolCall, actor: Actor) -> None:
    if problem := argument_problem(tool.spec, call.arguments):
        raise BadArguments(problem)
    if not allowed(tool.spec, call.arguments, actor):
        raise ToolDenied("not allowed for this actor")


async def _read(
    tool: Tool, call: ToolCall, actor: Actor, deadline: float
) -> Mapping[str, Json]:
    raw = await run_tool_with_timeout(
        deadline - perf_counter(), tool.run, actor, call.arguments
    )
    return validated_observation(tool, raw, actor)


def _once_more(error: ToolError, tool: Tool, attempts: int, deadline: float) -> bool:
    return (
        error.retryable
        and tool.spec.retry is RetryClass.ONCE
        and attempts == 1
        and perf_counter() + RETRY_PAUSE < deadline
    )


def validated_observation(tool: Tool, raw: Raw, actor: Actor) -> Mapping[str, Json]:
    """The declared fields of a result, each of its declared kind, in a bounded size.

    Raises ``BadResult`` where a declared field is missing or of another kind: a status
    that is none of the known ones is no status.
    """
    try:
        result = tool.shape_for(actor).model_validate(raw)
    except ValidationError as error:
        # Declared names alone: a value, or a key inside it, may be anybody's text.
        places = {str(one["loc"][0]) for one in error.errors() if one["loc"]}
        raise BadResult(f"not as declared: {', '.join(sorted(places))}") from error
    return _shortened(
        result.model_dump(mode="json"),
        rows=settings.TOOL_LIST_ROWS,
        size=settings.REACT_MAX_OBSERVATION_BYTES,
    )


def _shortened(fields: dict[str, Any], *, rows: int, size: int) -> dict[str, Any]:
    """At most ``rows`` in each list and ``size`` bytes of JSON.

    Whole rows go, off the end of the longest list; ``total_*`` still counts them.
    """
    lists = [value for value in fields.values() if isinstance(value, list)]
    for one in lists:
        del one[rows:]
    while len(orjson.dumps(fields)) > size:
        longest = max(lists, key=lambda one: len(orjson.dumps(one)), default=[])
        if not longest:
            raise BadResult("the result is too large")
        del longest[-1]
    return fields


# ---- proof of an order


def can_prove_orders() -> bool:
    """Whether this shop tells how an order's buyer is reached."""
    return contact_book() is not None


async def email_of_order(order_id: str, contact: str) -> str | None:
    """Where to mail a code that proves an order: see ``ContactBook.email_of``.

    For the code that mails alone. Raises a ``ToolError`` where the shop does not reply.
    """
    book = contact_book()
    if book is None:
        return None
    try:
        async with asyncio.timeout(settings.TOOL_TIMEOUT_SECONDS):
            return await book.email_of(order_id, contact)
    except TimeoutError as error:
        raise ToolTimeout("no contact in time") from error


# ---- changes


async def preview(
    kind: ActionKind, arguments: Mapping[str, Json], *, actor: Actor
) -> Preview:
    """What a change would do for this actor now, worked out by the shop's own code.

    Raises a ``ToolError`` where the shop does not answer.
    """
    if actor.role is not Role.CUSTOMER or not actor.customer_id:
        return Preview(eligible=False, reason="not_allowed")
    try:
        async with asyncio.timeout(settings.TOOL_TIMEOUT_SECONDS):
            return await changing_backend().preview(actor.customer_id, kind, arguments)
    except TimeoutError as error:
        raise ToolTimeout("no preview in time") from error


def request(
    kind: ActionKind,
    previewed: Preview,
    *,
    actor: Actor,
    conversation_id: UUID | None,
    run_id: UUID | None,
    now: datetime,
) -> ActionRequest:
    """Freeze what was previewed into a request, in the caller's transaction.

    Nothing is done, and nothing will be until it is confirmed and approved. Raises
    ``RequestRefused`` where the rules forbid it.
    """
    return requests.propose(
        kind,
        previewed,
        customer_id=actor.customer_id or "",
        proposed_by=f"model:{run_id}" if run_id else f"customer:{actor.customer_id}",
        conversation_id=conversation_id,
        run_id=run_id,
        now=now,
    )


def make_room(
    kind: ActionKind,
    previewed: Preview,
    *,
    actor: Actor,
    conversation_id: UUID | None,
    now: datetime,
) -> ActionRequest | None:
    """Withdraw the open card that this preview's replaces; ``requests.make_room``."""
    return requests.make_room(
        kind,
        previewed,
        customer_id=actor.customer_id or "",
        conversation_id=conversation_id,
        now=now,
    )


def confirm_request(
    request_id: UUID,
    *,
    actor: Actor,
    arguments_hash: str,
    previewed: Preview,
    now: datetime,
) -> ActionRequest:
    """The customer's own agreement to what the card with this hash showed.

    ``previewed`` is fresh, with what was filled in. Raises ``RequestRefused``.
    """
    return requests.confirm(
        _found(request_id),
        customer_id=actor.customer_id or "",
        arguments_hash=arguments_hash,
        preview=previewed,
        now=now,
    )


def decide_request(
    request_id: UUID,
    *,
    approver: User,
    role: Role,
    approve: bool,
    arguments_hash: str,
    reason: str,
    now: datetime,
) -> ActionRequest:
    """The agreement or refusal of one person of the staff; see ``requests.decide``."""
    return requests.decide(
        _found(request_id),
        approver=approver,
        role=role,
        approve=approve,
        arguments_hash=arguments_hash,
        reason=reason,
        now=now,
    )


def withdraw_request(request_id: UUID, *, actor: Actor, now: datetime) -> ActionRequest:
    """The customer takes it back; ``RequestRefused`` where it is not theirs."""
    return requests.withdraw(
        _found(request_id), customer_id=actor.customer_id or "", now=now
    )


def expire_due(now: datetime, *, limit: int = 50) -> Sequence[ActionRequest]:
    """Let requests end that nobody agreed to in time; those that it ended."""
    return requests.expire_due(now=now, limit=limit)


def requests_of(customer_id: str) -> list[dict[str, Json]]:
    """What a customer has asked to be changed, as it stands."""
    return forgetting.requests_of(customer_id)


def forget_customer(customer_id: str) -> int:
    """Empty a customer's requests; ``RequestRefused`` while one is still open."""
    return forgetting.forget_customer(customer_id)


def forget_before(before: datetime) -> int:
    """Empty the requests that ended before."""
    return forgetting.forget_before(before)


def due_requests(now: datetime) -> list[UUID]:
    """Approved requests that wait for an attempt, or whose process died in one."""
    return performing.due_requests(now=now)


def requeue_request(request_id: UUID, *, now: datetime) -> ActionRequest:
    """Let an unknown request be looked up, and tried again if nothing was done."""
    return performing.requeue(_found(request_id), now=now)


def resolve_request(request_id: UUID, *, now: datetime) -> ActionRequest:
    """Close an unknown request by hand."""
    return performing.resolve(_found(request_id), now=now)


def _found(request_id: UUID) -> ActionRequest:
    found = ActionRequest.objects.select_related("policy").filter(pk=request_id).first()
    if found is None:
        raise RequestRefused("not_found")
    return found


async def perform(
    request_id: UUID,
    *,
    now: datetime,
    tell: performing.Tell = performing.nobody,
    fault: FaultyShop | None = None,
) -> ActionRequest:
    """Execute an approved request, one attempt further; see ``tools.actions``.

    ``tell`` hears of each move in its transaction. ``fault`` puts a bad line in
    between, for measuring.
    """
    return await performing.perform(
        request_id, shop=fault or changing_backend(), now=now, tell=tell
    )


def faulty_shop(fault: Fault | None) -> FaultyShop:
    return FaultyShop(changing_backend(), fault)


async def reconcile(
    request_id: UUID, *, now: datetime, tell: performing.Tell = performing.nobody
) -> ActionRequest:
    """Ask the shop what became of a request whose outcome is not known."""
    return await performing.reconcile(
        request_id, shop=changing_backend(), now=now, tell=tell
    )


async def settle_refund(number: str, *, at: datetime) -> bool:
    """Note that a refund was paid out, once; False where it was noted before.

    Raises ``NotFound`` for a refund that the shop does not know (yet).
    """
    ledger = refund_ledger()
    if ledger is None:
        raise NotFound("this shop settles its refunds itself")
    return await ledger.settle_refund(number, at=at)


async def overdue_refunds(*, before: datetime) -> Sequence[str]:
    """Refunds whose payment nobody has reported although it was expected before."""
    ledger = refund_ledger()
    return await ledger.overdue_refunds(before=before) if ledger else ()
