"""A shop, a conversation and a request in it; the rest is the product itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from chatbot.chat import services as chat
from chatbot.chat.models import Conversation, Message, Run
from chatbot.workflow import outbox, services
from chatbot.workflow.models import Delivery
from tests.cast import Person
from tools.backends.store.models import StoreEffect
from tools.backends.store.seeding.shop import seed_the_named
from tools.contracts import Json, ToolCall
from tools.database import in_database
from tools.models import ActionRequest

CANCEL = "cancel_order"
ARGUMENTS: Mapping[str, Json] = {"order_id": "O-205", "reason": "no longer needed"}


@pytest.fixture
def shop(transactional_db: None) -> None:
    seed_the_named(now=timezone.now())


@pytest.fixture
def conversation(lin: Person, shop: None) -> Conversation:
    return chat.start_conversation(account=lin.account, now=timezone.now())


def say(conversation: Conversation, text: str) -> Run:
    """A message of the customer, with the run that is to answer it."""
    accepted = chat.accept_message(
        conversation.pk,
        account_id=conversation.account_id,
        client_id=uuid4().hex,
        text=text,
        now=timezone.now(),
    )
    return conversation.runs.get(messages__seq=accepted.seq)


def propose(
    conversation: Conversation,
    lin: Person,
    kind: str = CANCEL,
    arguments: Mapping[str, Json] = ARGUMENTS,
) -> ActionRequest:
    """What the runner does when the loop has stopped for a change."""
    said = conversation.messages.filter(speaker="customer")
    call = ToolCall("c1", kind, arguments)
    proposal = asyncio.run(
        services.work_out(
            call, actor=lin.actor, said=list(said.values_list("text", flat=True))
        )
    )
    run = conversation.runs.first()
    return services.request_approval(
        proposal,
        actor=lin.actor,
        conversation_id=conversation.pk,
        run_id=run.pk if run else uuid4(),
        now=timezone.now(),
    )


def confirm(
    request: ActionRequest, lin: Person, fields: Mapping[str, Json] | None = None
) -> ActionRequest:
    """The customer presses Confirm on the card as it was shown."""
    shown = request.arguments_hash
    request = services.request_of(
        request.pk, conversation_id=request.conversation_id or uuid4()
    )
    preview = asyncio.run(
        services.preview_again(request, actor=lin.actor, fields=fields or {})
    )
    return services.confirm(
        request,
        actor=lin.actor,
        arguments_hash=shown,
        preview=preview,
        now=timezone.now(),
    )


def sweep(times: int = 3) -> None:
    """A few looks of the sweep, each delivery to its end."""

    async def look() -> None:
        for _ in range(times):
            await outbox.sweep(owner="test")

    asyncio.run(look())


def later(seconds: float = 60) -> None:
    """Let what waits be due now, and what is held be nobody's."""
    past = timezone.now() - timedelta(seconds=seconds)
    Delivery.objects.filter(state="waiting").update(due_at=past)
    Delivery.objects.filter(state="running").update(lease_until=past)
    waiting = ActionRequest.objects.exclude(next_attempt_at=None)
    waiting.update(next_attempt_at=past)
    ActionRequest.objects.exclude(lease_until=None).update(lease_until=past)


def told(conversation: Conversation) -> list[str]:
    """What was told of changes, in order."""
    lines = conversation.messages.filter(client_id__startswith="event.")
    return [message.text for message in lines.order_by("seq")]


def cards(conversation: Conversation) -> list[str]:
    news = Message.objects.filter(
        conversation=conversation, client_id__startswith="event."
    )
    return [one.extras["card"]["state"] for one in news.order_by("seq")]


def effects() -> list[str]:
    return list(StoreEffect.objects.order_by("pk").values_list("kind", flat=True))


def fresh(request: ActionRequest) -> ActionRequest:
    return ActionRequest.objects.get(pk=request.pk)


async def in_threads(*works: Any) -> list[Any]:
    """All of these at the same time, each in a thread and a transaction of its own."""
    return await asyncio.gather(*(in_database(work) for work in works))
