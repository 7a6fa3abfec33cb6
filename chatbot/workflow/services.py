"""Changes that people agree to, step by step: each call is one transaction.

A request moves by one conditional UPDATE (``tools.actions``). What follows from a move
(``facts``) is written in the same transaction.
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

from chatbot.workflow import switches
from chatbot.workflow.audit import record_audit
from chatbot.workflow.card import open_fields
from chatbot.workflow.facts import announce, chain_of
from chatbot.workflow.models import SwitchName
from chatbot.workflow.taint import without_taint
from tools import gateway
from tools.actions.faults import Fault, FaultyShop
from tools.contracts import ActionKind, Actor, Json, Role, ToolCall
from tools.database import in_database
from tools.models import ActionRequest

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
