"""Changes that people agree to, step by step: each call is one transaction.

A request moves by one conditional UPDATE (``tools.actions``). What follows from a move,
the event, the audit entry and the alarm, is written in the same transaction, and only
once: each of them has a key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from chatbot.workflow import outbox, switches
from chatbot.workflow.audit import record_audit
from chatbot.workflow.card import open_fields
from chatbot.workflow.models import Event, SwitchName
from chatbot.workflow.outbox import raise_alert, record_event
from chatbot.workflow.taint import without_taint
from tools import gateway
from tools.actions import policy as policies
from tools.actions.faults import Fault, FaultyShop
from tools.contracts import ActionKind, Actor, Json, Role, ToolCall
from tools.database import in_database
from tools.models import ActionPolicy, ActionRequest

# For how long an unknown outcome is still looked up by itself.
LOOK_UP_FOR = timedelta(days=2)


class NotPossible(Exception):
    """A change that can't be asked for, agreed to or decided so; ``reason`` is a code.

    ``not_found`` stands for everything that is not this person's too.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


# ---- proposed


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that a model proposed, as it may go onto a card.

    ``tainted`` names the arguments that were dropped: no word of the customer's.
    """

    kind: ActionKind
    preview: gateway.Preview
    tainted: tuple[str, ...]


async def work_out(call: ToolCall, *, actor: Actor, said: Sequence[str]) -> Proposal:
    """What a model's proposal comes to, from the shop's own code; nothing is written.

    ``said`` are this customer's own messages of the conversation. Raises a
    ``ToolError`` where the shop does not answer.
    """
    kind = ActionKind(call.name)
    arguments, tainted = without_taint(kind, call.arguments, said)
    preview = await gateway.preview(kind, arguments, actor=actor)
    return Proposal(kind, preview, tainted)


def request_approval(
    proposal: Proposal,
    *,
    actor: Actor,
    conversation_id: UUID,
    run_id: UUID,
    now: datetime,
) -> ActionRequest:
    """Make the request that the customer will confirm, in the caller's transaction.

    While the very same one is open in this conversation, that one; an open card of
    another conversation, or of other arguments, is withdrawn for it. ``NotPossible``
    where that was agreed to already, or the rules have come to forbid it.
    """
    try:
        # Whole or not at all: a card gives way only to one that is then made.
        with transaction.atomic():
            replaced = gateway.make_room(
                proposal.kind,
                proposal.preview,
                actor=actor,
                conversation_id=conversation_id,
                now=now,
            )
            if replaced is not None:
                announce(replaced, actor=f"run:{run_id}", now=now)
            request = gateway.request(
                proposal.kind,
                proposal.preview,
                actor=actor,
                conversation_id=conversation_id,
                run_id=run_id,
                now=now,
            )
    except gateway.RequestRefused as refused:
        raise NotPossible(refused.reason) from None
    if proposal.tainted:
        record_audit(
            "action.tainted_argument",
            chain=chain_of(request),
            actor=f"run:{run_id}",
            ids={"request": str(request.pk), "arguments": " ".join(proposal.tainted)},
            now=now,
        )
    announce(request, actor=f"run:{run_id}", now=now)
    return request


# ---- agreed to by the customer


def request_of(request_id: UUID, *, conversation_id: UUID) -> ActionRequest:
    """A conversation's own request; ``NotPossible`` ("not_found") for any other."""
    found = ActionRequest.objects.filter(pk=request_id, conversation_id=conversation_id)
    request = found.select_related("policy").first()
    if request is None:
        raise NotPossible("not_found")
    return request


async def preview_again(
    request: ActionRequest, *, actor: Actor, fields: Mapping[str, Json]
) -> gateway.Preview:
    """What the request would do now, with what was filled in on its card.

    ``NotPossible`` ("incomplete") for a field that the card did not open. Of a request
    that was confirmed meanwhile, by a second press or in another tab, nothing is open
    any more and nothing is filled in.
    """
    if request.state != "proposed":
        fields = {}
    if not set(fields) <= set(open_fields(request)):
        raise NotPossible("incomplete")
    arguments = {**request.arguments, **fields}
    return await gateway.preview(ActionKind(request.kind), arguments, actor=actor)


