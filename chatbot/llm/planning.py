"""Plan-and-Execute: a model plans the look-ups of a question of several parts at once.

After "Plan-and-Solve Prompting" (Wang et al., 2023). Code checks the plan
(``react.plan_check``) and walks it; every step of it passes the loop's own decision and
the gateway like any other proposal, so that a plan may do nothing that a single step
may not. What the plan did not foresee, and the answer, are the deciding model's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from chatbot.react import state as known
from chatbot.react.model import Model
from chatbot.react.plan import REFERENCE, Plan, PlanStep, StepKind
from chatbot.react.plan_check import Bounds, Verdict, Word, check_plan
from chatbot.react.types import ModelError, Observed, Refused, Reply, RunState, Usage
from chatbot.understanding.needs import Question
from tools.contracts import (
    Effect,
    Json,
    Observation,
    ToolCall,
    ToolSpec,
    canonical_number,
)

MAX_PLANS = 2

PLAN_TOOL = ToolSpec(
    name="propose_plan",
    description={
        "en": "Propose the whole plan at once, as a list of steps. Each step is an "
        "object: id; kind (observe: a read; await: wait until people have approved the "
        "action whose id stands in approves; act: a change; answer: tell the customer; "
        "exactly one, at the end); tool and arguments for observe and act; approves "
        "for await. Where an argument is only known from an earlier step, write $ and "
        'that step\'s id: {"tracking_id": "$look"}.',
        "zh": "一次提出完整计划：步骤列表。每步是一个对象：id；kind（observe 查询；"
        "await 等待 approves 所指操作获得批准；act 变更；answer 答复客户，"
        "只能有一个且在最后）；"
        "observe 和 act 要有 tool 与 arguments；await 要有 approves。"
        '参数要等前面步骤的结果时，写 $ 加该步骤的 id：{"tracking_id": "$look"}。',
    },
    parameters={
        "type": "object",
        "properties": {"steps": {"type": "array"}},
        "required": ["steps"],
        "additionalProperties": False,
    },
    effect=Effect.READ,
    fields=(),
)


def has_parts(question: Question) -> bool:
    """Whether a question is worth a plan: several orders, parcels or needs."""
    numbers = (question.order_numbers, question.tracking_numbers, question.needs)
    return any(len(some) > 1 for some in numbers)


@dataclass(slots=True)
class PlanningModel:
    """Proposes a plan's steps as they come due, and then what ``decider`` proposes.

    The plan is this run's in this process: a run that goes on elsewhere is decided step
    by step from there. ``planner`` sees the question and the tools, no observation.
    """

    planner: Model
    decider: Model
    name: str = ""
    _left: list[PlanStep] = field(default_factory=list)
    # Which steps were proposed in which call: what "$look" stands for.
    _made: dict[str, list[Mapping[str, Json]]] = field(default_factory=dict)
    _planned: bool = False

    def __post_init__(self) -> None:
        self.name = self.decider.name

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        usage = Usage()
        if not self._planned:
            self._planned = True
            if state.step == 0 and has_parts(known.question_of(state)):
                reply = await self._plan(state, tools)
                usage = reply.usage
                if reply.proposals:
                    return reply
        if not _went_wrong(state) and (calls := self._due(state)):
            return Reply(tuple(calls), usage)
        self._left.clear()
        try:
            reply = await self.decider.propose(state, tools)
        except ModelError as error:
            error.usage = usage + error.usage
            raise
        return Reply(reply.proposals, usage + reply.usage)

    async def _plan(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        """Have a plan made, twice at most; a reply of its own where the planner would
        rather go step by step, and an empty one otherwise."""
        scratch = RunState(state.background, question=known.question_of(state))
        usage = Usage()
        made = plans(self.planner, scratch, tools, most=MAX_PLANS)
        try:
            async with aclosing(made):
                async for planned in made:
                    usage += planned.reply.usage.by(self.planner.name)
                    if not planned.is_plan:
                        return Reply(planned.reply.proposals, usage)
                    if planned.verdict.plan is not None:
                        self._left = list(_walked(planned.verdict.plan))
        except ModelError as error:
            usage += error.usage.by(self.planner.name)
        return Reply((), usage)

    def _due(self, state: RunState) -> list[ToolCall]:
        """The next reads whose arguments are known by now, or one change alone."""
        calls: list[ToolCall] = []
        while self._left:
            step = self._left[0]
            if step.kind is StepKind.ACT and calls:
                break
            some = list(self._arguments(step, state))
            if not some and self._waits_for(step, calls):
                break
            del self._left[0]
            self._made[step.id] = some
            calls += [ToolCall("", step.tool, arguments) for arguments in some]
            if step.kind is StepKind.ACT:
                break
        return calls

    def _waits_for(self, step: PlanStep, calls: Sequence[ToolCall]) -> bool:
        """Whether what a step refers to is only being asked for."""
        return bool(calls) and bool(_references(step))

    def _arguments(
        self, step: PlanStep, state: RunState
    ) -> Iterator[Mapping[str, Json]]:
        """Once as planned; or once for each number that an earlier step has shown."""
        references = _references(step)
        if not references:
            yield step.arguments
            return
        [(name, earlier)] = references.items()
        for number in self._shown(earlier, name, state):
            yield {**step.arguments, name: number}

    def _shown(self, step_id: str, name: str, state: RunState) -> list[str]:
        made = self._made.get(step_id, [])
        seen = known.observations(state)
        found = [one for one in seen if one.arguments in made]
        numbers = [number for one in found for number in _numbers(one, name)]
        return list(dict.fromkeys(numbers))


@dataclass(frozen=True, slots=True)
class Planned:
    """A planner's reply to its ``number``-th asking, and what code says of it."""

    number: int
    reply: Reply
    is_plan: bool
    steps: Json
    verdict: Verdict


