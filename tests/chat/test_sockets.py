"""The socket: each frame and error of docs/protocol.md, the log as a page keeps it."""

from __future__ import annotations

import asyncio
import json
import random
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.utils import timezone
from pytest_django import Settings

from chatbot.chat import consumers, services
from chatbot.chat.launch import shutdown
from chatbot.chat.limits import FRAMES_AT_ONCE, MAX_BAD_FRAMES, MAX_EXCESS_FRAMES
from chatbot.chat.models import Account, Conversation, Feedback, Message, Step
from chatbot.chat.sockets import sockets
from chatbot.chat.stream import stream
from chatbot.llm.scripted_model import answer, get_order
from chatbot.workflow.models import AuditEntry
from tests.cast import Person
from tests.chat.conftest import (
    ANSWER,
    QUESTION,
    TWO_STEPS,
    Browser,
    Page,
    World,
    the_run,
    until_stopped,
)
from tests.react.play import with_limits
from tools.database import in_database

RUN_FRAMES = [
    "message",
    "run.started",
    "step.action",
    "step.observation",
    "step.action",
    "step.observation",
    "message",
    "run.stopped",
]


async def stored_log(conversation: Conversation) -> list[tuple[int, str]]:
    """What the database says that every page must have."""

    def rows() -> list[tuple[int, str]]:
        said = [(m.seq, "message") for m in conversation.messages.all()]
        done = [(s.seq, s.kind) for s in Step.objects.filter(conversation=conversation)]
        return sorted(said + done)

    return await in_database(rows)


async def assert_mirrors(page: Page, conversation: Conversation) -> None:
    stored = [seq for seq, _ in await stored_log(conversation)]
    assert [entry["seq"] for entry in page.log] == stored


# ---- what a page is sent


