"""A run: saved event by event, resumed by whoever comes next, never done twice."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.utils import timezone
from pytest_django import Settings

from chatbot.chat import runner, services
from chatbot.chat.journal import Entries, LeaseLost, journal, write_together
from chatbot.chat.launch import Launcher, launcher
from chatbot.chat.leases import claim_run, due_runs
from chatbot.chat.models import Conversation, Run, RunPhase, Step
from chatbot.chat.runner import execute_run
from chatbot.llm.scripted_model import answer, get_order, hand_over, track
from chatbot.react.types import StopReason
from tests.chat.conftest import (
    ANSWER,
    QUESTION,
    TWO_STEPS,
    World,
    accept,
    kinds,
    say,
    the_run,
    until,
    until_stopped,
)
from tests.react.play import with_limits
from tools.database import in_database

WHOLE_LOG = [
    "customer",
    "started",
    "acted",
    "observed",
    "acted",
    "observed",
    "assistant",
    "stopped",
]


async def test_a_message_becomes_a_proved_answer(
    world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    await say(conversation)
    run = await until_stopped(conversation)
    assert await in_database(kinds, conversation) == WHOLE_LOG
    assert (run.stop_reason, run.steps_used) == (StopReason.ANSWERED, 3)
    assert (run.prompt_tokens, run.completion_tokens) == (300, 60)
    assert run.numbers.split() == ["O204", "N88"]
    assert run.tools.split() == ["get_order", "track_shipment"]
    assert run.question == QUESTION
    assert run.lease_until is None


async def test_the_answer_carries_its_proof(
    world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    await say(conversation)
    await until_stopped(conversation)
    message = await in_database(conversation.messages.filter(speaker="assistant").get)
    assert message.text == ANSWER
    evidence = {one["tool"]: one for one in message.extras["evidence"]}
    assert set(evidence) == {"get_order", "track_shipment"}
    places = [f for f in evidence["track_shipment"]["facts"] if f["path"] == "place"]
    assert places == [{"path": "place", "value": "Wuhan", "text": "Wuhan"}]
    assert message.extras["reason"] == "answered"


class Died(BaseException):
    """A process that was killed: nothing after it runs."""


@pytest.mark.parametrize("events", range(1, 7))
async def test_a_run_goes_on_after_its_process_died(
    world: World,
    conversation: Conversation,
    monkeypatch: pytest.MonkeyPatch,
    events: int,
) -> None:
    """Killed after any number of saved events it ends the same; no call is repeated."""
    await in_database(_accept_only, conversation, monkeypatch)
    run = await in_database(the_run, conversation)
    world.plays(*TWO_STEPS)
    world.plays(*TWO_STEPS[_replies_used(events) :])
    saved = 0
    save = runner.Execution._save

    async def save_or_die(self: Any, event: Any) -> None:
        nonlocal saved
        await save(self, event)
        saved += 1
        if saved == events:
            raise Died

    monkeypatch.setattr(runner.Execution, "_save", save_or_die)
    if events < 6:
        with pytest.raises(Died):
            await execute_run(run.pk, owner="dead")
    else:
        with pytest.raises(Died):
            await execute_run(run.pk, owner="dead")
        assert (await in_database(the_run, conversation)).phase == RunPhase.STOPPED
        return
    monkeypatch.setattr(runner.Execution, "_save", save)
    await execute_run(run.pk, owner="heir")
    assert (await in_database(the_run, conversation)).phase == RunPhase.RUNNING
    await in_database(_let_lease_end, run)
    await execute_run(run.pk, owner="heir")
    run = await in_database(the_run, conversation)
    assert (run.stop_reason, run.crashes, run.fence) == (StopReason.ANSWERED, 1, 2)
    assert await in_database(kinds, conversation) == WHOLE_LOG
    assert world.shop.calls == ["get_order:O204", "track_shipment:N88"]


def _replies_used(events: int) -> int:
    # started | acted observed | acted observed | stopped
    return 0 if events < 2 else 1 if events < 4 else 2


def _accept_only(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store a message whose process dies before it starts the run."""
    monkeypatch.setattr("chatbot.chat.launch.launch_run", lambda run_id: None)
    accept(conversation)


