"""The ReAct loop: propose, decide, observe, again, until code stops it.

After "ReAct: Synergizing Reasoning and Acting in Language Models" (Yao et al., 2023),
with one difference: the model's word never ends a run, only a decision of code does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias, TypeVar, assert_never

from chatbot.react import state as known
from chatbot.react.decisions import Rules, after_preview, decide, language_of
from chatbot.react.endings import NUDGE, ended
from chatbot.react.model import Model
from chatbot.react.signals import Signals
from chatbot.react.stopping import is_going_nowhere, seconds_left, stop_reason
from chatbot.react.types import (
    Acted,
    Coverage,
    Decision,
    FinalAnswer,
    Joined,
    Limits,
    LoopEvent,
    Malformed,
    ModelError,
    ModelFailed,
    Nudged,
    Observe,
    Observed,
    Proof,
    Proposal,
    Refused,
    RunState,
    SentBack,
    Started,
    Stop,
    Stopped,
    StopReason,
    Suspend,
    TryAgain,
    Usage,
)
from chatbot.understanding.needs import merge_questions, read_question
from tools.contracts import Effect, Observation, ToolCall, ToolSpec

Observer: TypeAlias = Callable[[ToolCall, str], Awaitable[Observation]]
T = TypeVar("T")

# Seconds before a model that failed is asked again, where it named no time itself.
PAUSE_AFTER_FAILURE = 0.5


async def run_react(
    state: RunState,
    *,
    model: Model,
    tools: Sequence[ToolSpec],
    observe: Observer,
    limits: Limits,
    proofs: Sequence[Proof],
    signals: Signals,
    now: Callable[[], datetime],
) -> AsyncIterator[LoopEvent]:
    """Work out one answer, event by event; the last one is ``Stopped``.

    ``state`` is fresh with its ``question`` set, or resumed from stored events: then
    the run goes on after the last of them, and makes only those calls again whose
    result was never stored. Nothing is saved or published here. A ``ToolSpec`` with
    ``Effect.WRITE`` is only previewed; where that says eligible the run is suspended.
    """
    rules = Rules({spec.name: spec for spec in tools}, limits, proofs)
    run = _Run(state, model, observe, rules, signals, now)
    async for event in run.events():
        known.apply(state, event)
        yield event
        if isinstance(event, Stopped):
            return


class _Interrupted(Exception):
    """The run ends in the middle of a turn: stopped from outside, or out of time."""

    def __init__(self, reason: StopReason):
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Cost:
    """What one model call cost; the first event that comes of it carries it."""

    usage: Usage
    model_ms: int


_FREE = _Cost(Usage(), 0)


@dataclass(slots=True)
class _Run:
    state: RunState
    model: Model
    observe: Observer
    rules: Rules
    signals: Signals
    now: Callable[[], datetime]

    async def events(self) -> AsyncIterator[LoopEvent]:
        if self.state.started_at is None:
            question, tools = known.question_of(self.state), tuple(self.rules.tools)
            yield Started(question, self.model.name, self.now(), tools)
        try:
            for call in known.pending_calls(self.state):
                yield await self._observed(self.state.step, call)
                if suspend := self._suspension(call):
                    yield self._stopped(Stop(StopReason.AWAITING_APPROVAL), suspend)
            while (reason := self._stop_reason()) is None:
                if self.signals.messages:
                    yield self._joined()
                if self._goes_nowhere():
                    feedback = NUDGE[language_of(self.state)]
                    yield Nudged(self.state.step, feedback, self.now())
                async for event in self._turn():
                    yield event
        except _Interrupted as interrupted:
            reason = interrupted.reason
        yield self._stopped(Stop(reason))

    async def _turn(self) -> AsyncIterator[LoopEvent]:
        began = self.now()
        try:
            tools = tuple(self.rules.tools.values())
            reply = await self._within(self.model.propose(self.state, tools))
        except ModelError as error:
            at, usage = self.now(), error.usage
            waited = _milliseconds(began, at)
            yield ModelFailed(self.state.step, str(error), at, usage, waited)
            await self._before_asking_again(error)
            return
        step = self.state.step + 1
        cost = _Cost(reply.usage, _milliseconds(began, self.now()))
        proposals = reply.proposals or (FinalAnswer(""),)
        for proposal in _with_unique_ids(proposals, step, self.state):
            alone = len(proposals) == 1
            decision = decide(proposal, self.state, self.rules, alone=alone)
            async for event in self._carry_out(step, decision, proposal, cost):
                yield event
            cost = _FREE

    async def _carry_out(
        self, step: int, decision: Decision, proposal: object, cost: _Cost
    ) -> AsyncIterator[LoopEvent]:
        at, usage, ms = self.now(), cost.usage, cost.model_ms
        match decision:
            case Observe(call=call, earlier=earlier):
                yield Acted(step, call, at, usage, ms)
                yield await self._observed(step, call, earlier)
                if suspend := self._suspension(call):
                    yield self._stopped(Stop(StopReason.AWAITING_APPROVAL), suspend)
            case TryAgain(feedback=feedback, coverage=Coverage() as coverage):
                draft = getattr(proposal, "text", "")
                yield SentBack(step, draft, coverage, feedback, at, usage, ms)
            case TryAgain():
                yield _refused(step, decision, proposal, at, cost)
            case Stop():
                yield self._stopped(decision, step=step, cost=cost)
            case Suspend():
                yield self._stopped(
                    Stop(StopReason.AWAITING_APPROVAL), decision, step=step, cost=cost
                )
            case _:
                assert_never(decision)

    async def _observed(
        self, step: int, call: ToolCall, earlier: Observation | None = None
    ) -> Observed:
        if earlier is not None:
            again = replace(earlier, call_id=call.id)
            return Observed(step, again, self.now(), repeated=True)
        number = len(known.observations(self.state)) + 1
        observation = await self._within(self.observe(call, f"obs-{number}"))
        news = known.news_in(self.state, observation)
        return Observed(step, observation, self.now(), new_facts=news)

    def _suspension(self, call: ToolCall) -> Suspend | None:
        """Asked right after the call's result was taken in."""
        spec = self.rules.tools.get(call.name)
        if spec is None or spec.effect is not Effect.WRITE:
            return None
        return after_preview(call, known.observations(self.state)[-1])

    def _joined(self) -> Joined:
        """One question of the one that is being answered and all that came since."""
        questions = [known.question_of(self.state)]
        while self.signals.messages:
            text = self.signals.messages.popleft()
            earlier = (*self.state.background.earlier_questions, *questions)
            questions.append(read_question(text, earlier=earlier))
        return Joined(self.state.step, merge_questions(questions), self.now())

    def _stop_reason(self) -> StopReason | None:
        return stop_reason(
            self.state, self.rules.limits, now=self.now(), signals=self.signals
        )

    def _goes_nowhere(self) -> bool:
        return not known.nudged(self.state) and is_going_nowhere(
            self.state, self.rules.limits
        )

    def _stopped(
        self,
        stop: Stop,
        suspend: Suspend | None = None,
        *,
        step: int | None = None,
        cost: _Cost = _FREE,
    ) -> Stopped:
        return ended(
            stop,
            self.state,
            self.rules,
            step=self.state.step if step is None else step,
            at=self.now(),
            request=suspend.call if suspend else None,
            usage=cost.usage,
            model_ms=cost.model_ms,
        )

    async def _within(self, work: Awaitable[T]) -> T:
        """Await under the rest of the run's time, and under the stop button."""
        left = seconds_left(self.state, self.rules.limits, now=self.now())
        scope: asyncio.Timeout | None = None
        try:
            async with self.signals.at_most(left) as scope:
                return await work
        except TimeoutError:
            if scope is not None and scope.expired():
                reason = self.signals.reason or StopReason.TIME_LIMIT
                raise _Interrupted(reason) from None
            raise

    async def _before_asking_again(self, error: ModelError) -> None:
        if not error.retryable:
            raise _Interrupted(StopReason.MODEL_ERROR)
        pause = PAUSE_AFTER_FAILURE if error.retry_after is None else error.retry_after
        if self._stop_reason() is None:
            await self._within(asyncio.sleep(pause))