@transaction.atomic
def confirm(
    request: ActionRequest,
    *,
    actor: Actor,
    arguments_hash: str,
    preview: gateway.Preview,
    now: datetime,
) -> ActionRequest:
    """The customer agrees to exactly what the card with this hash showed.

    Once only: a request that has moved since is returned as it stands.
    """
    _refuse_while_off()
    try:
        request = gateway.confirm_request(
            request.pk,
            actor=actor,
            arguments_hash=arguments_hash,
            previewed=preview,
            now=now,
        )
    except gateway.RequestRefused as refused:
        raise NotPossible(refused.reason) from None
    amended = request.state == "proposed"
    facts = ("action.amended",) if amended else None
    announce(request, actor=f"customer:{actor.customer_id}", now=now, facts=facts)
    return request


@transaction.atomic
def withdraw(request_id: UUID, *, actor: Actor, now: datetime) -> ActionRequest:
    """The customer takes it back, or says "not now"; too late once it is executed."""
    try:
        request = gateway.withdraw_request(request_id, actor=actor, now=now)
    except gateway.RequestRefused as refused:
        raise NotPossible(refused.reason) from None
    announce(request, actor=f"customer:{actor.customer_id}", now=now)
    return request


# ---- decided by staff


@transaction.atomic
def decide(
    request_id: UUID,
    *,
    approver: User,
    role: Role,
    approve: bool,
    arguments_hash: str,
    reason: str,
    now: datetime,
) -> ActionRequest:
    """One person of the staff agrees or not, with a reason, to the arguments shown.

    Of two at once the first counts, the other gets the request as it stands.
    ``NotPossible`` where this person may not decide it.
    """
    if approve:
        _refuse_while_off()
    before = ActionRequest.objects.get(pk=request_id)
    given = before.approvals.count()
    try:
        request = gateway.decide_request(
            request_id,
            approver=approver,
            role=role,
            approve=approve,
            arguments_hash=arguments_hash,
            reason=reason,
            now=now,
        )
    except gateway.RequestRefused as refused:
        raise NotPossible(refused.reason) from None
    if request.approvals.count() > given:
        record_audit(
            "action.agreed" if approve else "action.refused_by_staff",
            chain=chain_of(request),
            actor=approver.get_username(),
            ids={"request": str(request.pk), "hash": request.arguments_hash},
            now=now,
        )
    announce(request, actor=approver.get_username(), now=now)
    return request


def _refuse_while_off() -> None:
    if switches.is_off(SwitchName.ACTIONS):
        raise NotPossible("actions_off")


# ---- executed


async def carry_out(
    request_id: UUID, *, now: datetime, fault: FaultyShop | None = None
) -> ActionRequest:
    """Take an approved request one attempt further, and say what came of it.

    While changes are turned off it stays as it is. ``fault`` puts a bad line between us
    and the shop, for measuring.
    """
    if await in_database(switches.is_off, SwitchName.ACTIONS):
        return await in_database(ActionRequest.objects.get, pk=request_id)
    tell = partial(announce, actor="workflow", now=now)
    return await gateway.perform(request_id, now=now, tell=tell, fault=fault)


def faulty_shop(fault: Fault | None) -> FaultyShop:
    """The shop behind a bad line, for ``carry_out``."""
    return gateway.faulty_shop(fault)


async def carry_out_due() -> None:
    """Go on with requests whose delivery was lost or given up; a net below it."""
    late = timezone.now() - timedelta(seconds=5)
    for request_id in await in_database(gateway.due_requests, now=late):
        await carry_out(request_id, now=timezone.now())


