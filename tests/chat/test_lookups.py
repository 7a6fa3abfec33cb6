"""Numbers that lead nowhere: five are looked up, the next ones are not for a while."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from chatbot.chat.lookups import is_guess, not_found, note_failure
from chatbot.chat.models import Account, Conversation, Run, Step
from chatbot.llm.scripted_model import answer, get_order
from chatbot.workflow.models import AuditEntry
from tests.chat.conftest import World, say, until_stopped
from tools import gateway
from tools.contracts import Actor, Role, ToolCall
from tools.database import in_database

pytestmark = pytest.mark.django_db(transaction=True)


def failed(conversation: Conversation, number: int, *, seconds_ago: float) -> None:
    at = timezone.now() - timedelta(seconds=seconds_ago)
    run, _ = Run.objects.get_or_create(
        conversation=conversation, defaults={"created_at": at, "due_at": at}
    )
    Step.objects.create(
        run=run,
        conversation=conversation,
        seq=1000 + number,
        kind="observed",
        tool="get_order",
        status="not_found",
        body={},
        created_at=at,
    )


def lock(conversation: Conversation) -> object:
    return note_failure(
        account_id=conversation.account_id,
        conversation_id=conversation.pk,
        now=timezone.now(),
    )


@pytest.mark.parametrize(("failures", "locks"), [(4, False), (5, True)])
def test_the_fifth_failure_locks(
    conversation: Conversation, failures: int, locks: bool
) -> None:
    for number in range(failures):
        failed(conversation, number, seconds_ago=599 - number)
    assert (lock(conversation) is not None) is locks
    noted = AuditEntry.objects.filter(kind="lookup_lock")
    assert noted.count() == int(locks)


def test_a_failure_counts_for_ten_minutes(conversation: Conversation) -> None:
    for number in range(4):
        failed(conversation, number, seconds_ago=10)
    failed(conversation, 4, seconds_ago=601)
    assert lock(conversation) is None


def test_what_was_locked_for_does_not_count_again(conversation: Conversation) -> None:
    for number in range(5):
        failed(conversation, number, seconds_ago=300)
    Account.objects.update(lookups_locked_until=timezone.now() - timedelta(seconds=1))
    failed(conversation, 6, seconds_ago=0)
    assert lock(conversation) is None


def test_a_number_that_was_seen_is_no_guess() -> None:
    call = ToolCall("c1", "get_order", {"order_id": "O-204"})
    assert is_guess(call, frozenset())
    assert not is_guess(call, frozenset({"O204"}))
    assert not is_guess(ToolCall("c2", "list_my_orders", {}), frozenset())


async def test_a_locked_customer_reads_what_they_would_read_anyway(
    world: World, conversation: Conversation, settings: Settings
) -> None:
    """The shop is not asked, and the trace does not tell the two apart."""
    settings.CHAT_LOOKUP_FAILURES = 1
    steps, runs = [], []
    for number in ("O-998", "O-999"):
        world.plays(get_order(number), answer(f"I could not find {number}."))
        await say(conversation, f"Where is {number}?")
        runs.append(await until_stopped(conversation))
        seen = Step.objects.filter(run=runs[-1], kind="observed")
        steps.append(await in_database(seen.get))
    first, second = (step.body["observation"] for step in steps)
    same = ("tool", "status", "fields", "retryable")
    assert [first[name] for name in same] == [second[name] for name in same]
    assert runs[0].stop_reason == runs[1].stop_reason
    assert world.shop.calls == ["get_order:O998"]


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("c1", "get_order", {"order_id": "O-999"}),
        ToolCall("c1", "get_refund", {"order_id": "O-999"}),
        ToolCall("c1", "track_shipment", {"tracking_id": "N-999"}),
    ],
    ids=lambda call: call.name,
)
async def test_the_lock_speaks_as_the_gateway_does(
    transactional_db: None, call: ToolCall
) -> None:
    actor = Actor(Role.CUSTOMER, "C-LIN")
    real = await gateway.observe(call, actor=actor, observation_id="obs-1")
    made_up = not_found(call, "obs-1")
    assert made_up == replace(real, observed_at=made_up.observed_at, duration_ms=0)
