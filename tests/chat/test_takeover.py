"""A person takes a conversation over: one has it, and the assistant is silent."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.utils import timezone

from chatbot.chat import services, takeover
from chatbot.chat.launch import launcher
from chatbot.chat.leases import claim_run, news_of
from chatbot.chat.models import Conversation, HandOver, Message, Run, Speaker
from chatbot.chat.problems import Problem
from chatbot.chat.roles import make_groups
from chatbot.react.types import StopReason
from chatbot.workflow.models import AuditEntry, Event
from chatbot.workflow.services import NotPossible
from tests.cast import Person, person
from tests.chat.conftest import (
    TWO_STEPS,
    World,
    accept,
    kinds,
    say,
    the_run,
    until,
    until_stopped,
)
from tools.database import in_database

pytestmark = pytest.mark.django_db(transaction=True)


def take(conversation: Conversation, by: User) -> None:
    takeover.take_over(conversation.pk, by=by, now=timezone.now())


def release(conversation: Conversation, by: User, **more: Any) -> None:
    takeover.release(conversation.pk, by=by, now=timezone.now(), **more)


def write(conversation: Conversation, by: User, text: str = "Hello") -> Message:
    return takeover.say_as_staff(conversation.pk, by=by, text=text, now=timezone.now())


def audited(conversation: Conversation) -> list[str]:
    entries = AuditEntry.objects.filter(chain=str(conversation.pk))
    return list(entries.order_by("position").values_list("kind", flat=True))


def spoken(conversation: Conversation) -> list[str]:
    return [m.speaker for m in conversation.messages.order_by("seq")]


# ---- who has it


def test_one_person_has_it_and_says_so_once(
    conversation: Conversation, ada: Person, sam: Person
) -> None:
    take(conversation, ada.user)
    take(conversation, ada.user)
    with pytest.raises(NotPossible, match="already_taken"):
        take(conversation, sam.user)
    conversation.refresh_from_db()
    assert conversation.taken_by == ada.user
    assert audited(conversation) == ["conversation.taken_over"]
    assert spoken(conversation) == [Speaker.NOTICE]


def test_of_two_who_take_it_at_once_one_has_it(
    conversation: Conversation, ada: Person, sam: Person
) -> None:
    together = threading.Barrier(2)
    refused: list[str] = []

    def work(user: User) -> None:
        try:
            together.wait(10)
            take(conversation, user)
        except NotPossible as problem:
            refused.append(problem.reason)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(p.user,)) for p in (ada, sam)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == ["already_taken"]
    assert audited(conversation) == ["conversation.taken_over"]


def test_only_its_holder_or_a_supervisor_gives_it_back(
    conversation: Conversation, ada: Person, sam: Person
) -> None:
    with pytest.raises(NotPossible, match="not_taken"):
        release(conversation, ada.user)
    take(conversation, ada.user)
    with pytest.raises(NotPossible, match="already_taken"):
        release(conversation, sam.user)
    release(conversation, sam.user, anyones=True)
    conversation.refresh_from_db()
    assert conversation.taken_by is None
    take(conversation, sam.user)
    release(conversation, sam.user)
    assert (
        audited(conversation)
        == [
            "conversation.taken_over",
            "conversation.released",
        ]
        * 2
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty_message"),
        (" \n ", "empty_message"),
        ("\u200b\u3164", "empty_message"),
        ("a\0b", "empty_message"),
        ("x" * settings.CHAT_MAX_MESSAGE_CHARACTERS, None),
        ("x" * (settings.CHAT_MAX_MESSAGE_CHARACTERS + 1), "message_too_long"),
    ],
)
def test_what_a_person_writes_has_the_customer_s_limits(
    conversation: Conversation, ada: Person, text: str, problem: str | None
) -> None:
    take(conversation, ada.user)
    if problem is None:
        assert write(conversation, ada.user, text).text == text
        return
    with pytest.raises(NotPossible, match=problem):
        write(conversation, ada.user, text)


def test_nobody_writes_in_a_conversation_that_is_not_theirs(
    conversation: Conversation, ada: Person, sam: Person
) -> None:
    with pytest.raises(NotPossible, match="not_taken"):
        write(conversation, ada.user)
    take(conversation, ada.user)
    with pytest.raises(NotPossible, match="not_taken"):
        write(conversation, sam.user)
    assert spoken(conversation) == [Speaker.NOTICE]


def test_what_a_person_writes_reaches_who_has_left_by_mail(
    conversation: Conversation, ada: Person
) -> None:
    take(conversation, ada.user)
    message = write(conversation, ada.user)
    event = Event.objects.get(name="staff.wrote")
    assert message.client_id == f"event.{event.pk}"
    handlers = event.deliveries.values_list("handler", flat=True)
    assert list(handlers) == ["chatbot.chat.news.mail_customer"]


# ---- the assistant is silent


async def test_a_message_starts_no_run_while_a_person_has_it(
    world: World, conversation: Conversation, ada: Person
) -> None:
    world.plays(*TWO_STEPS)
    await in_database(take, conversation, ada.user)
    accepted = await say(conversation)
    assert accepted.run_id is None
    assert await in_database(Run.objects.count) == 0
    await in_database(release, conversation, ada.user)
    await say(conversation)
    await until_stopped(conversation)
    assert (await in_database(spoken, conversation))[-1] == Speaker.ASSISTANT


async def test_a_run_that_was_going_on_ends_and_writes_no_more(
    world: World, conversation: Conversation, ada: Person
) -> None:
    """At each of its points: before a model's reply, before a tool's, after some."""
    world.plays(*TWO_STEPS)
    rng = random.Random(7)
    for _ in range(12):
        gate = rng.choice([world.before_model, world.before_tool])
        gate.shut()
        await say(conversation)
        await gate.reached.wait()
        for _ in range(rng.randrange(2)):  # a step or none gets through
            gate.opened.set()
            gate.shut()
        await in_database(take, conversation, ada.user)
        run = await in_database(the_run, conversation)
        before = await in_database(kinds, conversation)
        world.before_model.opened.set()
        world.before_tool.opened.set()

        async def let_go() -> bool:
            return not launcher().carried

        await until(let_go)
        assert await in_database(kinds, conversation) == before
        assert run.stop_reason == StopReason.HANDED_OVER
        assert before[-2:] == ["stopped", "notice"]
        await in_database(release, conversation, ada.user)
    assert "assistant" not in await in_database(spoken, conversation)


def test_a_run_that_begins_while_it_is_being_taken_ends_too(
    conversation: Conversation, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message is accepted after the look for a run and before the lock."""
    lock, late = takeover._locked, ["late"]

    def message_first(conversation_id: UUID) -> Conversation:
        if late:
            accept(conversation, late.pop())
        return lock(conversation_id)

    monkeypatch.setattr(takeover, "_locked", message_first)
    take(conversation, ada.user)
    assert the_run(conversation).stop_reason == StopReason.HANDED_OVER
    assert audited(conversation) == ["conversation.taken_over"]


