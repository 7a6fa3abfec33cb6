"""A run that is killed after any event goes on after it, repeating no finished call."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from chatbot.llm.scripted_model import (
    Entry,
    ScriptedModel,
    answer,
    get_order,
    hand_over,
    malformed,
    track,
)
from chatbot.react.codec import KINDS, event_from_json, event_kind, event_to_json
from chatbot.react.state import resume
from chatbot.react.types import (
    Acted,
    Background,
    LoopEvent,
    Refused,
    RunState,
    SentBack,
    StopReason,
)
from tests.react.play import Shop, play


def by_history(state: RunState) -> Entry:
    """A model that decides from what happened, as a real one does."""
    replies = sum(isinstance(e, Acted | Refused | SentBack) for e in state.events)
    return [
        malformed("no JSON", name="get_order"),
        get_order("O-204"),
        answer("It has shipped."),
        track("N-88"),
        answer("Yes, O-204 has shipped with N-88. It is in Wuhan now."),
    ][replies]


def model() -> ScriptedModel:
    return ScriptedModel(by_history, repeat_last=True)


def kinds(events: Iterable[LoopEvent]) -> list[str]:
    return [event_kind(event) for event in events]


WHOLE = play(model())


def test_the_whole_run_is_answered() -> None:
    assert WHOLE.stop_reason is StopReason.ANSWERED
    assert len(WHOLE.events) == 8


@pytest.mark.parametrize("killed_after", range(1, len(WHOLE.events)))
def test_a_killed_run_ends_as_the_whole_one_does(killed_after: int) -> None:
    shop = Shop()
    dead = play(model(), shop=shop, stop_after=killed_after)
    stored = [(event_kind(e), event_to_json(e)) for e in dead.events]
    events = [event_from_json(kind, body) for kind, body in stored]
    run = play(model(), shop=shop, events=events)
    assert kinds(run.events) == kinds(WHOLE.events)
    assert run.end.answer == WHOLE.end.answer
    assert len(run.completed) == len(set(run.completed)) == 2
    assert len(shop.calls) == 2


@pytest.mark.parametrize("count", range(len(WHOLE.events) + 1))
def test_the_resumed_state_equals_the_one_that_died(count: int) -> None:
    grown = play(model(), stop_after=count).state if count else RunState(Background())
    state = resume(Background(), WHOLE.events[:count])
    if count:
        assert state == grown


EVENTS = [
    *WHOLE.events,
    *play(ScriptedModel(get_order("O-204"), hand_over("x"))).events,
]


@pytest.mark.parametrize("event", EVENTS, ids=event_kind)
def test_an_event_comes_back_from_json_as_it_was(event: object) -> None:
    kind = event_kind(event)  # type: ignore[arg-type]
    assert event_from_json(kind, event_to_json(event)) == event  # type: ignore[arg-type]


@pytest.mark.parametrize("event", EVENTS, ids=event_kind)
def test_a_field_that_this_version_does_not_know_is_passed_over(event: object) -> None:
    kind = event_kind(event)  # type: ignore[arg-type]
    body = {**event_to_json(event), "of_a_later_version": 1}  # type: ignore[arg-type]
    assert event_from_json(kind, body) == event


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", [{}, {"step": 1}, {"at": "soon"}])
def test_a_row_that_holds_no_such_event_is_a_clear_error(
    kind: str, body: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match=f"not a stored {kind} event"):
        event_from_json(kind, body)  # type: ignore[arg-type]


def test_an_unknown_kind_is_a_clear_error() -> None:
    with pytest.raises(ValueError, match="not a stored dream event"):
        event_from_json("dream", {})
