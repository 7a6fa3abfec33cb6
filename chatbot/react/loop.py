"""The ReAct loop: propose, decide, observe, again, until code stops it.

After "ReAct: Synergizing Reasoning and Acting in Language Models" (Yao et al., 2023),
with one difference: the model's word never ends a run, only a decision of code does.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ParamSpec, TypeAlias, TypeVar, assert_never

from chatbot.react import state as known
from chatbot.react.decisions import decide, suspension
from chatbot.react.endings import NUDGE, ended
from chatbot.react.guests import ask_back
from chatbot.react.model import Model
from chatbot.react.replies import FREE, Cost, proposals_of, refused
from chatbot.react.signals import Interrupted, Signals
from chatbot.react.stopping import (
    needs_nudge,
    refused_too_often,
    seconds_left,
    stop_reason,
)
from chatbot.react.types import (
    Acted,
    Coverage,
    Decision,
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
    Rules,
    RunState,
    SentBack,
    Started,
    Stop,
    Stopped,
    StopReason,
    Suspend,
    TryAgain,
)
from chatbot.understanding.needs import merge_questions, read_question
from tools.contracts import Observation, ToolCall, ToolSpec

Observer: TypeAlias = Callable[[ToolCall, str], Awaitable[Observation]]
P = ParamSpec("P")
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
    secrets: Sequence[str] = (),
) -> AsyncIterator[LoopEvent]:
    """Work out one answer, event by event; the last one is ``Stopped``.

    ``state`` is fresh with its ``question`` set, or resumed from stored events: then
    the run goes on after the last of them, and makes only those calls again whose
    result was never stored. Nothing is saved or published here. Of a ``ToolSpec`` with
    ``Effect.WRITE`` the observer gives a preview; where that says eligible the run is
    suspended. Of ``secrets`` no part is repeated to the customer.
    """
    rules = Rules({spec.name: spec for spec in tools}, limits, proofs, secrets)
    run = _Run(state, model, observe, rules, signals, now)
    async with aclosing(run.events()) as events:
        async for event in events:
            known.apply(state, event)
            yield event
            if isinstance(event, Stopped):
                return


@dataclass(slots=True)
class _Run:
    state: RunState
    model: Model
    observe: Observer
    rules: Rules
    signals: Signals
    now: Callable[[], datetime]

    async def events(self) -> AsyncGenerator[LoopEvent, None]:
        state = self.state
        if known.has_stopped(state):
            return
        if state.started_at is None:
            tools = tuple(self.rules.tools)
            yield Started(known.question_of(state), self.model.name, self.now(), tools)
        end: Stop | Suspend | None
        try:
            for call in known.pending_calls(state):
                yield await self._observed(call, known.first_result(state, call))
            while (end := self._end()) is None:
                if self.signals.messages:
                    yield self._joined()
                if needs_nudge(state, self.rules.limits):
                    yield Nudged(
                        state.step, NUDGE[known.language_of(state)], self.now()
                    )
                async with aclosing(self._turn()) as turn:
                    async for event in turn:
                        yield event
        except Interrupted as interrupted:
            end = Stop(interrupted.reason)
        yield self._stopped(state.step, end)

    async def _turn(self) -> AsyncGenerator[LoopEvent, None]:
        began = self.now()
        try:
            tools = tuple(self.rules.tools.values())
            reply = await self._within_limits(self.model.propose, self.state, tools)
        except ModelError as error:
            cost = Cost(error.usage, self._milliseconds_since(began))
            yield ModelFailed(
                self.state.step, str(error), self.now(), cost.usage, cost.model_ms
            )
            await self._before_asking_again(error)
            return
        step = self.state.step + 1
        cost = Cost(reply.usage, self._milliseconds_since(began))
        proposals = proposals_of(reply, self.state)
        for proposal in proposals:
            decision = self._decide(proposal, alone=len(proposals) == 1)
            if isinstance(decision, Observe):
                call, at = decision.call, self.now()
                yield Acted(step, call, at, cost.usage, cost.model_ms)
                yield await self._observed(call, decision.earlier)
            else:
                yield self._verdict(step, proposal, decision, cost)
            if refused_too_often(self.state, self.rules.limits):
                return
            cost = FREE

    def _decide(self, proposal: Proposal | Malformed, *, alone: bool) -> Decision:
        # A stop that came with the last word of the reply still comes first.
        if self.signals.reason is not None:
            return Stop(self.signals.reason)
        return decide(proposal, self.state, self.rules, alone=alone)

    def _verdict(
        self,
        step: int,
        proposal: Proposal | Malformed,
        decision: TryAgain | Stop | Suspend,
        cost: Cost,
    ) -> LoopEvent:
        at, usage, ms = self.now(), cost.usage, cost.model_ms
        match decision:
            case TryAgain(feedback=feedback, coverage=Coverage() as coverage):
                draft = getattr(proposal, "text", "")
                return SentBack(step, draft, coverage, feedback, at, usage, ms)
            case TryAgain():
                return refused(step, decision, proposal, at, cost)
            case Stop() | Suspend():
                return self._stopped(step, decision, cost)
            case _:
                assert_never(decision)

    async def _observed(self, call: ToolCall, earlier: Observation | None) -> Observed:
        """The result of a call just accepted; of a repeated one, the earlier result."""
        step = self.state.step
        if earlier is not None:
            again = replace(earlier, call_id=call.id)
            return Observed(step, again, self.now(), repeated=True)
        number = len(known.observations(self.state)) + 1
        observation = await self._within_limits(self.observe, call, f"obs-{number}")
        news = known.news_in(self.state, observation)
        return Observed(step, observation, self.now(), new_facts=news)

    def _joined(self) -> Joined:
        """One question of the one that is being answered and all that came since."""
        questions = [known.question_of(self.state)]
        while self.signals.messages:
            text = self.signals.messages.popleft()
            earlier = (*self.state.background.earlier_questions, *questions)
            questions.append(read_question(text, earlier=earlier))
        return Joined(self.state.step, merge_questions(questions), self.now())

    def _end(self) -> Stop | Suspend | None:
        """The end of the run, if it has come, whatever the model would do next."""
        if self.signals.reason is None and (
            suspended := suspension(self.state, self.rules)
        ):
            return suspended
        reason = stop_reason(
            self.state, self.rules.limits, now=self.now(), signals=self.signals
        )
        if reason is not None:
            return Stop(reason)
        # A model is not asked about what a visitor may not see, whatever it would say.
        asked = ask_back(self.state)
        return None if asked is None else Stop(StopReason.NEEDS_CUSTOMER, asked)

    def _stopped(self, step: int, end: Stop | Suspend, cost: Cost = FREE) -> Stopped:
        return ended(
            end,
            self.state,
            self.rules,
            step=step,
            at=self.now(),
            usage=cost.usage,
            model_ms=cost.model_ms,
        )

    async def _within_limits(
        self, work: Callable[P, Awaitable[T]], *args: P.args, **kw: P.kwargs
    ) -> T:
        """Await under the rest of the run's time, and under the stop button."""
        left = seconds_left(self.state, self.rules.limits, now=self.now())
        return await self.signals.within(left, work, *args, **kw)

    async def _before_asking_again(self, error: ModelError) -> None:
        """Wait as long as the provider wants; a wait beyond the run's time is none."""
        pause = PAUSE_AFTER_FAILURE if error.retry_after is None else error.retry_after
        left = seconds_left(self.state, self.rules.limits, now=self.now())
        if not error.retryable or pause >= left > 0:
            raise Interrupted(StopReason.MODEL_ERROR)
        if self._end() is None:
            await self._within_limits(asyncio.sleep, pause)

    def _milliseconds_since(self, began: datetime) -> int:
        return round((self.now() - began).total_seconds() * 1000)
