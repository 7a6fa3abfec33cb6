"""Loop events as rows of the log and back, without people's data in the trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from chatbot.chat.leases import Claim
from chatbot.chat.models import Step
from chatbot.react import state as known
from chatbot.react.codec import event_from_json, event_kind, event_to_json
from chatbot.react.facts import facts_of
from chatbot.react.types import (
    Acted,
    Joined,
    LoopEvent,
    Observed,
    Refused,
    Started,
)
from chatbot.understanding.needs import Question
from tools.contracts import Json
from tools.redaction import redact_json

NUMBER_KINDS = frozenset({"order_number", "tracking_number", "refund_number"})


def step_row(claim: Claim, event: LoopEvent, *, keep: Iterable[str]) -> Step:
    """The unsaved row of an event; ``keep`` are numbers that redaction may spare."""
    body = redact_json(cast("Json", event_to_json(event)), keep=tuple(keep))
    return Step(
        run_id=claim.run_id,
        conversation_id=claim.conversation_id,
        kind=event_kind(event),
        number=getattr(event, "step", 0),
        tool=_tool(event),
        status=event.observation.status if isinstance(event, Observed) else "",
        body=body,
        created_at=event.at,
    )


def stored_event(step: Step) -> LoopEvent:
    return event_from_json(step.kind, step.body)


def question_of(step: Step) -> Question:
    """What a ``started`` or ``joined`` step says was asked."""
    event = stored_event(step)
    if not isinstance(event, Started | Joined):
        raise ValueError(f"step {step.pk} asks nothing")
    return event.question


def numbers_in(event: LoopEvent) -> set[str]:
    """Order, parcel and refund numbers of an event, as written: no phone, no card."""
    match event:
        case Started(question=question) | Joined(question=question):
            return set(known.numbers_in(question))
        case Acted(call=call):
            # Accepted calls name numbers that the conversation knows.
            ids = (v for name, v in call.arguments.items() if name.endswith("_id"))
            return {value for value in ids if isinstance(value, str)}
        case Observed(observation=observation):
            facts = facts_of(observation)
            return {str(fact.value) for fact in facts if fact.kind in NUMBER_KINDS}
        case _:
            return set()


def _tool(event: LoopEvent) -> str:
    match event:
        case Acted(call=call):
            return call.name[:64]
        case Observed(observation=observation):
            return observation.tool[:64]
        case Refused(tool=tool):
            return tool[:64]
        case _:
            return ""