def _let_lease_end(run: Run) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Run.objects.filter(pk=run.pk).update(lease_until=past, due_at=past)


async def test_the_sweep_starts_what_nobody_started(
    world: World, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.plays(*TWO_STEPS)
    await in_database(_accept_only, conversation, monkeypatch)
    launcher().sweep(hands_on=False)
    run = await until_stopped(conversation)
    assert run.stop_reason == StopReason.ANSWERED


async def test_a_run_that_takes_its_processes_with_it_ends_honestly(
    world: World, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.plays(*TWO_STEPS)
    await in_database(_accept_only, conversation, monkeypatch)
    run = await in_database(the_run, conversation)
    for number in range(3):
        claim = await in_database(
            claim_run, run.pk, owner=f"dead {number}", now=timezone.now()
        )
        assert claim is not None
        assert claim.crashes == number
        await in_database(_let_lease_end, run)
    await execute_run(run.pk, owner="heir")
    run = await in_database(the_run, conversation)
    assert run.stop_reason == StopReason.INTERNAL_ERROR
    assert run.hand_over == "offered"
    assert await in_database(kinds, conversation) == [
        "customer",
        "assistant",
        "stopped",
    ]
    assert world.models == []


async def test_a_run_that_gets_on_between_deaths_is_not_given_up(
    world: World, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever kills the processes, it is not this run."""
    for replies_used in (0, 0, 1, 1, 2):
        world.plays(*TWO_STEPS[replies_used:])
    await in_database(_accept_only, conversation, monkeypatch)
    run = await in_database(the_run, conversation)
    save = runner.Execution._save

    async def save_and_die(self: Any, event: Any) -> None:
        await save(self, event)
        raise Died

    with monkeypatch.context() as deadly:
        deadly.setattr(runner.Execution, "_save", save_and_die)
        for number in range(4):
            with pytest.raises(Died):
                await execute_run(run.pk, owner=f"dead {number}")
            await in_database(_let_lease_end, run)
    await execute_run(run.pk, owner="heir")
    run = await in_database(the_run, conversation)
    assert (run.stop_reason, run.crashes) == (StopReason.ANSWERED, 1)
    assert await in_database(kinds, conversation) == WHOLE_LOG


async def test_a_bug_ends_the_run_honestly(
    world: World, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: Any) -> None:
        raise ZeroDivisionError("secret of the house")

    monkeypatch.setattr(runner, "build_run", broken)
    await say(conversation)
    run = await until_stopped(conversation)
    assert run.stop_reason == StopReason.INTERNAL_ERROR
    message = await in_database(conversation.messages.filter(speaker="assistant").get)
    assert "secret" not in message.text
    assert message.extras["can_retry"] is True


async def test_while_the_database_is_away_a_run_waits(
    world: World, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.plays(*TWO_STEPS)
    world.plays(*TWO_STEPS[1:])
    await in_database(_accept_only, conversation, monkeypatch)
    run = await in_database(the_run, conversation)
    write = journal().write
    written = 0

    async def write_until_away(entries: Entries) -> Any:
        nonlocal written
        written += 1
        if written > 3:
            raise OperationalError("the server closed the connection")
        return await write(entries)

    monkeypatch.setattr(journal(), "write", write_until_away)
    await execute_run(run.pk, owner="first")
    assert (await in_database(the_run, conversation)).phase == RunPhase.RUNNING
    monkeypatch.setattr(journal(), "write", write)
    await in_database(_let_lease_end, run)
    await execute_run(run.pk, owner="second")
    assert await in_database(kinds, conversation) == WHOLE_LOG


# ---- one owner at a time


def test_of_many_processes_one_gets_the_run(
    transactional_db: None, conversation: Conversation
) -> None:
    accept(conversation)
    run = the_run(conversation)
    start = threading.Barrier(6)
    claims = []

    def claim(owner: str) -> None:
        start.wait()
        claims.append(claim_run(run.pk, owner=owner, now=timezone.now()))
        connections.close_all()

    threads = [threading.Thread(target=claim, args=(f"p{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(claim is not None for claim in claims) == 1


def test_an_owner_that_lost_its_lease_writes_nothing(
    transactional_db: None, conversation: Conversation
) -> None:
    accept(conversation)
    run = the_run(conversation)
    slow = claim_run(run.pk, owner="slow", now=timezone.now())
    _let_lease_end(run)
    heir = claim_run(run.pk, owner="heir", now=timezone.now())
    assert slow is not None
    assert heir is not None
    results = write_together([_note(slow), _note(heir)])
    assert isinstance(results[0], LeaseLost)
    assert kinds(conversation) == ["customer", "nudged"]


def test_one_bad_row_costs_the_others_nothing(
    transactional_db: None, conversation: Conversation
) -> None:
    accept(conversation)
    other = Conversation.objects.create(
        account=conversation.account,
        created_at=timezone.now(),
        updated_at=timezone.now(),
    )
    accept(other)
    claims = [
        claim_run(the_run(one).pk, owner="p", now=timezone.now())
        for one in (conversation, other)
    ]
    bad, good = _note(claims[0]), _note(claims[1])
    assert isinstance(bad.rows[0], Step)
    bad.rows[0].body = {"bad": object()}
    results = write_together([bad, good])
    assert isinstance(results[0], TypeError)
    assert kinds(conversation) == ["customer"]
    assert kinds(other) == ["customer", "nudged"]


async def test_rows_that_gather_are_written_together(
    world: World, lin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def several() -> list[Any]:
        claims = []
        for _ in range(5):
            conversation = services.start_conversation(
                account=lin.account, now=timezone.now()
            )
            monkeypatch.setattr("chatbot.chat.launch.launch_run", lambda run_id: None)
            accept(conversation)
            run = the_run(conversation)
            claims.append(claim_run(run.pk, owner="p", now=timezone.now()))
        return claims

    batches: list[int] = []

    def counted(batch: Any) -> Any:
        batches.append(len(batch))
        return write_together(batch)

    monkeypatch.setattr("chatbot.chat.journal.write_together", counted)
    claims = await in_database(several)
    await asyncio.gather(*(journal().write(_note(claim)) for claim in claims))
    assert sum(batches) == 5
    assert len(batches) < 5


def _note(claim: Any) -> Entries:
    step = Step(
        run_id=claim.run_id,
        conversation_id=claim.conversation_id,
        kind="nudged",
        body={},
        created_at=timezone.now(),
    )
    return Entries(claim, [step], at=timezone.now())


# ---- what comes in from outside while a run goes on


async def test_messages_that_come_during_a_run_join_it(
    world: World, conversation: Conversation
) -> None:
    world.plays(get_order("O-204"), track("N-88"), answer(ANSWER))
    world.before_tool.shut()
    await say(conversation, "Has O-204 shipped?")
    await world.before_tool.reached.wait()
    await say(conversation, "And where is it now?")
    world.before_tool.opened.set()
    await until_stopped(conversation)
    log = await in_database(kinds, conversation)
    assert log.count("assistant") == 1
    assert log.index("joined") < log.index("assistant")
    run = await in_database(the_run, conversation)
    assert {"shipped", "location"} <= set(run.needs)


async def test_a_burst_gives_one_run_that_answers_all(
    world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    await asyncio.gather(
        say(conversation, "Has O-204 shipped?"),
        say(conversation, "Where is it now?"),
        say(conversation, "Please tell me about O-204"),
    )
    await until_stopped(conversation)

    def runs_and_answers() -> tuple[int, int]:
        answers = conversation.messages.filter(speaker="assistant").count()
        return conversation.runs.count(), answers

    assert await in_database(runs_and_answers) == (1, 1)


async def test_a_message_that_comes_too_late_gets_a_run_of_its_own(
    world: World, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is committed between the loop's last look and the end of the run."""
    world.plays(*TWO_STEPS)
    world.plays(get_order("O-204"), track("N-88"), answer(ANSWER))
    end = runner.Execution._end
    late = [("And where is it now, O-204?")]

    def end_with_a_late_message(self: Any, entries: Any, step: Any, event: Any) -> None:
        end(self, entries, step, event)
        if late:
            thread = threading.Thread(target=_accept_in_thread, args=(late.pop(),))
            thread.start()
            thread.join()

    def _accept_in_thread(text: str) -> None:
        accept(conversation, text)
        connections.close_all()

    monkeypatch.setattr(runner.Execution, "_end", end_with_a_late_message)
    await say(conversation)

    async def both_stopped() -> bool:
        runs = await in_database(lambda: list(conversation.runs.all()))
        return [run.phase for run in runs] == ["stopped", "stopped"]

    await until(both_stopped)
    log = await in_database(kinds, conversation)
    assert log.count("assistant") == 2
    late_message = await in_database(
        conversation.messages.filter(speaker="customer").order_by("seq").last
    )
    assert late_message is not None
    assert late_message.run_id == (await in_database(the_run, conversation)).pk


async def test_stop_ends_a_run_in_the_middle_of_a_model_call(
    world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    accepted = await say(conversation)
    await world.before_model.reached.wait()
    await in_database(
        services.cancel_run,
        accepted.run_id,
        conversation_id=conversation.pk,
        account_id=conversation.account_id,
        now=timezone.now(),
    )
    run = await until_stopped(conversation)
    assert run.stop_reason == StopReason.CANCELLED
    assert await in_database(kinds, conversation) == [
        "customer",
        "started",
        "assistant",
        "stopped",
    ]


async def test_a_stop_written_by_another_process_is_heard(
    world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    accepted = await say(conversation)
    await world.before_model.reached.wait()
    elsewhere = Run.objects.filter(pk=accepted.run_id)
    await in_database(elsewhere.update, cancel_requested_at=timezone.now())
    run = await until_stopped(conversation)
    assert run.stop_reason == StopReason.CANCELLED


async def test_a_message_written_by_another_process_is_heard(
    world: World, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    await say(conversation)
    await world.before_model.reached.wait()
    monkeypatch.setattr("chatbot.chat.launch.tell_run", lambda run_id: None)
    await say(conversation, "And where is it?")

    async def heard() -> bool:
        execution = next(iter(launcher()._executions.values()))
        return bool(execution.signals.messages)

    await until(heard)
    world.before_model.opened.set()
    await until_stopped(conversation)
    assert "joined" in await in_database(kinds, conversation)


async def test_a_run_whose_conversation_is_deleted_ends_quietly(
    world: World, conversation: Conversation, caplog: pytest.LogCaptureFixture
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    await say(conversation)
    await world.before_model.reached.wait()
    await in_database(conversation.delete)
    world.before_model.opened.set()

    async def let_go() -> bool:
        return launcher().carried == 0

    await until(let_go)
    assert "failed" not in caplog.text
    assert await in_database(Step.objects.count) == 0


# ---- draining


async def test_a_draining_process_gives_its_runs_back(
    world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    world.plays(*TWO_STEPS[1:])
    await say(conversation)
    world.before_tool.shut()
    await world.before_tool.reached.wait()
    await launcher().drain()
    run = await in_database(the_run, conversation)
    assert (run.phase, run.lease_owner, run.crashes) == (RunPhase.QUEUED, "", 0)
    assert launcher().start(run.pk) is None
    world.before_tool.opened.set()
    heir = Launcher()
    heir.sweep(hands_on=False)
    run = await until_stopped(conversation)
    await heir.drain()
    assert run.stop_reason == StopReason.ANSWERED
    assert await in_database(kinds, conversation) == WHOLE_LOG


async def test_a_living_process_keeps_its_lease(
    world: World, conversation: Conversation, settings: Settings
) -> None:
    settings.RUN_LEASE_SECONDS = 0.6
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    await say(conversation)
    await world.before_model.reached.wait()

    async def lease_end() -> datetime:
        until = (await in_database(the_run, conversation)).lease_until
        assert until is not None
        return until

    first = await lease_end()

    async def renewed() -> bool:
        return await lease_end() > first + timedelta(seconds=0.6)

    await until(renewed)
    assert await in_database(due_runs, now=timezone.now(), limit=9) == []


async def test_there_is_room_for_so_many_runs_and_no_more(
    world: World, lin: Any, settings: Settings
) -> None:
    settings.RUN_MAX_AT_ONCE = 2
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    talks = [
        await in_database(
            services.start_conversation, account=lin.account, now=timezone.now()
        )
        for _ in range(3)
    ]
    for talk in talks:
        await say(talk)

    async def full() -> bool:
        return launcher().carried == 2

    await until(full)
    launcher().sweep(hands_on=False)
    world.before_model.opened.set()
    for talk in talks:
        assert (await until_stopped(talk)).stop_reason == StopReason.ANSWERED


# ---- what a run starts from


async def test_a_run_knows_the_conversation_before_it(
    world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    world.plays(track("N-88"), answer("Parcel N-88 is in transit in Wuhan."))
    await say(conversation)
    await until_stopped(conversation)
    await say(conversation, "Where is it now?")
    await until_stopped(conversation)
    background = world.backgrounds[1]
    assert [turn.text for turn in background.turns] == [QUESTION, ANSWER]
    assert background.known_numbers == {"O204", "N88"}
    assert background.earlier_questions[0].order_numbers == ("O-204",)
    run = await in_database(the_run, conversation)
    assert run.stop_reason == StopReason.ANSWERED


async def test_a_retried_run_asks_the_same_again(
    world: World, conversation: Conversation
) -> None:
    world.plays(get_order("O-204"))
    world.plays(*TWO_STEPS)
    world.limits = with_limits(max_steps=1)
    accepted = await say(conversation)
    failed = await until_stopped(conversation)
    assert failed.stop_reason == StopReason.STEP_LIMIT
    world.limits = with_limits()
    await in_database(
        services.retry_run,
        accepted.run_id,
        conversation_id=conversation.pk,
        account_id=conversation.account_id,
        now=timezone.now(),
    )

    async def answered() -> bool:
        run = await in_database(the_run, conversation)
        return run.stop_reason == StopReason.ANSWERED

    await until(answered)
    again = await in_database(the_run, conversation)
    assert again.retry_of_id == failed.pk
    assert again.question == QUESTION


async def test_a_hand_over_is_written_with_the_end_of_the_run(
    world: World, conversation: Conversation
) -> None:
    world.plays(get_order("O-204"), hand_over("wants a colleague: 13800138000"))
    await say(conversation, "Where is O-204? I want a person, my phone is 13800138000")
    run = await until_stopped(conversation)
    assert run.stop_reason == StopReason.HANDED_OVER

    def row() -> Any:
        return run.handover

    hand = await in_database(row)
    assert "13800138000" not in hand.reason
    assert {"need", "order", "why"} <= set(hand.open_needs[0])

    def trace() -> str:
        return repr(list(Step.objects.values_list("body", flat=True))) + run.question

    assert "13800138000" not in await in_database(trace)
    first = await in_database(conversation.messages.order_by("seq").first)
    assert first is not None
    assert "13800138000" in first.text