async def test_a_page_sees_the_whole_run(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    page = await browser.opened(conversation)
    client_id = await page.say()
    await page.hear_until("run.stopped")
    assert page.types == RUN_FRAMES
    accepted = next(f for f in page.others if f["type"] == "message.accepted")
    run = await in_database(the_run, conversation)
    assert accepted == {
        "type": "message.accepted",
        "client_id": client_id,
        "seq": 1,
        "run": str(run.pk),
    }
    question, started, action, observation, *_, said, stopped = page.log
    assert (question["speaker"], question["text"]) == ("customer", QUESTION)
    assert question["client_id"] == client_id
    assert (started["model"], started["model_kind"]) == ("scripted", "model")
    assert started["needs"] == ["shipped", "location"]
    assert (action["tool"], action["arguments"]) == ("get_order", {"order_id": "O-204"})
    assert observation["call_id"] == action["call_id"]
    assert observation["status"] == "ok"
    assert observation["fields"]["parcels"][0]["tracking_id"] == "N-88"
    assert (said["speaker"], said["text"]) == ("assistant", ANSWER)
    assert said["extras"]["evidence"]
    assert (stopped["reason"], stopped["steps"]) == ("answered", 3)
    assert {entry["run"] for entry in page.log} == {str(run.pk)}


async def test_hello_says_how_far_the_log_goes_and_what_is_going_on(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    page = await browser.open(conversation)
    hello = await page.hear()
    assert hello == {
        "type": "hello",
        "protocol": 1,
        "conversation": str(conversation.pk),
        "last_seq": 0,
        "run": None,
        "limits": {"message_characters": 2000, "frame_bytes": 16384},
    }
    assert await page.hear() == {"type": "caught_up", "last_seq": 0}
    await page.say()
    await page.hear_until("run.started")
    second = await browser.open(conversation)
    hello = await second.hear()
    run = await in_database(the_run, conversation)
    assert hello["last_seq"] == 2
    assert hello["run"] == {"id": str(run.pk), "phase": "running"}


async def test_a_draft_that_is_sent_back_is_never_shown(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    draft = "It arrives tomorrow in Paris."
    world.plays(get_order("O-204"), answer(draft), *TWO_STEPS[1:])
    page = await browser.opened(conversation)
    await page.say()
    await page.hear_until("run.stopped")
    back = next(e for e in page.log if e["type"] == "step.sent_back")
    assert "location" in back["missing"]
    assert back["unproved"] > 0
    assert draft not in json.dumps(page.log)


async def test_another_tab_sees_the_same(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    one, two = await browser.opened(conversation), await browser.opened(conversation)
    await one.say()
    await asyncio.gather(one.hear_until("run.stopped"), two.hear_until("run.stopped"))
    assert one.log == two.log


async def test_three_messages_from_two_tabs_get_one_answer(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    one, two = await browser.opened(conversation), await browser.opened(conversation)
    await one.say("Has O-204 shipped?")
    await two.say("Where is it now?")
    await one.say("I mean O-204")
    await one.hear_until("run.stopped")
    said = [e["speaker"] for e in one.log if e["type"] == "message"]
    assert sorted(said) == ["assistant", "customer", "customer", "customer"]
    await assert_mirrors(one, conversation)


# ---- the socket comes and goes


@pytest.mark.parametrize("heard", range(9))
async def test_a_page_that_lost_its_socket_has_each_entry_once(
    browser: Browser, world: World, conversation: Conversation, heard: int
) -> None:
    """Lost after each number of entries, it comes back and misses and repeats none."""
    world.plays(*TWO_STEPS)
    page = await browser.opened(conversation)
    await page.say()
    while len(page.log) < heard:
        await page.hear()
    await page.leave()
    again = await browser.open(conversation, last=page.last)
    again.log = page.log
    while "run.stopped" not in again.types:
        await again.hear()
    assert again.types == RUN_FRAMES
    await assert_mirrors(again, conversation)


async def test_many_random_losses_leave_no_gap(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    """A writer goes on while pages come and go at random places of the log."""
    chance = random.Random(20261201)
    total = 120

    async def write() -> None:
        for number in range(total):
            await in_database(write_note, conversation, f"note {number}")
            if chance.random() < 0.3:
                await asyncio.sleep(chance.random() / 200)

    writing = asyncio.create_task(write())
    log: list[dict[str, Any]] = []
    losses = 0
    while len(log) < total:
        page = await browser.open(conversation, last=log[-1]["seq"] if log else 0)
        page.log = log
        until_loss = len(log) + chance.randrange(1, 12)
        while len(log) < min(until_loss, total):
            await page.hear()
        await page.leave()
        losses += 1
    await writing
    assert losses > 5
    assert [entry["text"] for entry in log] == [f"note {n}" for n in range(total)]


def write_note(conversation: Conversation, text: str) -> Message:
    """A notice written under the row lock, by a process that wakes nobody."""
    from django.db import transaction

    with transaction.atomic():
        locked = Conversation.objects.select_for_update().get(pk=conversation.pk)
        locked.last_seq += 1
        locked.save(update_fields=["last_seq"])
        return Message.objects.create(
            conversation=locked,
            seq=locked.last_seq,
            speaker="notice",
            text=text,
            created_at=timezone.now(),
        )


async def test_what_another_process_writes_arrives_by_itself(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.opened(conversation)
    await in_database(write_note, conversation, "from elsewhere")
    entry = await page.hear_until("message")
    assert entry["text"] == "from elsewhere"


async def test_a_burst_of_300_entries_arrives_whole_and_in_order(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.opened(conversation)

    def burst() -> list[Message]:
        return [write_note(conversation, f"note {number}") for number in range(300)]

    rows = await in_database(burst)
    shuffled = rows[:]
    random.Random(7).shuffle(shuffled)
    for row in shuffled:
        stream().publish(conversation.pk, [row])
    while len(page.log) < 300:
        await page.hear()
    assert [entry["seq"] for entry in page.log] == list(range(1, 301))


async def test_resume_sends_the_log_again(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    page = await browser.opened(conversation)
    await page.say()
    await page.hear_until("run.stopped")
    before = page.log
    page.log = before[:3]
    await page.send("resume", last=3)
    await page.hear_until("caught_up")
    assert page.log == before


@pytest.mark.parametrize("last", [99, "x", "-1", "9" * 40])
async def test_a_page_that_is_ahead_of_the_log_still_hears_what_comes(
    browser: Browser, world: World, conversation: Conversation, last: int | str
) -> None:
    page = await browser.open(conversation, last=last)
    await page.hear_until("caught_up")
    await in_database(write_note, conversation, "first")
    assert (await page.hear_until("message"))["seq"] == 1


async def test_a_deleted_row_leaves_no_gap(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    def three_and_one_gone() -> None:
        rows = [write_note(conversation, f"note {number}") for number in range(3)]
        rows[1].delete()

    await in_database(three_and_one_gone)
    page = await browser.opened(conversation)
    assert page.types == ["message", "removed", "message"]


async def test_a_deleted_conversation_closes_its_pages(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.opened(conversation)
    await in_database(conversation.delete)
    assert (await page.hear())["code"] == 4403


async def test_an_answer_comes_although_the_tab_was_closed(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    page = await browser.opened(conversation)
    await page.say()
    await page.hear_until("run.started")
    await page.leave()
    world.before_model.opened.set()
    run = await until_stopped(conversation)
    assert run.stop_reason == "answered"


async def test_a_draining_process_sends_its_pages_elsewhere(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.opened(conversation)
    await shutdown()
    assert (await page.hear())["code"] == 1012


# ---- messages


async def test_a_message_sent_again_is_the_same_message(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    page = await browser.opened(conversation)
    for _ in range(3):
        await page.say(client_id="same")
    await page.hear_until("run.stopped")

    def accepted() -> list[dict[str, Any]]:
        return [f for f in page.others if f["type"] == "message.accepted"]

    while len(accepted()) < 3:
        await page.hear()
    assert accepted()[0] == accepted()[1] == accepted()[2]
    said = conversation.messages.filter(speaker="customer")
    assert await in_database(said.count) == 1


async def test_no_message_is_acknowledged_that_was_not_stored(
    browser: Browser,
    world: World,
    conversation: Conversation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("the server closed the connection")

    page = await browser.opened(conversation)
    monkeypatch.setattr(services, "accept_message", away)
    client_id = await page.say()
    error = await page.hear()
    assert (error["code"], error["client_id"]) == ("unavailable", client_id)
    assert error["retry_after"] > 0


async def test_stop_and_try_again(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    page = await browser.opened(conversation)
    await page.say()
    started = await page.hear_until("run.started")
    await page.send("run.cancel", run=started["run"])
    stopped = await page.hear_until("run.stopped")
    assert (stopped["reason"], stopped["can_retry"]) == ("cancelled", True)
    world.before_model.opened.set()
    await page.send("run.retry", run=stopped["run"])
    again = await page.hear_until("run.stopped")
    assert again["reason"] == "answered"
    assert again["run"] != stopped["run"]


@pytest.mark.parametrize(
    ("type_", "code"),
    [("run.cancel", "nothing_to_cancel"), ("run.retry", "nothing_to_retry")],
)
async def test_what_has_stopped_well_is_neither_stopped_nor_tried_again(
    browser: Browser, world: World, conversation: Conversation, type_: str, code: str
) -> None:
    world.plays(*TWO_STEPS)
    page = await browser.opened(conversation)
    await page.say()
    stopped = await page.hear_until("run.stopped")
    await page.send(type_, run=stopped["run"])
    assert (await page.hear_until("error"))["code"] == code


async def test_a_run_is_tried_again_once(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    world.limits = with_limits(max_steps=1)
    page = await browser.opened(conversation)
    await page.say()
    stopped = await page.hear_until("run.stopped")
    assert stopped["can_retry"]
    for _ in range(2):
        await page.send("run.retry", run=stopped["run"])
    assert (await page.hear_until("error"))["code"] == "nothing_to_retry"
    assert await in_database(conversation.runs.count) == 2


async def test_a_thumb_is_kept_beside_its_answer(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    page = await browser.opened(conversation)
    await page.say()
    await page.hear_until("run.stopped")
    answered = next(e for e in page.log if e.get("speaker") == "assistant")
    for comment in ("", "which carrier?"):
        thumb = {"helpful": False, "comment": comment}
        await page.send("feedback.send", message=answered["id"], **thumb)
    await page.send("ping")
    await page.hear_until("pong")
    rows = await in_database(lambda: list(Feedback.objects.all()))
    assert [(row.helpful, row.comment) for row in rows] == [(False, "which carrier?")]


async def test_only_an_answer_of_this_conversation_can_be_rated(
    browser: Browser, world: World, conversation: Conversation, mei: Person
) -> None:
    def of_mei() -> Message:
        other = services.start_conversation(account=mei.account, now=timezone.now())
        return write_note(other, "hers")

    foreign = await in_database(of_mei)
    page = await browser.opened(conversation)
    await page.send("feedback.send", message=foreign.pk, helpful=True)
    assert (await page.hear_until("error"))["code"] == "bad_frame"
    assert await in_database(Feedback.objects.count) == 0


# ---- limits, at each and one beyond


async def test_a_customer_may_say_so_much_at_once(
    browser: Browser, world: World, conversation: Conversation, settings: Settings
) -> None:
    settings.CHAT_MESSAGES_BURST = 5
    settings.CHAT_MAX_QUEUED = 50
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    page = await browser.opened(conversation)
    for _ in range(6):
        last = await page.say()
    error = await page.hear_until("error")
    assert (error["code"], error["client_id"]) == ("too_many", last)
    assert 1 <= error["retry_after"] <= 6
    assert await in_database(conversation.messages.count) == 5


async def test_so_many_messages_wait_in_one_conversation(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    page = await browser.opened(conversation)
    await page.say()
    await page.hear_until("run.started")
    for _ in range(6):
        last = await page.say()
    error = await page.hear_until("error")
    assert (error["code"], error["client_id"]) == ("queue_full", last)
    assert await in_database(conversation.messages.count) == 6


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x" * 2000, None),
        ("x" * 2001, "message_too_long"),
        ("字" * 2000, None),
        ("", "empty_message"),
        (" \n\t　", "empty_message"),
        ("\u200b\u200d\ufeff\u2060", "empty_message"),
        ("\u3164\u2800\ufe0f\u00ad", "empty_message"),
    ],
)
async def test_a_message_has_a_length(
    browser: Browser,
    world: World,
    conversation: Conversation,
    text: str,
    code: str | None,
) -> None:
    world.plays(answer("Hello."), *[answer("Hello.")] * 5)
    page = await browser.opened(conversation)
    client_id = await page.say(text)
    frame = await page.hear_until("message.accepted", "error")
    assert frame.get("code") == code
    assert frame["client_id"] == client_id


def frame_of_size(size: int) -> str:
    start = '{"type":"ping","x":"'
    return start + "x" * (size - len(start) - 2) + '"}'


async def test_a_frame_has_a_size(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.opened(conversation)
    await page.send_text(frame_of_size(16_384))
    assert (await page.hear())["type"] == "pong"
    await page.send_text(frame_of_size(16_385))
    assert (await page.hear())["code"] == "too_large"
    await page.send_text("字" * 5462)
    assert (await page.hear())["code"] == "too_large"
    await page.send_text(frame_of_size(3 * 16_384 + 1))
    assert await page.hear() == {"type": "closed", "code": 4413}


BAD_FRAMES = {
    "no JSON": "hello",
    "cut": '{"type":"ping"',
    "a list": "[]",
    "null": "null",
    "no type": "{}",
    "a number as type": '{"type":1}',
    "duplicate keys": '{"type":"ping","type":"ping"}',
    "NaN": '{"type":"ping","x":NaN}',
    "Infinity": '{"type":"ping","x":-Infinity}',
    "a huge number": '{"type":"ping","x":1e999}',
    "16 digits": '{"type":"ping","x":1234567890123456}',
    "a NUL": '{"type":"ping","x":"\\u0000"}',
    "half a character": '{"type":"ping","x":"\\ud800"}',
    "half a character in a key": '{"type":"ping","\\udc00":1}',
    "nine deep": '{"type":"ping","x":' + "[" * 8 + "]" * 8 + "}",
    "thousands deep": '{"type":"ping","x":' + "[" * 8000,
    "a run that is none": '{"type":"run.cancel","run":"x"}',
    "a resume without last": '{"type":"resume"}',
    "a last that is true": '{"type":"resume","last":true}',
    "a last below zero": '{"type":"resume","last":-1}',
    "a thumb that is neither": '{"type":"feedback.send","message":1,"helpful":"yes"}',
    "a last beyond any": '{"type":"resume","last":1e300}',
}


@pytest.mark.parametrize("text", BAD_FRAMES.values(), ids=BAD_FRAMES)
async def test_a_bad_frame_is_refused_and_the_socket_goes_on(
    browser: Browser, world: World, conversation: Conversation, text: str
) -> None:
    page = await browser.opened(conversation)
    await page.send_text(text)
    error = await page.hear()
    assert (error["type"], error["code"]) == ("error", "bad_frame")
    await page.send("ping")
    assert (await page.hear())["type"] == "pong"


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"ping","x":123456789012345}',
        '{"type":"ping","x":' + "[" * 7 + "]" * 7 + "}",
    ],
    ids=["15 digits", "eight deep"],
)
async def test_what_is_just_within_the_limits_is_taken(
    browser: Browser, world: World, conversation: Conversation, text: str
) -> None:
    page = await browser.opened(conversation)
    await page.send_text(text)
    assert (await page.hear())["type"] == "pong"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"text": "hi"}, "bad_message"),
        ({"client_id": "", "text": "hi"}, "bad_message"),
        ({"client_id": "x" * 65, "text": "hi"}, "bad_message"),
        ({"client_id": "a b", "text": "hi"}, "bad_message"),
        ({"client_id": "a\n", "text": "hi"}, "bad_message"),
        ({"client_id": 7, "text": "hi"}, "bad_message"),
        ({"client_id": "ok", "text": 7}, "bad_message"),
        ({"client_id": "ok"}, "bad_message"),
    ],
)
async def test_a_message_needs_an_id_and_a_text(
    browser: Browser,
    world: World,
    conversation: Conversation,
    fields: dict[str, Any],
    code: str,
) -> None:
    page = await browser.opened(conversation)
    await page.send("message.send", **fields)
    error = await page.hear()
    assert error["code"] == code
    assert await in_database(Message.objects.count) == 0


async def test_bytes_are_no_frame(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.opened(conversation)
    await page.socket.send_input({"type": "websocket.receive", "bytes": b"\x00\xff"})
    assert (await page.hear())["code"] == "bad_frame"


async def test_errors_speak_the_language_of_the_page(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    chinese = await browser.open(
        conversation, 0, **{"accept-language": "zh-CN,zh;q=0.9"}
    )
    await chinese.hear_until("caught_up")
    await chinese.send("nonsense")
    error = await chinese.hear()
    assert error["code"] == "unknown_type"
    assert "刷新" in error["text"]
    english = await browser.open(conversation, 0, **{"accept-language": "en"})
    await english.hear_until("caught_up")
    await english.send("nonsense")
    assert "reload" in (await english.hear())["text"]


async def test_a_page_that_sends_nonsense_for_ever_is_sent_away(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.opened(conversation)
    for _ in range(MAX_BAD_FRAMES):
        await page.send_text("nonsense")
    for _ in range(MAX_BAD_FRAMES):
        assert (await page.hear())["code"] == "bad_frame"
    assert await page.hear() == {"type": "closed", "code": 4400}


async def test_a_page_that_sends_too_many_frames_is_sent_away(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.opened(conversation)
    for _ in range(FRAMES_AT_ONCE + 2 * MAX_EXCESS_FRAMES):
        await page.send("ping")
    error = await page.hear_until("error")
    assert error["code"] == "too_many"
    while (frame := await page.hear())["type"] != "closed":
        assert frame["type"] in ("pong", "error")
    assert frame["code"] == 4429


async def test_the_fourth_socket_of_a_customer_takes_the_place_of_the_first(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    pages = [await browser.opened(conversation) for _ in range(3)]
    for page in pages:
        await page.send("ping")
        assert (await page.hear())["type"] == "pong"
    await browser.opened(conversation)
    assert (await pages[0].hear())["code"] == 4409
    await pages[1].send("ping")
    assert (await pages[1].hear())["type"] == "pong"


async def test_so_many_sockets_a_minute_from_one_address(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    sockets().comings.most = 10
    for _ in range(10):
        await browser.opened(conversation)
    page = await browser.open(conversation)
    assert await page.hear() == {"type": "closed", "code": 4429}


async def test_a_silent_socket_is_closed(
    browser: Browser, world: World, conversation: Conversation, settings: Settings
) -> None:
    page = await browser.opened(conversation)
    settings.CHAT_IDLE_SECONDS = 0.01
    assert (await page.hear())["code"] == 4408


async def test_no_socket_stays_open_for_ever(
    browser: Browser, world: World, conversation: Conversation, settings: Settings
) -> None:
    page = await browser.opened(conversation)
    settings.CHAT_ABSOLUTE_SECONDS = 0.01
    assert (await page.hear())["code"] == 4408


# ---- who may


async def test_a_visitor_without_a_session_is_sent_away(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.open(conversation, cookie="")
    assert await page.hear() == {"type": "closed", "code": 4401}


async def test_a_forged_session_is_none(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    page = await browser.open(conversation, cookie="sessionid=" + "a" * 32)
    assert await page.hear() == {"type": "closed", "code": 4401}


async def test_another_customers_conversation_stays_closed(
    browser: Browser,
    world: World,
    mei: Person,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def of_mei() -> Conversation:
        hers = services.start_conversation(account=mei.account, now=timezone.now())
        write_note(hers, "private")
        return hers

    hers = await in_database(of_mei)
    page = await browser.open(hers)
    assert await page.hear() == {"type": "closed", "code": 4403}
    assert (page.log, page.others) == ([], [])
    entry = await in_database(AuditEntry.objects.get)
    assert (entry.kind, entry.chain) == ("conversation.refused", str(hers.pk))
    assert entry.actor == "lin"
    assert str(hers.pk) in caplog.text
    assert "private" not in caplog.text


async def test_a_conversation_that_is_none_looks_the_same(
    browser: Browser, world: World
) -> None:
    page = await browser.open(uuid4())
    assert await page.hear() == {"type": "closed", "code": 4403}


async def test_staff_have_no_customers_page(
    world: World, sam: Person, conversation: Conversation
) -> None:
    page = await (await in_database(Browser, sam)).open(conversation)
    assert await page.hear() == {"type": "closed", "code": 4403}


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://127.0.0.1:8001"]
)
async def test_a_foreign_origin_opens_no_socket(
    browser: Browser, world: World, conversation: Conversation, origin: str
) -> None:
    socket = browser.communicator(conversation.pk, origin=origin)
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(timeout=10))["type"] == "websocket.close"


def log_out(browser: Browser, person: Person) -> None:
    browser.client.post("/accounts/logout/")


def disable(browser: Browser, person: Person) -> None:
    User.objects.filter(pk=person.user.pk).update(is_active=False)


def let_session_end(browser: Browser, person: Person) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Session.objects.update(expire_date=past)


def set_password_elsewhere(browser: Browser, person: Person) -> None:
    person.user.set_password("another one")
    person.user.save()


def take_role(browser: Browser, person: Person) -> None:
    Account.objects.filter(pk=person.account.pk).update(role="guest")


ENDS = [log_out, disable, let_session_end, set_password_elsewhere, take_role]


@pytest.mark.parametrize("end", ENDS)
async def test_a_socket_does_not_outlive_its_session(
    browser: Browser, world: World, conversation: Conversation, lin: Person, end: Any
) -> None:
    page = await browser.opened(conversation)
    await in_database(end, browser, lin)
    assert (await page.hear())["code"] == 4401


@pytest.mark.parametrize("end", ENDS)
async def test_no_frame_is_taken_once_the_session_is_over(
    browser: Browser,
    world: World,
    conversation: Conversation,
    lin: Person,
    settings: Settings,
    end: Any,
) -> None:
    settings.CHAT_POLL_SECONDS = 60
    page = await browser.opened(conversation)
    await in_database(end, browser, lin)
    await page.say()
    assert (await page.hear())["code"] == 4401
    assert await in_database(Message.objects.count) == 0


async def test_a_new_password_does_not_close_the_page_it_was_set_in(
    browser: Browser, world: World, conversation: Conversation, lin: Person
) -> None:
    def set_here() -> None:
        user = lin.user
        user.set_password("a new one")
        user.save()
        session = browser.client.session
        session["_auth_user_hash"] = user.get_session_auth_hash()
        session.save()

    page = await browser.opened(conversation)
    await in_database(set_here)
    await page.send("ping")
    assert (await page.hear())["type"] == "pong"


async def test_while_the_database_is_away_a_page_is_told_to_come_again(
    browser: Browser,
    world: World,
    conversation: Conversation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(consumers, "admit", away)
    page = await browser.open(conversation)
    assert await page.hear() == {"type": "closed", "code": 1012}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('"half \\ud83d"', "bad_frame"),
        ('"nothing \\u0000"', "bad_frame"),
        (json.dumps("字" * 6000, ensure_ascii=False), "too_large"),
    ],
    ids=["half a character", "a NUL", "too large"],
)
async def test_a_page_learns_which_message_cannot_be_taken(
    browser: Browser, world: World, conversation: Conversation, text: str, code: str
) -> None:
    """Or it would send the same again for ever."""
    page = await browser.opened(conversation)
    message = f'{{"type":"message.send","client_id":"m-1","text":{text}}}'
    await page.send_text(message)
    error = await page.hear()
    assert (error["code"], error["client_id"]) == (code, "m-1")


async def test_a_message_is_stored_as_it_was_written(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    text = "  我的手机号 13800138000\n\n订单 ＃O－204 呢？ "
    world.plays(get_order("O-204"), *TWO_STEPS[1:])
    page = await browser.opened(conversation)
    await page.say(text)
    assert (await page.hear_until("message"))["text"] == text
    first = await in_database(conversation.messages.order_by("seq").first)
    assert first is not None
    assert first.text == text