async def look_up_unknown() -> None:
    """Ask the shop again about the outcomes that are not known; executes nothing."""
    now = timezone.now()
    tell = partial(announce, actor="workflow", now=now)
    for request_id in await in_database(_unknown, since=now - LOOK_UP_FOR):
        await gateway.reconcile(request_id, now=now, tell=tell)


def _unknown(*, since: datetime) -> list[UUID]:
    unknown = ActionRequest.objects.filter(state="unknown", started_at__gt=since)
    return list(unknown.order_by("started_at").values_list("pk", flat=True)[:50])


async def expire_due() -> None:
    while await in_database(_expire_one, now=timezone.now()):
        pass


@transaction.atomic
def _expire_one(*, now: datetime) -> bool:
    """One request and its chain: whoever held many could wait for who waits for us."""
    expired = gateway.expire_due(now, limit=1)
    for request in expired:
        announce(request, actor="workflow", now=now)
    return bool(expired)


# ---- what is kept of a customer


def requests_of(customer_id: str) -> list[dict[str, Json]]:
    """What a customer has asked to be changed, as it stands."""
    return gateway.requests_of(customer_id)


def forget_customer(customer_id: str) -> int:
    """Empty a customer's requests, in the caller's transaction; how many those were.

    ``NotPossible`` ("still_open") while one may still come to an effect.
    """
    try:
        return gateway.forget_customer(customer_id)
    except gateway.RequestRefused as refused:
        raise NotPossible(refused.reason) from None


def forget_before(before: datetime) -> int:
    """Empty the requests that ended before; how many those were."""
    return gateway.forget_before(before)


# ---- the dead letters: nobody knows what the shop did


@transaction.atomic
def requeue_unknown(
    request_id: UUID, *, by: User, reason: str, now: datetime
) -> ActionRequest:
    """Look the outcome up again, and execute under the same key if nothing was done."""
    return _close_unknown(request_id, by=by, reason=reason, now=now, again=True)


@transaction.atomic
def resolve_unknown(
    request_id: UUID, *, by: User, reason: str, now: datetime
) -> ActionRequest:
    """Close it by hand: somebody has looked into the shop's own books."""
    return _close_unknown(request_id, by=by, reason=reason, now=now, again=False)


def _close_unknown(
    request_id: UUID, *, by: User, reason: str, now: datetime, again: bool
) -> ActionRequest:
    if not reason.strip():
        raise NotPossible("reason_required")
    move = gateway.requeue_request if again else gateway.resolve_request
    request = move(request_id, now=now)
    record_audit(
        "action.requeued" if again else "action.resolved_by_staff",
        chain=chain_of(request),
        actor=by.get_username(),
        ids={"request": str(request.pk), "reason": reason.strip()[:400]},
        now=now,
    )
    announce(request, actor=by.get_username(), now=now)
    return request


# ---- reports of the payment provider

# How long after its day a refund that nobody reported is looked at by a person.
REPORT_LATE = timedelta(days=1)


@transaction.atomic
def refund_settled(refund: str, *, settled_at: datetime, now: datetime) -> None:
    """Store that the provider has paid out a refund: one event however often told."""
    record_event(
        "refund.settled",
        key=f"refund.settled:{refund}",
        now=now,
        ids={"refund": refund, "settled_at": settled_at.isoformat()},
    )


async def settle_refund(refund: str, *, at: datetime) -> bool:
    return await gateway.settle_refund(refund, at=at)


async def look_for_overdue() -> None:
    """Raise an alert for each refund whose report was lost, once."""
    now = timezone.now()
    for refund in await gateway.overdue_refunds(before=now - REPORT_LATE):
        await in_database(
            raise_alert,
            "refund_overdue",
            key=f"refund_overdue:{refund}",
            text="The payment provider has not reported this refund: ask there",
            ids={"refund": refund},
            now=now,
        )


# ---- the rules, kept by operators


def current_policies() -> list[ActionPolicy]:
    """The rules that count for new requests, one of each kind."""
    return [policies.current_policy(kind) for kind in ActionKind]


