"""Two executors of a plan: one whose ``await`` really suspends, and one for show."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from chatbot.evals.control_modes.doors import Doors
from chatbot.evals.control_modes.journal import Journal
from chatbot.evals.control_modes.models import DONE
from chatbot.evals.control_modes.trace import Trace
from chatbot.react.plan import Plan, PlanStep, StepKind
from chatbot.workflow.services import NotPossible


@dataclass(frozen=True, slots=True)
class Waiting:
    """The plan waits until people have decided; no process holds it meanwhile."""

    request: UUID


@dataclass(frozen=True, slots=True)
class Ended:
    """The plan is over: ``why``, and what the customer is told."""

    why: str
    told: str = ""


# What an approval can still become; everything else is an answer to the wait.
_UNDECIDED = ("proposed", "confirmed")
_GIVEN_UP = ("declined", "expired", "withdrawn")


class DurableExecutor:
    """Walks the plan of a journal. All that it knows is there, so that any process can
    go on with it, and a step whose result is noted is not done again."""

    def __init__(self, journal: Journal, doors: Doors, trace: Trace) -> None:
        self._journal = journal
        self._doors = doors
        self._trace = trace

    async def go_on(self) -> Waiting | Ended:
        """Walk on from the first step without a result."""
        plan = self._journal.plan()
        for step in plan.steps:
            done = self._journal.results().get(step.id, {})
            if done.get("over"):
                continue
            end = await self._take(plan, step, done.get("request"))
            if end is not None:
                return end
        return Ended("the plan has no answer")

    async def _take(
        self, plan: Plan, step: PlanStep, request: str | None
    ) -> Waiting | Ended | None:
        match step.kind:
            case StepKind.OBSERVE:
                seen = await self._doors.observe(step.tool, step.arguments)
                self._trace.add(
                    "plan", f"look: {step.tool}", seen.status.value, (step.tool,)
                )
                self._journal.note(step.id, over=True, status=seen.status.value)
                return None
            case StepKind.AWAIT:
                return await self._await(plan, step, request)
            case StepKind.ACT:
                return await self._act(plan, step)
            case StepKind.ANSWER:
                told = self._told(plan)
                self._trace.add("plan", "answer", told)
                self._journal.note(step.id, over=True)
                return Ended("answered", told)

    async def _await(
        self, plan: Plan, step: PlanStep, request: str | None
    ) -> Waiting | Ended | None:
        act = plan.guarded_by(step)
        if act is None:
            return Ended("the await guards nothing")
        if request is None:
            try:
                made = await self._doors.ask_approval(act.tool, act.arguments)
            except NotPossible as refused:
                return Ended(f"refused: {refused.reason}")
            self._journal.note(step.id, request=str(made))
            self._trace.add("plan", f"await: {act.tool}", "suspended; a request waits")
            return Waiting(made)
        state = await self._doors.state_of(UUID(request))
        if state in _UNDECIDED:
            return Waiting(UUID(request))
        if state in _GIVEN_UP:
            return Ended(state)
        self._journal.note(step.id, request=request, over=True, state=state)
        return None

    async def _act(self, plan: Plan, step: PlanStep) -> Ended | None:
        results = self._journal.results()
        guard = next(
            (
                results[one.id]["request"]
                for one in plan.steps
                if one.approves == step.id and one.id in results
            ),
            None,
        )
        if guard is None:
            return Ended("an action without its approval")
        # Asked again, the gateway gives the first result back: nothing is done twice.
        state = await self._doors.perform(UUID(guard))
        self._trace.add("plan", f"act: {step.tool}", state, (step.tool,))
        self._journal.note(step.id, over=True, state=state)
        return None

    def _told(self, plan: Plan) -> str:
        results = self._journal.results()
        acts = [step.id for step in plan.steps if step.kind is StepKind.ACT]
        done = all(results[one].get("state") == "succeeded" for one in acts)
        return DONE[self._doors.language] if acts and done else ""


class NaiveExecutor:
    """As such executors are often written: the wait is a remark, a write that shows no
    effect is tried once more, and the answer is the one that was planned.

    Only the gateway stands between it and the shop.
    """

    def __init__(self, plan: Plan, doors: Doors, trace: Trace) -> None:
        self._plan = plan
        self._doors = doors
        self._trace = trace

    async def run(self) -> None:
        for step in self._plan.steps:
            match step.kind:
                case StepKind.OBSERVE:
                    seen = await self._doors.observe(step.tool, step.arguments)
                    self._trace.add("plan", f"look: {step.tool}", seen.status.value)
                case StepKind.AWAIT:
                    self._trace.add("plan", "await", "told not to stop: goes on")
                case StepKind.ACT:
                    await self._act(step)
                case StepKind.ANSWER:
                    self._trace.told = DONE[self._doors.language]
                    self._trace.add("plan", "answer", self._trace.told)
        self._trace.stopped_by = "the end of the plan"

    async def _act(self, step: PlanStep) -> None:
        try:
            request = await self._doors.ask_approval(step.tool, step.arguments)
        except NotPossible as refused:
            self._trace.add("plan", f"act: {step.tool}", refused.reason)
            return
        for _ in range(2):
            state = await self._doors.perform(request)
            what = f"not done: the request is only {state}"
            self._trace.add(
                "plan",
                f"act: {step.tool}",
                "done" if state == "succeeded" else what,
                (step.tool,),
            )
            if state == "succeeded":
                return
