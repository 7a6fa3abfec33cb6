"""Recorded runs and requests, played again by the present code with effects off.

The model is replaced by its recorded replies and the shop by its recorded results, so
what differs was decided by code. Nothing here can reach a tool: a call whose result was
not recorded is itself a difference.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from chatbot.assistant.wiring import RunParts, build_run
from chatbot.chat.models import Run, RunPhase
from chatbot.chat.rebuild import rebuild_run
from chatbot.chat.stored import stored_event
from chatbot.react import state as known
from chatbot.react.codec import event_kind
from chatbot.react.loop import run_react
from chatbot.react.signals import Signals
from chatbot.react.types import (
    Acted,
    AskCustomer,
    FinalAnswer,
    HandOver,
    Joined,
    LoopEvent,
    Malformed,
    ModelError,
    ModelFailed,
    Observed,
    Proposal,
    Refused,
    Reply,
    RunState,
    SentBack,
    Started,
    Stopped,
    StopReason,
)
from chatbot.workflow.models import Event
from tools.actions.states import MOVES, RequestState
from tools.contracts import Observation, ToolCall, ToolSpec
from tools.models import ActionRequest

# Ends that came from outside the loop: nothing recorded says when.
_FROM_OUTSIDE = frozenset(
    {
        StopReason.CANCELLED,
        StopReason.TIME_LIMIT,
        StopReason.INTERNAL_ERROR,
        StopReason.BUDGET_LIMIT,
    }
)

Summary: TypeAlias = tuple[str, ...]


class NotRecorded(Exception):
    """The present code wants something that the recorded run never had."""


@dataclass(slots=True)
class Report:
    """What a replay came to; ``differ`` and ``skipped`` have one line for each."""

    same: int = 0
    differ: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


# ---- runs


def replay_runs(*, limit: int, only: UUID | None = None) -> Report:
    """The newest stopped runs, each against its own recording."""
    report = Report()
    runs = Run.objects.filter(phase=RunPhase.STOPPED).order_by("-created_at")
    if only is not None:
        runs = runs.filter(pk=only)
    for run in runs[:limit]:
        basis = rebuild_run(run.pk)
        events = [stored_event(step) for step in run.steps.order_by("seq")]
        reason = _cannot_replay(events)
        if basis is None or reason:
            report.skipped.append(f"run {run.pk}: {reason or 'nobody asked anything'}")
            continue
        parts = build_run(
            actor=basis.actor, background=basis.state.background, model_name="offline"
        )
        recorded = known.resume(basis.state.background, events)
        again = asyncio.run(_play(recorded, parts))
        if difference := _first_difference(events, again):
            report.differ.append(f"run {run.pk}: {difference}")
        else:
            report.same += 1
    return report


def _cannot_replay(events: Sequence[LoopEvent]) -> str:
    match events:
        case [Started(), *_, Stopped(reason=reason)] if reason in _FROM_OUTSIDE:
            return f"ended from outside ({reason})"
        case [Started(), *earlier, Stopped(reason=StopReason.REPEATED_ACTION) as end]:
            last = max((getattr(event, "step", 0) for event in earlier), default=0)
            return "its last reply was not stored" if end.step > last else ""
        case [Started(), *_, Stopped()]:
            joined = any(isinstance(event, Joined) for event in events)
            return "another message joined it" if joined else ""
        case _:
            return "its recording is not whole"


async def _play(recorded: RunState, parts: RunParts) -> list[LoopEvent]:
    again: list[LoopEvent] = []
    events = recorded.events
    results = {
        event.observation.call_id: event.observation
        for event in events
        if isinstance(event, Observed) and not event.repeated
    }

    async def observe(call: ToolCall, observation_id: str) -> Observation:
        if call.id not in results:
            raise NotRecorded(f"a call of {call.name} that was not made")
        return results[call.id]

    def now() -> datetime:
        return events[min(len(again), len(events) - 1)].at

    fresh = RunState(recorded.background, question=recorded.question)
    played = run_react(
        fresh,
        model=_RecordedModel(events),
        tools=parts.tools,
        observe=observe,
        limits=parts.limits,
        proofs=parts.proofs,
        signals=Signals(),
        now=now,
        secrets=parts.secrets,
    )
    try:
        async with aclosing(played):  # type: ignore[type-var]
            async for event in played:
                again.append(event)
    except NotRecorded as wish:
        end = Stopped(0, StopReason.INTERNAL_ERROR, str(wish), events[-1].at)
        again.append(end)
    return again


class _RecordedModel:
    """Gives the replies of a recorded run again, in order."""

    def __init__(self, events: Sequence[LoopEvent]) -> None:
        started = events[0]
        self.name = started.model if isinstance(started, Started) else ""
        self._replies = list(_replies(events))

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        if not self._replies:
            raise NotRecorded("another reply of the model")
        reply = self._replies.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        return reply


def _replies(events: Sequence[LoopEvent]) -> Iterator[Reply | ModelError]:
    steps: dict[int, list[LoopEvent]] = {}
    for event in events:
        if isinstance(event, ModelFailed):
            yield from _as_replies(steps)
            steps = {}
            # The last one ended the run: it was not asked again.
            again = event is not events[-2]
            yield ModelError(event.problem, retryable=again, retry_after=0)
        elif isinstance(event, Stopped) and event.reason is StopReason.MODEL_ERROR:
            return
        elif isinstance(event, Acted | Refused | SentBack | Stopped):
            steps.setdefault(event.step, []).append(event)
    yield from _as_replies(steps)


def _as_replies(steps: Mapping[int, Sequence[LoopEvent]]) -> Iterator[Reply]:
    for made in steps.values():
        # An end that code made has the step before it: it is no reply of the model's.
        own = [one for one in made if not isinstance(one, Stopped) or len(made) == 1]
        yield Reply(tuple(_proposal(event) for event in own))


def _proposal(event: LoopEvent) -> Proposal | Malformed:
    match event:
        case Acted(call=call):
            return call
        case Refused(arguments=None) as refused:
            return Malformed(
                refused.feedback, refused.call_id, refused.tool, refused.raw_arguments
            )
        case Refused(arguments=arguments) as refused:
            return ToolCall(
                refused.call_id, refused.tool, arguments or {}, refused.thought
            )
        case SentBack(draft=draft):
            return FinalAnswer(draft)
        case Stopped(reason=StopReason.NEEDS_CUSTOMER, answer=text, options=options):
            return AskCustomer(text, options)
        case Stopped(reason=StopReason.HANDED_OVER, hand_over_reason=reason):
            return HandOver(reason)
        case Stopped(answer=text):
            return FinalAnswer(text)
        case _:
            raise ValueError(f"no proposal in {event_kind(event)}")


def _first_difference(then: Sequence[LoopEvent], now: Sequence[LoopEvent]) -> str:
    before, after = [_summary(e) for e in then], [_summary(e) for e in now]
    for place, (one, other) in enumerate(zip(before, after, strict=False), start=1):
        if one != other:
            return f"event {place}: {' '.join(one)} -> {' '.join(other)}"
    if len(before) != len(after):
        return f"{len(before)} events -> {len(after)}"
    return ""


def _summary(event: LoopEvent) -> Summary:
    kind = event_kind(event)
    match event:
        case Acted(call=call):
            return kind, call.name, str(sorted(call.arguments.items()))
        case Observed(observation=seen, repeated=repeated):
            return kind, seen.tool, seen.status, "again" if repeated else ""
        case Refused(code=code, tool=tool):
            return kind, code, tool
        case Stopped(reason=reason, answer=answer):
            # What a person was offered beside it is told by the reason.
            return kind, reason, "" if reason is StopReason.HANDED_OVER else answer
        case _:
            return (kind,)


# ---- requests

_REACHED: Mapping[str, RequestState] = {
    "action.proposed": RequestState.PROPOSED,
    "action.amended": RequestState.PROPOSED,
    "action.confirmed": RequestState.CONFIRMED,
    "action.approved": RequestState.APPROVED,
    "action.declined": RequestState.DECLINED,
    "action.withdrawn": RequestState.WITHDRAWN,
    "action.expired": RequestState.EXPIRED,
    "action.resolved": RequestState.RESOLVED,
}
# What is in hand brings no event before it ends.
_IN_HAND = frozenset({RequestState.EXECUTING, RequestState.RETRY_WAIT})


def replay_requests(*, limit: int) -> Report:
    """The state of each request, worked out from its events alone."""
    report = Report()
    newest = ActionRequest.objects.order_by("-created_at")
    for request in newest[:limit]:
        events = Event.objects.filter(
            name__startswith="action.", ids__request=str(request.pk)
        )
        state, problem = _folded(list(events.order_by("pk")))
        now = RequestState(request.state)
        if not problem and _as_told(now) != state:
            problem = f"its events say {state or 'nothing'}, its row says {now}"
        if problem:
            report.differ.append(f"request {request.pk}: {problem}")
        else:
            report.same += 1
    return report


def _as_told(state: RequestState) -> RequestState:
    return RequestState.APPROVED if state in _IN_HAND else state


def _folded(events: Sequence[Event]) -> tuple[RequestState | None, str]:
    state: RequestState | None = None
    for event in events:
        told = str(event.ids.get("state", ""))
        to = _REACHED.get(event.name) or RequestState(told)
        if state is not None and not _reachable(state, to):
            return state, f"{event.name} after {state}"
        state = to
    return state, ""


def _reachable(start: RequestState, to: RequestState) -> bool:
    """Whether a move leads there, with executions in between told by no event."""
    moves = set(MOVES[start])
    if RequestState.EXECUTING in moves:
        moves |= MOVES[RequestState.EXECUTING]
    return to in moves
