"""Cards: where a customer sees exactly what would be changed, and agrees or does not.

A card hangs on the answer of the run that proposed the change; each later state of it
comes as a message of its own (``news.py``). What is asked for over the socket is
translated for the workflow here, which alone decides.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from chatbot.chat.leases import Claim
from chatbot.chat.models import Conversation, Message, Run, Speaker, Step
from chatbot.chat.problems import Forbidden, Problem
from chatbot.chat.rebuild import actor_of, language_of
from chatbot.react.change_words import name_words, reason_words
from chatbot.react.endings import ENDINGS
from chatbot.react.types import StopReason
from chatbot.understanding.needs import Language
from chatbot.workflow import services as workflow
from chatbot.workflow.card import card_of
from chatbot.workflow.services import NotPossible, Proposal
from tools.contracts import Actor, Json, ToolCall
from tools.database import in_database
from tools.errors import ToolError

# A frame's service call, made as the visitor who is still signed in.
Ask = Callable[..., Awaitable[Any]]

_REFUSED: Mapping[Language, str] = {
    "en": "Nothing was changed. I could not prepare {name}: {why}.",
    "zh": "没有做任何改动。暂时无法办理（{name}）：{why}。",
}

# ---- the card of a run that stopped for it


async def work_out(
    call: ToolCall, *, actor: Actor, conversation_id: UUID
) -> Proposal | NotPossible:
    """What goes onto the card, before the end of its run is written."""
    said = await in_database(_said, conversation_id)
    try:
        proposal = await workflow.work_out(call, actor=actor, said=said)
    except ToolError:
        return NotPossible("no_reply")
    if not proposal.preview.eligible:
        return NotPossible(proposal.preview.reason)
    return proposal


def _said(conversation_id: UUID) -> list[str]:
    own = Message.objects.filter(
        conversation_id=conversation_id, speaker=Speaker.CUSTOMER
    )
    return list(own.values_list("text", flat=True))


def attach_card(
    claim: Claim,
    call: ToolCall,
    found: Proposal | NotPossible,
    *,
    actor: Actor,
    answer: Message,
    step: Step,
    now: datetime,
) -> None:
    """Make the request and put its card on the answer, in the end's transaction.

    Where the rules have come to forbid it, the run did not stop for an approval: it
    says why instead.
    """
    try:
        if isinstance(found, NotPossible):
            raise found
        request = workflow.request_approval(
            found,
            actor=actor,
            conversation_id=claim.conversation_id,
            run_id=claim.run_id,
            now=now,
        )
    except NotPossible as refusal:
        _tell_refusal(claim, call, refusal, actor, answer, step)
        return
    answer.extras = {**answer.extras, "card": card_of(request)}
    answer.save(update_fields=["extras"])


def _tell_refusal(
    claim: Claim,
    call: ToolCall,
    refusal: NotPossible,
    actor: Actor,
    answer: Message,
    step: Step,
) -> None:
    reason = StopReason.REFUSED_ACTION
    ending = ENDINGS[reason]
    order = str(call.arguments.get("order_id", ""))
    answer.text = _REFUSED[actor.language].format(
        name=name_words(call.name, order, actor.language),
        why=reason_words(refusal.reason, actor.language),
    )
    told = {
        "reason": reason,
        "hand_over": ending.hand_over,
        "can_retry": ending.can_retry,
    }
    answer.extras = {**answer.extras, **told}
    answer.save(update_fields=["text", "extras"])
    step.body = {**step.body, **told, "answer": answer.text, "request": None}
    # Steps are written many at a time, and so without their ids: the log names them.
    Step.objects.filter(conversation=claim.conversation_id, seq=step.seq).update(
        body=step.body
    )
    Run.objects.filter(pk=claim.run_id).update(
        stop_reason=reason, hand_over=ending.hand_over
    )


# ---- what the page asks for


async def confirm_card(
    ask: Ask,
    request_id: UUID,
    *,
    conversation_id: UUID,
    account_id: int,
    arguments_hash: str,
    fields: Mapping[str, Json],
    now: datetime,
) -> None:
    """The customer pressed Confirm; ``Problem`` where that can't be.

    The shop is asked between two transactions, never in one.
    """
    here = {"conversation_id": conversation_id, "account_id": account_id}
    request, actor = await ask(_own_card, request_id, **here)
    try:
        preview = await workflow.preview_again(request, actor=actor, fields=fields)
    except NotPossible as refusal:
        raise _problem(refusal, request_id) from None
    except ToolError:
        raise Problem("card_no_reply", request=request_id) from None
    await ask(
        _confirm,
        request,
        actor=actor,
        arguments_hash=arguments_hash,
        preview=preview,
        now=now,
    )


def withdraw_card(
    request_id: UUID, *, conversation_id: UUID, account_id: int, now: datetime
) -> None:
    """The customer pressed Not now, or takes a request back that still waits."""
    _, actor = _own_card(
        request_id, conversation_id=conversation_id, account_id=account_id
    )
    try:
        workflow.withdraw(request_id, actor=actor, now=now)
    except NotPossible as refusal:
        raise _problem(refusal, request_id) from None


def _own_card(request_id: UUID, *, conversation_id: UUID, account_id: int) -> Any:
    """The request of a card of this conversation, and for whom it would be made."""
    own = Conversation.objects.select_related("account")
    conversation = own.filter(pk=conversation_id, account_id=account_id).first()
    if conversation is None:
        raise Forbidden
    try:
        request = workflow.request_of(request_id, conversation_id=conversation_id)
    except NotPossible as refusal:
        raise _problem(refusal, request_id) from None
    return request, actor_of(conversation.account)


def _confirm(request: Any, **agreed: Any) -> None:
    try:
        workflow.confirm(request, **agreed)
    except NotPossible as refusal:
        raise _problem(refusal, request.pk) from None


def _problem(refusal: NotPossible, request_id: UUID) -> Problem:
    codes = {
        "not_found": "no_such_card",
        "incomplete": "card_incomplete",
        "changed_since_shown": "card_changed",
    }
    code = codes.get(refusal.reason, "card_refused")
    return Problem(code, request=request_id, reason=refusal.reason)


def language_for(conversation: Conversation, run_id: UUID | None) -> Language:
    """The language in which a change was asked for, else the customer's."""
    run = Run.objects.filter(pk=run_id).first() if run_id else None
    if run is None:
        return language_of(conversation.account)
    return "zh" if run.language == "zh" else "en"


def language_of_talk(conversation: Conversation) -> Language:
    """That of the last question that a run has begun with, else the customer's."""
    # A run knows its question's language once it has begun.
    begun = conversation.runs.exclude(started_at=None).order_by("-started_at")
    return language_for(conversation, begun.values_list("pk", flat=True).first())
