"""A stop from outside ends whatever is going on, and leaves nothing running behind."""

from __future__ import annotations

import asyncio

import pytest

from chatbot.llm.scripted_model import ScriptedModel, answer, get_order, never, track
from chatbot.react.signals import Interrupted, Signals
from chatbot.react.types import Acted, Observed, RunState, StopReason
from tests.react.play import Shop, play, with_limits
from tools.contracts import Observation, ToolCall

GOOD = answer("Yes, O-204 has shipped with N-88. It is in Wuhan now.")


class Slow(Shop):
    """A shop that does not answer; it notes that it was really cancelled."""

    def __init__(self, signals: Signals, why: StopReason) -> None:
        super().__init__()
        self.signals, self.why = signals, why
        self.cancelled = False

    async def observe(self, call: ToolCall, observation_id: str) -> Observation:
        asyncio.get_running_loop().call_soon(self.signals.stop_with, self.why)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            self.cancelled = True
            raise
        raise AssertionError


@pytest.mark.parametrize("why", [StopReason.CANCELLED, StopReason.HANDED_OVER])
def test_a_stop_ends_a_tool_call_in_its_middle_and_waits_for_its_end(
    why: StopReason,
) -> None:
    signals = Signals()
    shop = Slow(signals, why)
    run = play(ScriptedModel(get_order("O-204")), shop=shop, signals=signals)
    assert run.stop_reason is why
    assert shop.cancelled
    assert not run.of(Observed)


def test_nothing_is_left_running_when_a_run_is_over() -> None:
    async def scenario() -> int:
        signals = Signals()
        soon = asyncio.get_running_loop().call_later
        soon(0.01, signals.stop_with, StopReason.CANCELLED)
        with pytest.raises(Interrupted):
            await signals.within(60, asyncio.Event().wait)
        return len(asyncio.all_tasks())

    assert asyncio.run(scenario()) == 1


def test_a_stop_between_two_calls_of_one_reply_prevents_the_second() -> None:
    signals = Signals()

    class Stops(Shop):
        async def observe(self, call: ToolCall, observation_id: str) -> Observation:
            seen = await super().observe(call, observation_id)
            signals.stop_with(StopReason.CANCELLED)
            return seen

    shop = Stops()
    model = ScriptedModel([get_order("O-204"), track("N-88")])
    run = play(model, "Where is O-204, parcel N-88?", shop=shop, signals=signals)
    assert run.stop_reason is StopReason.CANCELLED
    assert shop.calls == ["get_order:O204"]


def test_a_stop_that_comes_with_the_last_word_of_an_answer_still_wins() -> None:
    signals = Signals()

    def answers(state: RunState) -> object:
        signals.stop_with(StopReason.CANCELLED)
        return GOOD

    model = ScriptedModel(get_order("O-204"), track("N-88"), answers)  # type: ignore[arg-type]
    run = play(model, signals=signals)
    assert run.stop_reason is StopReason.CANCELLED
    assert run.end.usage.total == 120


def test_a_timeout_of_the_work_itself_is_no_end_of_the_run() -> None:
    class Broken(Shop):
        async def observe(self, call: ToolCall, observation_id: str) -> Observation:
            raise TimeoutError("a fault of the gateway, which lets none out")

    with pytest.raises(TimeoutError, match="a fault"):
        play(ScriptedModel(get_order("O-204")), shop=Broken())


def test_the_process_that_is_told_to_end_ends_the_run_without_an_event() -> None:
    async def scenario() -> None:
        task = asyncio.create_task(Signals().within(60, asyncio.Event().wait))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(scenario())


def test_without_any_time_left_nothing_is_begun() -> None:
    async def scenario() -> None:
        await Signals().within(0, Shop().observe, ToolCall("c", "x", {"a": 1}), "obs-1")

    with pytest.raises(Interrupted) as interrupted:
        asyncio.run(scenario())
    assert interrupted.value.reason is StopReason.TIME_LIMIT


def test_a_call_is_announced_before_it_is_made() -> None:
    run = play(ScriptedModel(get_order("O-204")), stop_after=2)
    assert isinstance(run.events[-1], Acted)
    assert run.shop.calls == []


def test_the_rest_of_the_time_bounds_a_call() -> None:
    run = play(
        ScriptedModel(get_order("O-204"), never()), limits=with_limits(max_seconds=0.05)
    )
    assert run.stop_reason is StopReason.TIME_LIMIT
    assert "shipped" in run.end.answer