def _with_unique_ids(
    proposals: Sequence[Proposal | Malformed], step: int, state: RunState
) -> list[Proposal | Malformed]:
    """Some endpoints number the calls of each reply from zero; a run needs its own."""
    used = {e.call.id for e in state.events if isinstance(e, Acted)}
    unique: list[Proposal | Malformed] = []
    for index, proposal in enumerate(proposals):
        if isinstance(proposal, ToolCall):
            if not proposal.id or proposal.id in used:
                proposal = replace(proposal, id=f"call-{step}-{index}")
            used.add(proposal.id)
        unique.append(proposal)
    return unique


def _refused(
    step: int, decision: TryAgain, proposal: object, at: datetime, cost: _Cost
) -> Refused:
    call = decision.call
    return Refused(
        step,
        decision.code,
        decision.feedback,
        at,
        call_id=call.id if call else getattr(proposal, "call_id", ""),
        tool=call.name if call else getattr(proposal, "name", ""),
        arguments=call.arguments if call else None,
        raw_arguments=getattr(proposal, "raw_arguments", ""),
        thought=call.thought if call else "",
        usage=cost.usage,
        model_ms=cost.model_ms,
    )


def _milliseconds(began: datetime, ended_at: datetime) -> int:
    return round((ended_at - began).total_seconds() * 1000)
