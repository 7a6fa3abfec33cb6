"""What is kept of a customer is handed out, erased, and forgotten in time."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from chatbot.chat import services
from chatbot.chat.models import Conversation, HandOver, Message, Run, Step
from chatbot.chat.privacy import forget_old
from chatbot.llm.scripted_model import hand_over
from chatbot.workflow.models import AuditEntry
from tests.cast import Person
from tests.chat.conftest import World, accept, say, until_stopped
from tools.actions.policy import current_policy
from tools.contracts import ActionKind
from tools.database import in_database
from tools.models import ActionRequest, Approval

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "canary4711"


def change(person: Person, approver: User, *, state: str, at: datetime) -> UUID:
    """A change of an address: the words that it holds are the customer's."""
    made = ActionRequest.objects.create(
        kind=ActionKind.CHANGE_ADDRESS,
        customer_id=person.account.customer_id,
        subject="O205",
        arguments={"address1": f"{CANARY} street"},
        arguments_hash="h" * 64,
        preview={"after": {"address1": f"{CANARY} street"}},
        outcome={"message": CANARY},
        policy=current_policy(ActionKind.CHANGE_ADDRESS),
        state=state,
        proposed_by="run:1",
        created_at=at,
        expires_at=at,
        ended_at=at,
    )
    Approval.objects.create(
        request=made,
        approver=approver,
        approved=False,
        reason=f"{CANARY} called",
        arguments_hash="h" * 64,
        at=at,
    )
    return made.pk


@pytest.fixture
async def told(
    world: World, conversation: Conversation, lin: Person, sam: Person, olga: Person
) -> Conversation:
    """Lin has said the canary everywhere that words may come to lie."""
    world.plays(hand_over(f"they said {CANARY}"))
    await say(conversation, f"{CANARY}: I want to speak to a person about O-204")
    await until_stopped(conversation)
    await in_database(_say_more, conversation, lin, sam.user)
    return conversation


def _say_more(conversation: Conversation, lin: Person, sam: User) -> None:
    answer = Message.objects.get(conversation=conversation, speaker="assistant")
    services.rate_answer(
        answer.pk,
        conversation_id=conversation.pk,
        account_id=conversation.account_id,
        helpful=False,
        comment=f"no, {CANARY}",
        now=timezone.now(),
    )
    change(lin, sam, state="declined", at=timezone.now())
    Client().force_login(lin.user)


def found_in(word: str) -> set[str]:
    """The tables of which a row holds this word, whatever its column."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            if any(word in str(value) for row in cursor.fetchall() for value in row):
                found.add(table)
    return found


def run(command: str, *arguments: str) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue()


def erase(*arguments: str) -> str:
    return run("erase_customer", "lin", *arguments)


async def test_an_erased_customer_is_nowhere_any_more(told: Conversation) -> None:
    held = await in_database(found_in, CANARY)
    assert {"chat_message", "chat_feedback", "tools_actionrequest"} <= held
    said = await in_database(erase, "--by", "olga", "--agreed", "sam")
    assert said == "Erased 1 conversations and 1 sessions; emptied 1 changes.\n"
    assert await in_database(found_in, CANARY) == set()
    assert not await in_database(User.objects.filter(username="lin").exists)
    for model in (Conversation, Run, Step, Message, HandOver, Session):
        assert not await in_database(model.objects.exists), model
    request = await in_database(ActionRequest.objects.get)
    # That it was, and what exactly was agreed to, can still be shown.
    assert (request.state, request.arguments_hash) == ("declined", "h" * 64)
    assert "LIN" not in request.customer_id
    entry = await in_database(AuditEntry.objects.get, kind="customer.erased")
    assert (entry.actor, entry.ids["agreed"]) == ("olga", "sam")


async def test_others_keep_what_is_theirs(told: Conversation, mei: Person) -> None:
    def another() -> Conversation:
        now = timezone.now()
        made = services.start_conversation(account=mei.account, now=now)
        accept(made, "Where is O-305?")
        Client().force_login(mei.user)
        return made

    other = await in_database(another)
    await in_database(erase, "--by", "olga", "--agreed", "sam")
    assert await in_database(Conversation.objects.get) == other
    assert await in_database(Session.objects.count) == 1


@pytest.mark.parametrize(
    ("by", "agreed", "why"),
    [
        ("olga", "olga", "two different people"),
        ("olga", "lin", "'lin' is no operator"),
        ("ada", "sam", "'ada' is no operator"),
        ("nobody", "sam", "'nobody' is no operator"),
    ],
)
async def test_two_who_may_have_to_agree(
    told: Conversation, ada: Person, by: str, agreed: str, why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        await in_database(erase, "--by", by, "--agreed", agreed)
    assert await in_database(Conversation.objects.exists)


async def test_nobody_is_erased_while_a_change_is_under_way(told: Conversation) -> None:
    await in_database(ActionRequest.objects.update, state="proposed")
    with pytest.raises(CommandError, match="still open"):
        await in_database(erase, "--by", "olga", "--agreed", "sam")
    assert "chat_message" in await in_database(found_in, CANARY)


async def test_a_customer_gets_all_that_is_kept(told: Conversation) -> None:
    kept: dict[str, Any] = json.loads(await in_database(run, "export_customer", "lin"))
    (conversation,) = kept["conversations"]
    asked, answered = conversation["messages"]
    assert CANARY in asked["text"]
    assert CANARY in answered["comment"]
    assert CANARY in kept["changes"][0]["arguments"]["address1"]


async def test_what_nobody_touched_for_long_is_forgotten(told: Conversation) -> None:
    def age(days: float) -> None:
        at = timezone.now() - timedelta(days=days)
        Conversation.objects.update(updated_at=at)
        ActionRequest.objects.update(ended_at=at)

    kept = django_settings.CHAT_KEEP_DAYS
    await in_database(age, kept - 0.01)
    assert await in_database(forget_old, now=timezone.now()) == 0
    assert "tools_actionrequest" in await in_database(found_in, CANARY)
    await in_database(age, kept + 0.01)
    said = await in_database(run, "forget_old")
    assert said == "Forgot 1 conversations and 0 visitors.\n"
    assert await in_database(found_in, CANARY) == set()
    assert await in_database(User.objects.filter(username="lin").exists)


def test_what_goes_on_is_not_forgotten(conversation: Conversation, ada: Person) -> None:
    """A run that waits, and a conversation that a person has."""
    accept(conversation)
    long_ago = timezone.now() - timedelta(days=10_000)
    Conversation.objects.update(updated_at=long_ago)
    assert forget_old(now=timezone.now()) == 0
    Run.objects.update(phase="stopped", stop_reason="cancelled", stopped_at=long_ago)
    Conversation.objects.update(taken_by=ada.user)
    assert forget_old(now=timezone.now()) == 0
    Conversation.objects.update(taken_by=None)
    assert forget_old(now=timezone.now()) == 1
