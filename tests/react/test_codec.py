"""What a stored step holds: every event, as it was, quickly, also from older rows."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatbot.react.codec import KINDS, event_from_json, event_kind, event_to_json
from chatbot.react.types import (
    Acted,
    Claim,
    Coverage,
    Form,
    HandOverMode,
    Joined,
    LoopEvent,
    ModelFailed,
    Nudged,
    Observed,
    Refused,
    SentBack,
    Share,
    Slot,
    SlotState,
    Started,
    Stopped,
    StopReason,
    Usage,
)
from chatbot.understanding.needs import Need, Question, Topic
from tools.contracts import Json, Observation, ObservationStatus, ToolCall

TEXT = st.text(st.sampled_from('aZ09 _-\n"\\\u0001é订单单号，🧡'), max_size=12)
COUNT = st.integers(0, 10**6)
AT = st.datetimes(timezones=st.just(UTC))
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(TEXT, JSON, max_size=3)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
SHARES = st.lists(st.builds(Share, TEXT, COUNT, COUNT), max_size=2).map(tuple)
USAGE = st.builds(Usage, COUNT, COUNT, st.booleans(), SHARES)
CALL = st.builds(ToolCall, TEXT, TEXT, ARGUMENTS, TEXT)
QUESTION = st.builds(
    Question,
    TEXT,
    st.sampled_from(["zh", "en"]),
    st.lists(st.sampled_from(Need), max_size=3).map(tuple),
    st.booleans(),
    st.frozensets(st.sampled_from(Topic), max_size=3),
    TEXTS,
    TEXTS,
    st.booleans(),
    TEXTS,
    TEXTS,
    st.booleans(),
)
OBSERVATION = st.builds(
    Observation,
    TEXT,
    TEXT,
    TEXT,
    ARGUMENTS,
    st.sampled_from(ObservationStatus),
    ARGUMENTS,
    AT,
    TEXT,
    TEXT,
    st.booleans(),
    COUNT,
    COUNT,
)
MAYBE = st.none() | TEXT
SLOT = st.builds(
    Slot,
    st.sampled_from(Need),
    MAYBE,
    st.sampled_from(SlotState),
    MAYBE,
    MAYBE,
    JSON,
    st.none() | AT,
    MAYBE,
    TEXT,
    MAYBE,
)
CLAIM = st.builds(Claim, TEXT, st.sampled_from(["date", "place"]), MAYBE, MAYBE, TEXT)
SLOTS = st.lists(SLOT, max_size=2).map(tuple)
CLAIMS = st.lists(CLAIM, max_size=2).map(tuple)
COVERAGE = st.builds(Coverage, SLOTS, CLAIMS, CLAIMS, SLOTS)
EVENTS: dict[type[LoopEvent], st.SearchStrategy[LoopEvent]] = {
    Started: st.builds(Started, QUESTION, TEXT, AT, TEXTS),
    Joined: st.builds(Joined, COUNT, QUESTION, AT),
    Acted: st.builds(Acted, COUNT, CALL, AT, USAGE, COUNT),
    Observed: st.builds(Observed, COUNT, OBSERVATION, AT, st.booleans(), COUNT),
    Refused: st.builds(
        Refused, COUNT, TEXT, TEXT, AT, TEXT, TEXT, st.none() | ARGUMENTS, TEXT, TEXT,
        USAGE, COUNT,
    ),
    SentBack: st.builds(SentBack, COUNT, TEXT, COVERAGE, TEXT, AT, USAGE, COUNT),
    Nudged: st.builds(Nudged, COUNT, TEXT, AT),
    ModelFailed: st.builds(ModelFailed, COUNT, TEXT, AT, USAGE, COUNT),
    Stopped: st.builds(
        Stopped, COUNT, st.sampled_from(StopReason), TEXT, AT, COVERAGE, TEXTS,
        st.sampled_from(HandOverMode), TEXT, st.booleans(), st.none() | CALL, USAGE,
        COUNT, TEXT, st.none() | st.sampled_from(Form),
    ),
}  # fmt: skip


def test_every_event_has_a_kind_and_is_drawn_here() -> None:
    assert set(EVENTS) == set(KINDS.values()) == set(get_args(LoopEvent))


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_comes_back_from_a_row_as_it_was(kind: str) -> None:
    @settings(max_examples=15, deadline=None)
    @given(EVENTS[KINDS[kind]])
    def holds(event: LoopEvent) -> None:
        assert event_kind(event) == kind
        row = json.loads(json.dumps(event_to_json(event)))
        assert event_from_json(kind, row) == event
        assert event_from_json(kind, {**row, "of_a_later_version": 1}) == event

    holds()


@pytest.mark.parametrize("cls", EVENTS, ids=lambda cls: cls.__name__)
def test_a_row_without_the_later_fields_gets_their_defaults(
    cls: type[LoopEvent],
) -> None:
    @settings(max_examples=3, deadline=None)
    @given(EVENTS[cls])
    def holds(event: LoopEvent) -> None:
        required = [f.name for f in fields(cls) if f.default is f.default_factory]
        row = event_to_json(event)
        kept = {name: row[name] for name in required}
        old = event_from_json(event_kind(event), kept)
        for name in required:
            assert getattr(old, name) == getattr(event, name)

    holds()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", [{}, {"step": 1}, {"at": "soon"}])
def test_a_row_that_holds_no_such_event_is_a_clear_error(
    kind: str, body: dict[str, Json]
) -> None:
    with pytest.raises(ValueError, match=f"not a stored {kind} event"):
        event_from_json(kind, body)


def test_an_unknown_kind_is_a_clear_error() -> None:
    with pytest.raises(ValueError, match="not a stored dream event"):
        event_from_json("dream", {})


def test_a_row_is_plain_json_whatever_the_language() -> None:
    at = datetime(2026, 12, 1, tzinfo=UTC)
    row = event_to_json(Nudged(1, "没有新的信息 🧡", at))
    assert row == {"step": 1, "feedback": "没有新的信息 🧡", "at": at.isoformat()}
