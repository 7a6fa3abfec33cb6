"""Numbers that lead nowhere: five are looked up, the next ones are not for a while."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from chatbot.accounts import tries
from chatbot.accounts.models import LookupTry
from chatbot.chat import services
from chatbot.chat.gate import admit
from chatbot.chat.guests import address_key
from chatbot.chat.lookups import is_guess, not_found, note_failure
from chatbot.chat.models import Account, Conversation, Message, Run, Step
from chatbot.chat.rebuild import new_run, rebuild_run
from chatbot.llm.scripted_model import answer, get_order
from chatbot.workflow.models import AuditEntry
from tests.cast import Person
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


def lock(conversation: Conversation, number: str = "O999") -> datetime | None:
    return note_failure(
        [number],
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


# ---- the same for an address, whoever comes from it


@pytest.fixture
def customers(conversation: Conversation) -> list[Conversation]:
    """Seven customers of one address, each in a conversation of their own."""
    now = timezone.now()
    made = [conversation]
    for number in range(6):
        user = User.objects.create_user(f"customer-{number}")
        account = Account.objects.create(user=user, customer_id=f"C-{number}")
        made.append(services.start_conversation(account=account, now=now))
    Account.objects.update(address=address_key("10.0.0.1"))
    return made


def locked(conversation: Conversation) -> datetime | None:
    """What a run that begins now is told."""
    run = new_run(conversation.pk, now=timezone.now())
    Message.objects.create(
        conversation=conversation,
        run=run,
        seq=1,
        speaker="customer",
        text="Where is O-1?",
        client_id="one",
        created_at=timezone.now(),
    )
    basis = rebuild_run(run.pk)
    assert basis is not None
    return basis.lookups_locked_until


@pytest.mark.parametrize(("failures", "locks"), [(4, False), (5, True), (6, True)])
def test_the_fifth_failure_from_an_address_locks_all_who_come_from_it(
    customers: list[Conversation], failures: int, locks: bool
) -> None:
    """Each of them has failed once, which for themselves would lock nobody."""
    ends = [lock(customers[n], f"O{n}") for n in range(failures)]
    assert [end is not None for end in ends] == [n >= 4 for n in range(failures)]
    assert AuditEntry.objects.filter(kind="lookup_lock").count() == int(locks)
    Account.objects.filter(user__username="customer-4").update(
        address=address_key("10.0.0.2")
    )
    assert (locked(customers[6]) is not None) is locks
    assert locked(customers[5]) is None


def test_the_same_number_again_is_no_further_failure_of_an_address(
    customers: list[Conversation],
) -> None:
    assert [lock(one, "O999") for one in customers] == [None] * len(customers)


def test_visitors_and_customers_of_an_address_are_counted_together(
    customers: list[Conversation],
) -> None:
    address, now = address_key("10.0.0.1"), timezone.now()
    for number in range(4):
        tries.note_failures([address], [tries.number_subject(f"O{number}")], now)
    assert lock(customers[0], "O4") is not None
    assert tries.is_locked([address], now=timezone.now())


def test_who_came_from_nowhere_is_counted_for_themselves_alone(
    customers: list[Conversation],
) -> None:
    Account.objects.update(address="")
    assert [lock(one, f"O{n}") for n, one in enumerate(customers)] == [None] * 7
    assert not LookupTry.objects.exists()


@pytest.mark.parametrize(
    ("address", "other", "same"),
    [
        ("10.0.0.1", "10.0.0.2", False),
        ("2001:db8::1", "2001:db8::2", True),
    ],
)
def test_a_socket_says_where_its_customer_is(
    lin: Person, conversation: Conversation, address: str, other: str, same: bool
) -> None:
    client = Client()
    client.force_login(lin.user)
    session = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    seen = []
    for came_from in (address, other):
        admit(session, conversation.pk, address=came_from)
        seen.append(Account.objects.get(pk=lin.account.pk).address)
    assert seen == [address_key(address), address_key(other)]
    assert (seen[0] == seen[1]) is same
    assert came_from not in seen


async def test_a_locked_address_has_known_numbers_looked_up_and_no_new_one(
    world: World, customers: list[Conversation], settings: Settings
) -> None:
    settings.CHAT_LOOKUP_FAILURES = 2
    for chat, number in zip(customers, ("O-997", "O-998", "O-999"), strict=False):
        world.plays(get_order(number), answer(f"I could not find {number}."))
        await say(chat, f"Where is {number}?")
        await until_stopped(chat)
    assert world.shop.calls == ["get_order:O997", "get_order:O998"]


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