def test_another_process_hears_that_its_run_is_gone(
    conversation: Conversation, ada: Person
) -> None:
    accept(conversation)
    run = the_run(conversation)
    claim = claim_run(run.pk, owner="elsewhere", now=timezone.now())
    assert claim is not None
    assert news_of([claim])[run.pk].held
    take(conversation, ada.user)
    assert not news_of([claim])[run.pk].held


async def test_what_was_stopped_is_tried_again_only_by_the_assistant(
    world: World, conversation: Conversation, ada: Person
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    await say(conversation)
    await world.before_model.reached.wait()
    run = await in_database(the_run, conversation)

    def cancel() -> None:
        services.cancel_run(run.pk, **whose, now=timezone.now())

    def retry() -> UUID:
        return services.retry_run(run.pk, **whose, now=timezone.now())

    whose: Any = {
        "conversation_id": conversation.pk,
        "account_id": conversation.account_id,
    }
    await in_database(cancel)
    await until_stopped(conversation)
    await in_database(take, conversation, ada.user)
    with pytest.raises(Problem, match="nothing_to_retry"):
        await in_database(retry)
    await in_database(release, conversation, ada.user)
    assert await in_database(retry) != run.pk


def test_a_run_is_not_tried_again_while_a_person_has_it(
    conversation: Conversation, ada: Person
) -> None:
    accept(conversation)
    take(conversation, ada.user)
    stopped = the_run(conversation)
    assert stopped.stop_reason == StopReason.HANDED_OVER
    end = stopped.steps.get(kind="stopped")
    assert end.body["can_retry"] is False


def test_an_open_hand_over_is_closed_when_it_is_given_back(
    conversation: Conversation, ada: Person
) -> None:
    accept(conversation)
    take(conversation, ada.user)
    HandOver.objects.create(
        run=the_run(conversation), conversation=conversation, created_at=timezone.now()
    )
    release(conversation, ada.user)
    assert not conversation.handovers.filter(closed_at=None).exists()


@pytest.mark.parametrize(
    ("asked_in", "told"), [("en", "from our team"), ("zh", "已接入"), ("", "已接入")]
)
def test_the_notice_is_in_the_language_of_the_talk(
    conversation: Conversation, ada: Person, asked_in: str, told: str
) -> None:
    """That of the last question that was read; where there is none, the account's."""
    accept(conversation)
    if asked_in:
        conversation.runs.update(started_at=timezone.now(), language=asked_in)
    take(conversation, ada.user)
    assert told in conversation.messages.get(speaker=Speaker.NOTICE).text


# ---- its page


@pytest.fixture
def desk(conversation: Conversation) -> Callable[..., Any]:
    make_groups()
    accept(conversation)
    url = f"/admin/chat/conversation/{conversation.pk}/change/"

    clients: dict[str, Client] = {}

    def press(name: str, do: str = "", **form: str) -> Any:
        if name not in clients:
            clients[name] = Client(raise_request_exception=False)
            clients[name].force_login(person(name).user)
        client = clients[name]
        if not do:
            return client.get(url)
        return client.post(url, {"do": do, **form})

    return press


def test_it_is_taken_written_in_and_given_back_on_its_page(
    conversation: Conversation, desk: Any
) -> None:
    desk("sam", "read", reason="asked to help")
    assert "Take over" in desk("sam").content.decode()
    desk("sam", "take")
    desk("sam", "say", text="<b>One moment</b>")
    page = desk("sam").content.decode()
    assert "&lt;b&gt;One moment&lt;/b&gt;" in page
    # Staff read who said it: "You" is the customer's own word.
    assert "<strong>lin</strong>" in page
    assert "<strong>You</strong>" not in page
    assert "Give back" in page
    desk("sam", "release")
    assert spoken(conversation) == ["customer", "notice", "staff", "notice"]


@pytest.mark.parametrize(("who", "status"), [("olga", 403), ("ada", 404), ("lin", 404)])
@pytest.mark.parametrize("do", ["take", "say", "release"])
def test_whoever_may_not_take_over_can_do_none_of_it(
    conversation: Conversation, desk: Any, who: str, status: int, do: str
) -> None:
    """An operator writes nowhere; an agent only where a person was asked for."""
    assert desk(who, do, text="hello").status_code == status
    assert spoken(conversation) == ["customer"]


def test_an_agent_takes_what_was_handed_over(
    conversation: Conversation, desk: Any
) -> None:
    HandOver.objects.create(
        run=the_run(conversation), conversation=conversation, created_at=timezone.now()
    )
    assert desk("ada", "take").status_code == 302
    conversation.refresh_from_db()
    assert conversation.taken_by == person("ada").user


def test_an_unknown_button_does_nothing(conversation: Conversation, desk: Any) -> None:
    assert desk("sam", "erase").status_code == 403
    assert spoken(conversation) == ["customer"]
