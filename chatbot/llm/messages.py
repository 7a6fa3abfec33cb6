"""A run's state as chat messages.

The list is rebuilt from the events for every call and only grows at its end (until the
observation window moves), so that providers can reuse their work on the beginning. A
call is always followed by its result: an exchange is one thing here and never split.
The actor is not in reach of this module, and so never in a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import orjson

from chatbot.llm.observations import observation_text
from chatbot.llm.words import Words, words_for
from chatbot.react.types import (
    Acted,
    Background,
    Nudged,
    Observed,
    Refused,
    RunState,
    SentBack,
    Turn,
)
from chatbot.understanding.needs import Need, Question
from chatbot.understanding.references import resolve_orders
from tools.contracts import Json, ToolCall
from tools.redaction import redact

MAX_TURNS = 20
_ABOUT_AN_ORDER = frozenset(Need) - {
    Need.POLICY,
    Need.INVOICE,
    Need.RETURN,
    Need.HUMAN,
    Need.NONE,
}
MAX_TURN_CHARACTERS = 2000

Message: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call and what came of it."""

    call: ToolCall
    result: str


@dataclass(frozen=True, slots=True)
class Note:
    """What code has to say to the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer of the model that was sent back."""

    text: str


Entry: TypeAlias = Exchange | Note | Draft


def entries(state: RunState, *, window: int, max_bytes: int) -> Iterator[Entry]:
    """What happened in this run, in order, as the model is told it.

    Of the newest ``window`` observations all is shown, at most ``max_bytes`` each;
    older ones are reduced to their facts. A call that was accepted but whose result was
    never stored is left out.
    """
    language = _question(state).language
    words = words_for(language)
    calls = {e.call.id: e.call for e in state.events if isinstance(e, Acted)}
    observed = [e for e in state.events if isinstance(e, Observed)]
    full = {id(event) for event in observed[-window:]}
    done: list[str] = []
    for event in state.events:
        match event:
            case Observed(observation=observation):
                call = calls.get(observation.call_id) or ToolCall(
                    observation.call_id, observation.tool, observation.arguments
                )
                shown = _shown(call)
                if shown not in done:
                    done.append(shown)
                text = observation_text(
                    observation,
                    language=language,
                    time_zone=state.background.time_zone,
                    max_bytes=max_bytes,
                    facts_only=id(event) not in full,
                )
                if event.repeated:
                    text = f"{words.repeated}\n{text}"
                yield Exchange(call, f"{text}\n{words.done.format(', '.join(done))}")
            case Refused():
                yield _refusal(event, words)
            case SentBack(draft=draft, feedback=feedback):
                yield Draft(draft)
                yield Note(words.check.format(feedback))
            case Nudged(feedback=feedback):
                yield Note(words.check.format(feedback))
            case _:
                pass


def chat_messages(
    state: RunState,
    *,
    instructions: str,
    window: int,
    max_bytes: int,
    reasoning: Mapping[str, str] | None = None,
) -> list[Message]:
    """The messages of one model call, for an endpoint with native function calls.

    ``reasoning`` by call id goes back to endpoints that want it; None to all others.
    """
    messages = opening(state, instructions)
    for entry in entries(state, window=window, max_bytes=max_bytes):
        match entry:
            case Exchange(call, result):
                messages.append(
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": call.id,
                                "type": "function",
                                "function": {
                                    "name": call.name,
                                    "arguments": _encoded(call),
                                },
                            }
                        ],
                    }
                )
                messages.append(
                    {"role": "tool", "tool_call_id": call.id, "content": result}
                )
            case Draft(text):
                append(messages, "assistant", text)
            case Note(text):
                append(messages, "user", text)
    if reasoning is not None:
        _send_back(reasoning, messages)
    return messages


def _send_back(reasoning: Mapping[str, str], messages: list[Message]) -> None:
    for message in messages:
        if message["role"] != "assistant":
            continue
        calls = message.get("tool_calls")
        call_id = calls[0]["id"] if isinstance(calls, list) else ""
        # Endpoints that want the field refuse it when it is missing or empty.
        message["reasoning_content"] = reasoning.get(call_id) or " "


def opening(state: RunState, instructions: str) -> list[Message]:
    """Instructions, the conversation so far, the question and what it asks."""
    question = _question(state)
    messages: list[Message] = [{"role": "system", "content": instructions}]
    keep = _numbers(question, *state.background.earlier_questions)
    keep |= state.background.known_numbers
    for turn in state.background.turns[-MAX_TURNS:]:
        _append_turn(messages, turn, keep)
    append(messages, "user", _without_people(question.text, keep))
    if checklist := _checklist(question, state.background):
        append(messages, "user", checklist)
    return messages


def append(
    messages: list[Message], role: Literal["user", "assistant"], text: str
) -> None:
    """Add a text; to the last message where the role is the same.

    Some endpoints refuse two messages of one role in a row.
    """
    last = messages[-1]
    if last["role"] == role and "tool_calls" not in last:
        last["content"] = f"{last['content']}\n\n{text}"
    else:
        messages.append({"role": role, "content": text})


def arguments_with_thought(call: ToolCall) -> Mapping[str, Json]:
    return (
        {**call.arguments, "thought": call.thought} if call.thought else call.arguments
    )


def _numbers(*questions: Question) -> frozenset[str]:
    return frozenset(
        number
        for one in questions
        for number in (*one.order_numbers, *one.tracking_numbers, *one.bare_numbers)
    )


@lru_cache(maxsize=1024)
def _without_people(text: str, keep: frozenset[str]) -> str:
    """The text without phones, addresses and secrets: no vendor needs them."""
    return redact(text, keep=keep)


def _append_turn(messages: list[Message], turn: Turn, keep: frozenset[str]) -> None:
    text = _without_people(turn.text[:MAX_TURN_CHARACTERS], keep)
    if turn.speaker == "customer":
        append(messages, "user", text)
    elif turn.speaker == "assistant":
        append(messages, "assistant", text)
    else:
        append(messages, "assistant", f"[staff] {text}")


def _refusal(event: Refused, words: Words) -> Entry:
    """A refused call with its reason as the result; a note where nothing can be echoed.

    Endpoints parse the arguments of earlier calls again, so that those which could not
    be read must not be sent back to them.
    """
    reason = words.refused.format(event.feedback)
    if event.tool and event.arguments is not None and event.call_id:
        call = ToolCall(event.call_id, event.tool, event.arguments, event.thought)
        return Exchange(call, reason)
    return Note(words.check.format(reason))


def _checklist(question: Question, background: Background) -> str:
    """What code found in the question, so that nothing asked is forgotten."""
    words = words_for(question.language)
    asked = [words.needs[need] for need in question.needs if need is not Need.NONE]
    if not asked:
        return ""
    orders = question.order_numbers
    if not orders and not question.tracking_numbers:
        guest, earlier = background.guest, background.earlier_questions
        orders = guest.verified if guest else resolve_orders(question, earlier=earlier)
    numbers = (*orders, *question.tracking_numbers)
    about = ""
    if numbers:
        about = words.about.format(", ".join(numbers))
    elif _ABOUT_AN_ORDER & set(question.needs):
        about = words.about_none
    return words.checklist.format(words.comma.join(asked), about).strip()


def _shown(call: ToolCall) -> str:
    return f"{call.name}({', '.join(str(value) for value in call.arguments.values())})"


def _encoded(call: ToolCall) -> str:
    return orjson.dumps(arguments_with_thought(call)).decode()


def _question(state: RunState) -> Question:
    if state.question is None:
        raise ValueError("the run has no question yet")
    return state.question
