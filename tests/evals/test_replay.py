"""Recorded runs decide the same again, or it shows how not; nothing is ever done."""

from __future__ import annotations

from typing import Any

import pytest

from chatbot.chat.models import Conversation, Step
from chatbot.evals import replay
from chatbot.evals.replay import Report, replay_runs
from chatbot.llm.scripted_model import answer, ask, fails, get_order, hand_over
from chatbot.react.types import Limits
from tests.chat.conftest import (
    TWO_STEPS,
    World,
    conversation,
    say,
    until_stopped,
    world,
)
from tools.database import in_database

__all__ = ["conversation", "world"]


@pytest.fixture
def parts(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The replay gets the tools that the played runs had, and no way to call them."""

    def built(**known: Any) -> Any:
        return world.parts(**known)

    monkeypatch.setattr(replay, "build_run", built)
    return world


async def played(world: World, chat: Conversation, *script: Any) -> Report:
    world.plays(*script)
    await say(chat)
    await until_stopped(chat)
    before = list(world.shop.calls)
    report: Report = await in_database(replay_runs, limit=10)
    assert world.shop.calls == before
    return report


@pytest.mark.parametrize(
    "script",
    [
        TWO_STEPS,
        (get_order("O-204"), answer("It has shipped."), *TWO_STEPS[1:]),
        (get_order("O-777"), hand_over("no idea")),
        (ask("Which order do you mean?"),),
        (get_order("O-204"), get_order("O-204"), *TWO_STEPS[1:]),
        (fails("503"), *TWO_STEPS),
    ],
    ids=["answered", "sent back", "refused", "asks", "repeated", "retried"],
)
async def test_a_run_that_is_played_again_decides_the_same(
    parts: World, conversation: Conversation, script: tuple[Any, ...]
) -> None:
    report = await played(parts, conversation, *script)
    assert (report.same, report.differ, report.skipped) == (1, [], [])


async def test_code_that_decides_otherwise_shows(
    parts: World, conversation: Conversation
) -> None:
    report = await played(parts, conversation, *TWO_STEPS)
    assert report.same == 1
    parts.limits = Limits(max_steps=1)
    report = await in_database(replay_runs, limit=10)
    [line] = report.differ
    assert "step_limit" in line


async def test_a_recording_that_was_changed_shows(
    parts: World, conversation: Conversation
) -> None:
    await played(parts, conversation, *TWO_STEPS)

    def change() -> None:
        step = Step.objects.get(kind="observed", tool="track_shipment")
        step.body["observation"]["fields"]["place"] = "Beijing"
        step.save()

    await in_database(change)
    report = await in_database(replay_runs, limit=10)
    assert len(report.differ) == 1


async def test_a_call_that_was_never_recorded_is_a_difference_and_not_made(
    parts: World, conversation: Conversation
) -> None:
    await played(parts, conversation, *TWO_STEPS)
    await in_database(Step.objects.filter(kind="observed", tool="get_order").delete)
    before = list(parts.shop.calls)
    report = await in_database(replay_runs, limit=10)
    assert len(report.differ) == 1
    assert parts.shop.calls == before