async def plans(
    planner: Model, state: RunState, tools: Sequence[ToolSpec], *, most: int
) -> AsyncGenerator[Planned, None]:
    """Plans as ``planner`` makes them, until code accepts or rejects one for good.

    What has to be made again is told to the planner through ``state``.
    """
    named = known.question_of(state).order_numbers
    bounds = Bounds(
        {tool.name: tool for tool in tools}, frozenset(map(canonical_number, named))
    )
    for number in range(1, most + 1):
        reply = await planner.propose(state, [PLAN_TOOL, *tools])
        proposal = reply.proposals[0] if reply.proposals else None
        is_plan = isinstance(proposal, ToolCall) and proposal.name == PLAN_TOOL.name
        steps = steps_of(proposal)
        verdict = check_plan(steps, bounds)
        yield Planned(number, reply, is_plan, steps, verdict)
        if verdict.word is not Word.REVISE:
            return
        known.apply(state, _refusal(proposal, number, verdict))


def steps_of(proposal: object) -> Json:
    """The plan as its planner wrote it; None where it is none."""
    if isinstance(proposal, ToolCall) and proposal.name == PLAN_TOOL.name:
        return proposal.arguments.get("steps")
    return None


def _refusal(proposal: object, number: int, verdict: Verdict) -> Refused:
    """What a planner is told of a plan that has to be made again."""
    call = proposal if isinstance(proposal, ToolCall) else None
    return Refused(
        number,
        "plan",
        "; ".join(verdict.reasons),
        datetime.now(UTC),
        call_id=call.id if call else "",
        tool=call.name if call else "",
        arguments=call.arguments if call else None,
    )


def _walked(plan: Plan) -> Iterator[PlanStep]:
    """What is proposed of it: waiting is the loop's own, answering the model's."""
    proposed = (StepKind.OBSERVE, StepKind.ACT)
    return (step for step in plan.steps if step.kind in proposed)


def _went_wrong(state: RunState) -> bool:
    """Whether something came otherwise than planned: then the plan counts no more."""
    return any(
        isinstance(event, Refused)
        or (isinstance(event, Observed) and event.observation.status != "ok")
        for event in state.events
    )


def _references(step: PlanStep) -> Mapping[str, str]:
    return {
        name: value[1:]
        for name, value in step.arguments.items()
        if isinstance(value, str) and value.startswith(REFERENCE)
    }


def _numbers(observation: Observation, name: str) -> Iterator[str]:
    """Every value of the field ``name`` in a result, however deep it stands."""
    left: list[object] = [observation.fields]
    while left:
        match left.pop(0):
            case Mapping() as fields:
                if isinstance(value := fields.get(name), str) and value:
                    yield value
                left.extend(fields.values())
            case list() as rows:
                left.extend(rows)
