"""One reply of a model, taken apart; and the record of a part that was refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chatbot.react.types import (
    Acted,
    FinalAnswer,
    Malformed,
    Proposal,
    Refused,
    Reply,
    RunState,
    TryAgain,
    Usage,
)
from tools.contracts import ToolCall


@dataclass(frozen=True, slots=True)
class Cost:
    """What one model call cost; the first event that comes of it carries it."""

    usage: Usage
    model_ms: int


FREE = Cost(Usage(), 0)


def proposals_of(reply: Reply, state: RunState) -> Sequence[Proposal | Malformed]:
    """The parts of a reply, each call under an id that the run has not seen yet.

    A trace pairs calls with results by their ids, and a model may repeat its own. A
    reply without any part is an empty answer.
    """
    step = state.step + 1
    used = {_call_id(event) for event in state.events}
    proposals: list[Proposal | Malformed] = []
    for index, proposal in enumerate(reply.proposals or (FinalAnswer(""),), start=1):
        own = f"call-{step}-{index}"
        match proposal:
            case ToolCall(id=given) if not given or given in used:
                proposal = replace(proposal, id=own)
            case Malformed(call_id=given) if given in used:
                proposal = replace(proposal, call_id=own)
        used.add(_call_id(proposal))
        proposals.append(proposal)
    return proposals


def _call_id(one: object) -> str:
    match one:
        case ToolCall(id=call_id) | Acted(call=ToolCall(id=call_id)):
            return call_id
        case Malformed(call_id=call_id) | Refused(call_id=call_id):
            return call_id
    return ""


def refused(
    step: int,
    decision: TryAgain,
    proposal: Proposal | Malformed,
    at: datetime,
    cost: Cost,
) -> Refused:
    event = Refused(
        step,
        decision.code,
        decision.feedback,
        at,
        usage=cost.usage,
        model_ms=cost.model_ms,
    )
    match proposal:
        case ToolCall(id=call_id, name=name, arguments=arguments, thought=thought):
            return replace(
                event, call_id=call_id, tool=name, arguments=arguments, thought=thought
            )
        case Malformed(call_id=call_id, name=name, raw_arguments=raw):
            return replace(event, call_id=call_id, tool=name, raw_arguments=raw)
    return event
