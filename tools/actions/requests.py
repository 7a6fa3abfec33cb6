"""A request's life up to its execution: proposed, confirmed, approved, or given up.

Each function is one transaction's worth, called inside the caller's. Every move is one
UPDATE that names the state it starts from: zero rows means that somebody else was
first, and the row as it now stands is returned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from tools.actions.models import ActionRequest, Approval
from tools.actions.policy import (
    approvals_needed,
    current_policy,
    needs_supervisor,
    refusal_of,
)
from tools.actions.states import (
    MOVES,
    OPEN,
    REPLACED,
    WITHDRAWABLE,
    RequestState,
)
from tools.authorization import Action, roles_that
from tools.backends.changes import Preview
from tools.contracts import ActionKind, Json, Role


class RequestRefused(Exception):
    """The request can't be made or decided so; ``reason`` is a code."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


def hash_of(kind: str, customer_id: str, arguments: Mapping[str, Json]) -> str:
    """SHA-256 of exactly what would be executed, for whom."""
    canonical = orjson.dumps(
        [kind, customer_id, arguments], option=orjson.OPT_SORT_KEYS
    )
    return hashlib.sha256(canonical).hexdigest()


def propose(
    kind: ActionKind,
    preview: Preview,
    *,
    customer_id: str,
    proposed_by: str,
    conversation_id: UUID | None,
    run_id: UUID | None,
    now: datetime,
) -> ActionRequest:
    """A new request with frozen arguments; or the open one of the same thing.

    Raises ``RequestRefused`` where the shop's rules or the house's limits forbid it.
    """
    open_one = _open(kind, customer_id, preview.subject)
    if open_one is not None:
        return open_one
    policy = current_policy(kind)
    amount = preview.amount.minor if preview.amount else None
    reason = preview.reason or refusal_of(
        policy, customer_id=customer_id, amount=amount, now=now
    )
    if reason or not preview.eligible:
        raise RequestRefused(reason or "not_eligible")
    try:
        with transaction.atomic():
            return ActionRequest.objects.create(
                kind=kind,
                customer_id=customer_id,
                subject=preview.subject,
                conversation_id=conversation_id,
                run_id=run_id,
                arguments=dict(preview.arguments),
                arguments_hash=hash_of(kind, customer_id, preview.arguments),
                preview=shown(preview),
                amount=amount,
                currency=preview.amount.currency if preview.amount else "",
                policy=policy,
                proposed_by=proposed_by,
                approvals_needed=approvals_needed(policy, amount),
                created_at=now,
                expires_at=now + timedelta(hours=policy.valid_hours),
            )
    except IntegrityError:
        open_one = _open(kind, customer_id, preview.subject)
        if open_one is None:
            raise
        return open_one


def make_room(
    kind: ActionKind,
    preview: Preview,
    *,
    customer_id: str,
    conversation_id: UUID | None,
    now: datetime,
) -> ActionRequest | None:
    """Take back the open card that a new proposal of the same change replaces.

    A card is confirmed where it is shown and as it is shown: one of another
    conversation, or of other arguments, can't stand for the new one. Returns the row
    that was withdrawn. Raises ``RequestRefused`` where that was agreed to already.
    """
    before = _open(kind, customer_id, preview.subject)
    if before is None:
        return None
    here = before.conversation_id == conversation_id
    if here and before.arguments_hash == hash_of(kind, customer_id, preview.arguments):
        return None
    if before.state == RequestState.PROPOSED and move(
        before, RequestState.WITHDRAWN, now=now, reason=REPLACED
    ):
        return before
    raise RequestRefused("already_open")


def _open(kind: ActionKind, customer_id: str, subject: str) -> ActionRequest | None:
    return ActionRequest.objects.filter(
        kind=kind, customer_id=customer_id, subject=subject, state__in=OPEN
    ).first()


def shown(preview: Preview) -> dict[str, Any]:
    """What a card and the approval desk show of a change."""
    return {
        "direction": preview.direction,
        "items": list(preview.items),
        "before": dict(preview.before),
        "after": dict(preview.after),
        "missing": list(preview.missing),
        "choices": {
            name: [{"value": one.value, "label": one.label} for one in choices]
            for name, choices in preview.choices.items()
        },
    }


def move(
    request: ActionRequest, to: RequestState, *, now: datetime, **changes: Any
) -> bool:
    """One legal move from the state in which ``request`` was read; False if it moved.

    Raises ``ValueError`` for a move that the table does not know: a bug.
    """
    start = RequestState(request.state)
    if to not in MOVES[start]:
        raise ValueError(f"no move from {start} to {to}")
    if to in _ENDED:
        changes.setdefault("ended_at", now)
    waiting = ActionRequest.objects.filter(
        pk=request.pk, state=start, fence=request.fence
    )
    moved = waiting.update(state=to, **changes) == 1
    request.refresh_from_db()
    return moved


_ENDED = frozenset(state for state, moves in MOVES.items() if not moves)


