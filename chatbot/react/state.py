"""What the loop knows, as a fold of its events: how it grows and what it adds up to.

Everything here is derived from ``RunState.events``, so that a run that is resumed from
its stored events decides exactly as the run that died would have.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from chatbot.react.facts import facts_of, new_facts
from chatbot.react.types import (
    Acted,
    Background,
    Joined,
    LoopEvent,
    ModelFailed,
    Nudged,
    Observed,
    Refused,
    RunState,
    SentBack,
    Started,
    Stopped,
)
from chatbot.understanding.needs import Language, Question
from tools.contracts import (
    Json,
    Observation,
    ObservationStatus,
    ToolCall,
    canonical_number,
)

CallKey = tuple[str, tuple[tuple[str, Json], ...]]


def apply(state: RunState, event: LoopEvent) -> None:
    """Take in one event: the only way in which a state changes."""
    state.events.append(event)
    match event:
        case Started(question=question, at=at):
            state.question, state.started_at = question, at
        case Joined(question=question):
            state.question = question
        case _:
            state.step = max(state.step, event.step)


def resume(background: Background, events: Iterable[LoopEvent]) -> RunState:
    """The state that the process had which stored these events."""
    state = RunState(background)
    for event in events:
        apply(state, event)
    return state


# ---- what it adds up to


def question_of(state: RunState) -> Question:
    if state.question is None:
        raise ValueError("the run has no question yet")
    return state.question


def has_stopped(state: RunState) -> bool:
    return any(isinstance(event, Stopped) for event in state.events[-1:])


def language_of(state: RunState) -> Language:
    return state.question.language if state.question else state.background.language


def observations(state: RunState) -> list[Observation]:
    """Each real result once, oldest first; a result given back again is no new one."""
    return [
        event.observation
        for event in state.events
        if isinstance(event, Observed) and not event.repeated
    ]


def tokens_used(state: RunState) -> int:
    return sum(
        event.usage.total
        for event in state.events
        if isinstance(event, Acted | Refused | SentBack | ModelFailed | Stopped)
    )


def model_calls(state: RunState) -> int:
    """Calls that brought a reply, one a step, and calls that failed."""
    replied = {
        event.step
        for event in state.events
        if isinstance(event, Acted | Refused | SentBack)
    }
    return len(replied) + sum(isinstance(e, ModelFailed) for e in state.events)


def failures_in_a_row(state: RunState) -> int:
    count = 0
    for event in reversed(state.events):
        if isinstance(event, Acted | Refused | SentBack):
            break
        count += isinstance(event, ModelFailed)
    return count


def tool_calls(state: RunState) -> int:
    return len(observations(state))


def refusals(state: RunState) -> int:
    return sum(isinstance(event, Refused) for event in state.events)


def sent_back(state: RunState) -> list[SentBack]:
    return [event for event in state.events if isinstance(event, SentBack)]


def nudged(state: RunState) -> bool:
    return any(isinstance(event, Nudged) for event in state.events)


def observed_since_nudge(state: RunState) -> bool:
    seen = False
    for event in reversed(state.events):
        if isinstance(event, Nudged):
            return seen
        seen = seen or isinstance(event, Observed)
    return False


def without_new_fact(state: RunState) -> int:
    """How many of the latest observations in a row brought nothing new."""
    count = 0
    for event in reversed(state.events):
        if isinstance(event, Observed):
            if event.new_facts:
                break
            count += 1
    return count


def news_in(state: RunState, observation: Observation) -> int:
    """How much of an observation no earlier one held.

    A failure, or "not found", is news about a number that the customer named; about
    anything else it is none.
    """
    earlier = observations(state)
    if observation.status is not ObservationStatus.OK:
        known = any(
            one.status is observation.status and same_call(one, observation)
            for one in earlier
        )
        return int(not known and _is_about_a_named_number(state, observation))
    return len(new_facts(observation, earlier))


def pending_calls(state: RunState) -> list[ToolCall]:
    """Calls that were accepted and whose result was never stored."""
    seen = {e.observation.call_id for e in state.events if isinstance(e, Observed)}
    return [
        event.call
        for event in state.events
        if isinstance(event, Acted) and event.call.id not in seen
    ]


def call_of(state: RunState, call_id: str) -> ToolCall:
    """The accepted call with this id."""
    for event in reversed(state.events):
        if isinstance(event, Acted) and event.call.id == call_id:
            return event.call
    raise LookupError(call_id)


def _is_about_a_named_number(state: RunState, observation: Observation) -> bool:
    if state.question is None:
        return False
    named = {canonical_number(number) for number in numbers_in(state.question)}
    asked = (canonical_number(str(value)) for value in observation.arguments.values())
    return not named.isdisjoint(asked)


def numbers_in(question: Question) -> tuple[str, ...]:
    return (*question.order_numbers, *question.tracking_numbers, *question.bare_numbers)


# ---- calls that are the same call


def call_key(name: str, arguments: Mapping[str, Json]) -> CallKey:
    """Equal for two spellings of one call: key order, width, case and spaces aside."""
    return name, tuple(
        sorted((key, _plain(key, value)) for key, value in arguments.items())
    )


def same_call(one: Observation, other: Observation) -> bool:
    return call_key(one.tool, one.arguments) == call_key(other.tool, other.arguments)


def first_result(state: RunState, call: ToolCall) -> Observation | None:
    """What this call brought the first time, if it was made before."""
    return next(iter(earlier_results(state, call)), None)


def earlier_results(state: RunState, call: ToolCall) -> list[Observation]:
    """What this call brought before, given back or real, oldest first."""
    key = call_key(call.name, call.arguments)
    return [
        event.observation
        for event in state.events
        if isinstance(event, Observed)
        and call_key(event.observation.tool, event.observation.arguments) == key
    ]


def _plain(name: str, value: Json) -> Json:
    if not isinstance(value, str):
        return repr(value)
    if name.endswith("_id"):
        return canonical_number(value)
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())


# ---- numbers that may be asked about


def numbers_seen(state: RunState) -> Iterator[str]:
    """Order, tracking and refund numbers of this run's observations, as written."""
    for observation in observations(state):
        for fact in facts_of(observation):
            if fact.kind in ("order_number", "tracking_number", "refund_number"):
                yield str(fact.value)


def known_numbers(state: RunState) -> frozenset[str]:
    """Canonical numbers that an observation of this conversation held."""
    seen = (canonical_number(number) for number in numbers_seen(state))
    return state.background.known_numbers.union(seen)
