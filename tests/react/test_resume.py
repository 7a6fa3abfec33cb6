"""A run that is killed after any event goes on after it, repeating no finished call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from chatbot.llm.scripted_model import (
    Entry,
    ScriptedModel,
    answer,
    call,
    get_order,
    malformed,
    track,
)
from chatbot.react.codec import event_from_json, event_kind, event_to_json
from chatbot.react.signals import Signals
from chatbot.react.state import observations, resume
from chatbot.react.types import (
    Acted,
    Background,
    LoopEvent,
    Refused,
    RunState,
    SentBack,
    StopReason,
)
from tests.react.play import QUESTION, SHOP, Played, Shop, play
from tools.contracts import Json

GOOD = answer("Yes, O-204 has shipped with N-88. It is in Wuhan now.")


def one_by_one(*script: Entry) -> Callable[[RunState], Entry]:
    """A model that decides from what happened, as a real one does."""

    def next_entry(state: RunState) -> Entry:
        replies = (Acted, Refused, SentBack)
        return script[len({e.step for e in state.events if isinstance(e, replies)})]

    return next_entry


def whatever_is_missing(state: RunState) -> Entry:
    """Several calls a reply; those that a crash took are simply proposed again."""
    seen = {one.tool for one in observations(state)}
    order, parcel = get_order("O-204"), track("N-88")
    if "get_order" not in seen:
        return [order, parcel]
    return GOOD if "track_shipment" in seen else parcel


@dataclass(frozen=True)
class History:
    model: Callable[[RunState], Entry]
    reason: StopReason
    question: str = QUESTION
    data: dict[str, dict[str, Json]] | None = None


HISTORIES = {
    "errs and recovers": History(
        one_by_one(
            malformed("no JSON", name="get_order"),
            get_order("O-204"),
            answer("It has shipped."),
            track("N-88"),
            GOOD,
        ),
        StopReason.ANSWERED,
    ),
    "repeats a call": History(
        one_by_one(get_order("O-204"), get_order("o 204"), track("N-88"), GOOD),
        StopReason.ANSWERED,
    ),
    "makes several calls at once": History(
        whatever_is_missing,
        StopReason.ANSWERED,
        "Where is O-204, parcel N-88? Has it shipped?",
    ),
    "finds nothing new": History(
        one_by_one(*(call("search_orders", text=f"try {n}") for n in range(5))),
        StopReason.NO_PROGRESS,
        data={"search_orders": {"orders": []}},
    ),
    "asks for a change": History(
        one_by_one(get_order("O-204"), call("cancel_order", order_id="O-204")),
        StopReason.AWAITING_APPROVAL,
        "Cancel O-204",
        {"cancel_order:O204": {"eligible": True, "order_id": "O-204"}},
    ),
}


def run(history: History, events: list[LoopEvent], after: int | None = None) -> Played:
    shop = Shop({**SHOP, **(history.data or {})})
    model = ScriptedModel(history.model, repeat_last=True)
    return play(model, history.question, shop=shop, events=events, stop_after=after)


WHOLE = {name: run(history, []) for name, history in HISTORIES.items()}
DEATHS = [(name, n) for name, w in WHOLE.items() for n in range(1, len(w.events) + 1)]


@pytest.mark.parametrize("name", HISTORIES)
def test_the_whole_run_ends_as_it_should(name: str) -> None:
    assert WHOLE[name].stop_reason is HISTORIES[name].reason


@pytest.mark.parametrize(("name", "killed_after"), DEATHS)
def test_a_killed_run_ends_as_the_whole_one_does(name: str, killed_after: int) -> None:
    history, whole = HISTORIES[name], WHOLE[name]
    dead = run(history, [], killed_after)
    rows = [(event_kind(e), event_to_json(e)) for e in dead.events]
    alive = run(history, [event_from_json(kind, body) for kind, body in rows])
    assert alive.end.reason is whole.end.reason
    assert alive.end.answer == whole.end.answer
    assert alive.end.request == whole.end.request
    calls = [*dead.shop.calls, *alive.shop.calls]
    assert sorted(calls) == sorted(whole.shop.calls)
    assert len(alive.completed) == len(set(alive.completed))


@pytest.mark.parametrize(("name", "count"), DEATHS)
def test_the_resumed_state_equals_the_one_that_died(name: str, count: int) -> None:
    grown = run(HISTORIES[name], [], count).state
    assert resume(Background(), WHOLE[name].events[:count]) == grown


def test_a_run_that_has_stopped_stays_stopped() -> None:
    whole = WHOLE["repeats a call"]
    again = run(HISTORIES["repeats a call"], whole.events)
    assert again.events == whole.events
    assert again.shop.calls == []


def test_a_run_that_was_stopped_while_nobody_had_it_makes_no_further_call() -> None:
    signals = Signals()
    signals.stop_with(StopReason.CANCELLED)
    dead = run(HISTORIES["repeats a call"], [], 2)
    assert isinstance(dead.events[-1], Acted)
    model = ScriptedModel()
    alive = play(model, events=dead.events, signals=signals)
    assert alive.stop_reason is StopReason.CANCELLED
    assert (model.calls, alive.shop.calls) == (0, [])