def confirm(
    request: ActionRequest,
    *,
    customer_id: str,
    arguments_hash: str,
    preview: Preview,
    now: datetime,
) -> ActionRequest:
    """The customer agrees to exactly what the card showed.

    Where what they filled in moves money that the card did not show, or the order has
    changed since, they are shown it first: the request stays proposed, under another
    hash.

    ``preview`` is a fresh one, with what the customer filled in on the card. Where
    nobody else need agree, the request is approved by policy at once.
    """
    if request.customer_id != customer_id:
        raise RequestRefused("not_found")
    if request.state != RequestState.PROPOSED:
        return request
    if request.expires_at <= now:
        return expire(request, now=now)
    if arguments_hash != request.arguments_hash:
        raise RequestRefused("changed_since_shown")
    if not preview.eligible:
        raise RequestRefused(preview.reason)
    if preview.missing:
        raise RequestRefused("incomplete")
    amount = preview.amount.minor if preview.amount else None
    if not _is_as_shown(request, preview):
        return amend(request, preview=preview, now=now)
    needed = approvals_needed(request.policy, amount)
    confirmed = move(
        request,
        RequestState.CONFIRMED,
        now=now,
        confirmed_at=now,
        arguments=dict(preview.arguments),
        arguments_hash=hash_of(request.kind, customer_id, preview.arguments),
        preview=shown(preview),
        amount=amount,
        approvals_needed=needed,
    )
    if confirmed and not needed:
        move(request, RequestState.APPROVED, now=now, approved_at=now)
    return request


def _is_as_shown(request: ActionRequest, preview: Preview) -> bool:
    shown_terms, terms = request.terms, preview.terms
    if request.preview.get("missing"):
        # What was filled in on the card is told there; of the rest only money counts.
        return (shown_terms.direction, shown_terms.amount) == (
            terms.direction,
            terms.amount,
        )
    return shown_terms == terms


def amend(request: ActionRequest, *, preview: Preview, now: datetime) -> ActionRequest:
    """What was filled in on the card has changed its effect: it is shown anew.

    Nobody has agreed to anything by that: the hash is another one.
    """
    arguments = dict(preview.arguments)
    move(
        request,
        RequestState.PROPOSED,
        now=now,
        arguments=arguments,
        arguments_hash=hash_of(request.kind, request.customer_id, arguments),
        preview=shown(preview),
        amount=preview.amount.minor if preview.amount else None,
        currency=preview.amount.currency if preview.amount else "",
    )
    return request


def decide(
    request: ActionRequest,
    *,
    approver: User,
    role: Role,
    approve: bool,
    arguments_hash: str,
    reason: str,
    now: datetime,
) -> ActionRequest:
    """One person of the staff agrees or not, to exactly the arguments that were shown.

    Of two decisions at once the first counts; the other gets the row as it stands.
    """
    if not reason.strip():
        raise RequestRefused("reason_required")
    if request.state != RequestState.CONFIRMED:
        return request
    if request.expires_at <= now:
        return expire(request, now=now)
    if problem := _may_not_decide(request, approver, role, arguments_hash):
        raise RequestRefused(problem)
    # The row is locked first: two approvers must count each other's approval.
    request = ActionRequest.objects.select_for_update().get(pk=request.pk)
    if request.state != RequestState.CONFIRMED:
        return request
    Approval.objects.create(
        request=request,
        approver=approver,
        approved=approve,
        reason=reason.strip()[:400],
        arguments_hash=arguments_hash,
        at=now,
    )
    if not approve:
        move(request, RequestState.DECLINED, now=now, reason="declined")
    elif request.approvals.filter(approved=True).count() >= request.approvals_needed:
        move(request, RequestState.APPROVED, now=now, approved_at=now)
    return request


def _may_not_decide(
    request: ActionRequest, approver: User, role: Role, arguments_hash: str
) -> str:
    if role not in roles_that(Action.APPROVE_CHANGE):
        return "not_allowed"
    over_limit = needs_supervisor(request.policy, request.amount)
    if over_limit and role not in roles_that(Action.APPROVE_LARGE_CHANGE):
        return "supervisor_needed"
    if request.proposed_by == f"staff:{approver.pk}":
        return "own_request"
    if arguments_hash != request.arguments_hash:
        return "changed_since_shown"
    if request.approvals.filter(approver=approver).exists():
        return "already_decided"
    return ""


def withdraw(
    request: ActionRequest, *, customer_id: str, now: datetime
) -> ActionRequest:
    """The customer takes it back, as long as nothing was sent anywhere."""
    if request.customer_id != customer_id:
        raise RequestRefused("not_found")
    if request.state in WITHDRAWABLE:
        move(request, RequestState.WITHDRAWN, now=now, reason="withdrawn")
    return request


def expire(request: ActionRequest, *, now: datetime) -> ActionRequest:
    if request.state in WITHDRAWABLE:
        move(request, RequestState.EXPIRED, now=now, reason="expired")
    return request


def expire_due(*, now: datetime, limit: int) -> list[ActionRequest]:
    """Let open requests end whose time is over; those that it ended."""
    over = ActionRequest.objects.filter(
        state__in=sorted(WITHDRAWABLE), expires_at__lte=now
    ).select_related("policy")
    # In one order: two processes that do this at once must not wait for each other.
    over = over.order_by("pk")
    ended = [expire(request, now=now) for request in over[:limit]]
    return [request for request in ended if request.state == RequestState.EXPIRED]