@transaction.atomic
def change_policy(
    kind: ActionKind, *, by: User, now: datetime, **changes: object
) -> ActionPolicy:
    """Add a version of a kind's rules; what changed stands in the audit."""
    before = policies.current_policy(kind)
    after = policies.change_policy(kind, by=by, now=now, **changes)
    changed = [
        f"{name}: {getattr(before, name)} -> {getattr(after, name)}"
        for name in policies.CHANGEABLE
        if getattr(before, name) != getattr(after, name)
    ]
    record_audit(
        "policy.changed",
        chain="policy",
        actor=by.get_username(),
        ids={
            "kind": kind,
            "version": after.version,
            "changed": "; ".join(changed) or "nothing",
        },
        now=now,
    )
    return after


# ---- deliveries that were given up


@transaction.atomic
def close_delivery(
    delivery_id: int, *, by: User, reason: str, again: bool, now: datetime
) -> bool:
    """Offer a dead delivery again, or close it by hand; False if it is not dead."""
    if not reason.strip():
        raise NotPossible("reason_required")
    close = outbox.requeue if again else outbox.resolve
    closed = close(delivery_id, reason=reason.strip()[:400], now=now)
    if closed:
        record_audit(
            "delivery.requeued" if again else "delivery.resolved",
            chain="deliveries",
            actor=by.get_username(),
            ids={"delivery": delivery_id, "reason": reason.strip()[:400]},
            now=now,
        )
    return closed


# ---- what follows from a move


def chain_of(request: ActionRequest) -> str:
    """The audit chain of a request: its conversation's."""
    if request.conversation_id is None:
        return f"request:{request.pk}"
    return str(request.conversation_id)


# Facts that one request may meet more than once, each time another one.
_AGAIN = {"action.finished": "state", "action.amended": "arguments_hash"}
_FACTS: Mapping[str, Sequence[str]] = {
    "proposed": ("action.proposed",),
    "confirmed": ("action.confirmed",),
    "approved": ("action.confirmed", "action.approved"),
    "declined": ("action.declined",),
    "withdrawn": ("action.withdrawn",),
    "expired": ("action.expired",),
    "succeeded": ("action.finished",),
    "refused": ("action.finished",),
    "unknown": ("action.finished",),
    "resolved": ("action.resolved",),
}


def keys_of(request: ActionRequest) -> list[str]:
    """Keys of the events that a request in this state must have brought."""
    return [_key_of(name, request) for name in _FACTS.get(request.state, ())]


def _key_of(name: str, request: ActionRequest) -> str:
    key = f"{name}:{request.pk}"
    return f"{key}:{getattr(request, _AGAIN[name])}" if name in _AGAIN else key


@transaction.atomic
def announce(
    request: ActionRequest,
    *,
    actor: str,
    now: datetime,
    facts: Sequence[str] | None = None,
) -> None:
    """Write event and audit entry of the state that a request has reached, once each.

    An unknown outcome also raises an alert: it is a dead letter, and a person's.
    """
    for name in _FACTS.get(request.state, ()) if facts is None else facts:
        key = _key_of(name, request)
        if Event.objects.filter(key=key).exists():
            continue
        ids = {"request": str(request.pk)}
        if request.conversation_id is not None:
            ids["conversation"] = str(request.conversation_id)
        record_event(name, key=key, now=now, ids={**ids, "state": request.state})
        record_audit(
            name,
            chain=chain_of(request),
            actor=actor,
            ids={
                **ids,
                "state": request.state,
                "kind": request.kind,
                "hash": request.arguments_hash,
                "policy": request.policy_id,
            },
            now=now,
        )
    if request.state == "unknown":
        raise_alert(
            "unknown_outcome",
            key=f"request:{request.pk}:{request.attempts}",
            text=f"Nobody knows whether {request.kind} was done: look it up",
            ids={"request": str(request.pk)},
            now=now,
        )
