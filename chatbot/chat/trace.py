"""A run as a timeline for staff: every stored event, in order, in readable parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from chatbot.chat.models import Run, Step

Body: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """One labelled piece of an event. ``label`` is a word's key; ``code`` is JSON."""

    label: str
    text: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class SlotLine:
    """One need of the question in a verdict: filled, or why not."""

    need: str
    order: str
    state: str
    detail: str


@dataclass(frozen=True, slots=True)
class TraceEvent:
    kind: str
    number: int
    at: datetime
    after_ms: int
    tool: str
    status: str
    headline: str
    tokens: int
    model_ms: int
    duration_ms: int
    parts: tuple[Part, ...]
    slots: tuple[SlotLine, ...]
    unsupported: tuple[str, ...]


def timeline(run: Run, *, with_text: bool) -> list[TraceEvent]:
    """The run's events, oldest first; ``with_text`` shows what people wrote."""
    begun = run.started_at or run.created_at
    steps = run.steps.order_by("seq")
    return [_event(step, begun, with_text=with_text) for step in steps]


def _event(step: Step, begun: datetime, *, with_text: bool) -> TraceEvent:
    body: Body = step.body
    usage = body.get("usage") or {}
    coverage = body.get("coverage") or {}
    observation = body.get("observation") or {}
    parts = _PARTS.get(step.kind, _unknown)(body)
    return TraceEvent(
        kind=step.kind,
        number=step.number,
        at=step.created_at,
        after_ms=round((step.created_at - begun).total_seconds() * 1000),
        tool=step.tool,
        status=step.status or str(body.get("reason") or body.get("code") or ""),
        headline=_headline(step, body),
        tokens=usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0),
        model_ms=body.get("model_ms", 0),
        duration_ms=observation.get("duration_ms", 0),
        parts=tuple(_visible(parts, with_text=with_text)),
        slots=tuple(_slots(coverage.get("slots") or ())),
        unsupported=tuple(_unsupported(coverage, with_text=with_text)),
    )


def _visible(parts: Iterable[Part], *, with_text: bool) -> Iterator[Part]:
    for part in parts:
        if part.text or part.code:
            if part.label in _PEOPLES_WORDS and not with_text:
                yield Part(part.label, text="•••")
            else:
                yield part


# What customers and the assistant wrote; operators do not read it.
_PEOPLES_WORDS = {
    "trace_question",
    "trace_draft",
    "trace_answer",
    "trace_feedback",
    "trace_note",
    "trace_hand_over_reason",
}


def _headline(step: Step, body: Body) -> str:
    if step.kind != "acted":
        return ""
    call = body.get("call") or {}
    values = (call.get("arguments") or {}).values()
    return " ".join(str(value) for value in values if isinstance(value, str | int))


def _started(body: Body) -> Iterator[Part]:
    question = body.get("question") or {}
    yield Part("trace_question", text=str(question.get("text", "")))
    yield Part("trace_needs", text=", ".join(question.get("needs") or ()))
    numbers = [
        *_strings(question, "order_numbers"),
        *_strings(question, "tracking_numbers"),
    ]
    yield Part("trace_numbers", text=", ".join(numbers))
    yield Part("trace_tools", text=", ".join(body.get("tools") or ()))


def _acted(body: Body) -> Iterator[Part]:
    call = body.get("call") or {}
    yield Part("trace_note", text=str(call.get("thought", "")))
    yield Part("trace_arguments", code=_json(call.get("arguments")))


def _observed(body: Body) -> Iterator[Part]:
    observation = body.get("observation") or {}
    yield Part("trace_message", text=str(observation.get("message", "")))
    yield Part("trace_fields", code=_json(observation.get("fields")))
    yield Part("trace_source", text=str(observation.get("source", "")))
    yield Part("trace_observed_at", text=str(observation.get("observed_at", "")))
    if body.get("repeated"):
        yield Part("trace_repeated", text=str(observation.get("id", "")))


def _refused(body: Body) -> Iterator[Part]:
    yield Part("trace_note", text=str(body.get("thought", "")))
    yield Part("trace_arguments", code=_json(body.get("arguments")))
    yield Part("trace_raw", text=str(body.get("raw_arguments", "")))
    yield Part("trace_why", text=str(body.get("feedback", "")))


def _sent_back(body: Body) -> Iterator[Part]:
    yield Part("trace_draft", text=str(body.get("draft", "")))
    # The feedback repeats what the draft said.
    yield Part("trace_feedback", text=str(body.get("feedback", "")))


def _nudged(body: Body) -> Iterator[Part]:
    yield Part("trace_why", text=str(body.get("feedback", "")))


def _model_failed(body: Body) -> Iterator[Part]:
    yield Part("trace_why", text=str(body.get("problem", "")))


def _stopped(body: Body) -> Iterator[Part]:
    yield Part("trace_answer", text=str(body.get("answer", "")))
    yield Part("trace_options", text=" · ".join(body.get("options") or ()))
    yield Part("trace_hand_over_reason", text=str(body.get("hand_over_reason", "")))
    yield Part("trace_why", text=str(body.get("problem", "")))


def _unknown(body: Body) -> Iterator[Part]:
    yield Part("trace_fields", code=_json(body))


_PARTS: Mapping[str, Callable[[Body], Iterator[Part]]] = {
    "started": _started,
    "joined": _started,
    "acted": _acted,
    "observed": _observed,
    "refused": _refused,
    "sent_back": _sent_back,
    "nudged": _nudged,
    "model_failed": _model_failed,
    "stopped": _stopped,
}


def _slots(slots: Iterable[Body]) -> Iterator[SlotLine]:
    for slot in slots:
        filled = slot.get("state") == "filled"
        proof = (
            f"{slot.get('observation_id')} · {slot.get('path')} = {slot.get('value')}"
        )
        yield SlotLine(
            need=str(slot.get("need", "")),
            order=str(slot.get("order") or ""),
            state=str(slot.get("state", "")),
            detail=proof if filled else str(slot.get("why", "")),
        )


def _unsupported(coverage: Body, *, with_text: bool) -> Iterator[str]:
    for claim in coverage.get("unsupported") or ():
        text = f": {claim.get('text', '')}" if with_text else ""
        yield f"{claim.get('kind', '')}{text} ({claim.get('why') or 'unproved'})"


def _strings(body: Body, name: str) -> list[str]:
    return [str(item) for item in body.get(name) or ()]


def _json(value: Any) -> str:
    if not value:
        return ""
    return json.dumps(value, ensure_ascii=False, indent=2)
