"""The deterministic check of a plan: structure, allowed actions, approval order.

It says ACCEPT, REVISE (the planner may try again) or REJECT (what was planned may not
be done at all), with reasons, and never changes a plan. Standard library only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from chatbot.react.plan import REFERENCE, Plan, PlanStep, StepKind, read_plan
from tools.contracts import (
    Effect,
    Json,
    ToolSpec,
    argument_problem,
    canonical_number,
)

MAX_STEPS = 8
MAX_ACTS = 2


class Word(StrEnum):
    ACCEPT = "ACCEPT"
    REVISE = "REVISE"
    REJECT = "REJECT"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``plan`` is there only where it was accepted, exactly as it was written."""

    word: Word
    reasons: tuple[str, ...] = ()
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a plan may use: the tools this actor sees, and the order numbers that the
    customer wrote. A read may also name what an earlier step will show."""

    tools: Mapping[str, ToolSpec]
    numbers: frozenset[str]


Problem: TypeAlias = tuple[Word, str]
_Rule: TypeAlias = Callable[[Plan, Bounds], Iterator[Problem]]


def check_plan(raw: object, bounds: Bounds) -> Verdict:
    """The verdict on a plan as the model wrote it."""
    plan, unreadable = read_plan(raw)
    if plan is None:
        return Verdict(Word.REVISE, unreadable)
    problems = [problem for rule in _RULES for problem in rule(plan, bounds)]
    rejected = tuple(text for word, text in problems if word is Word.REJECT)
    if rejected:
        return Verdict(Word.REJECT, rejected)
    if problems:
        return Verdict(Word.REVISE, tuple(text for _, text in problems))
    return Verdict(Word.ACCEPT, plan=plan)


# ---- structure


def _shape(plan: Plan, bounds: Bounds) -> Iterator[Problem]:
    if not plan.steps:
        yield Word.REVISE, "the plan is empty"
        return
    if len(plan.steps) > MAX_STEPS:
        yield Word.REVISE, f"more than {MAX_STEPS} steps"
    counted = Counter(step.id for step in plan.steps)
    for name in (name for name, times in counted.items() if times > 1):
        yield Word.REVISE, f"two steps are called {name!r}"
    answers = [step for step in plan.steps if step.kind is StepKind.ANSWER]
    if plan.steps[-1].kind is not StepKind.ANSWER or len(answers) != 1:
        yield Word.REVISE, "a plan ends with its one answer"


def _uses_tools_rightly(plan: Plan, bounds: Bounds) -> Iterator[Problem]:
    for step in plan.steps:
        needs_tool = step.kind in (StepKind.OBSERVE, StepKind.ACT)
        if needs_tool != bool(step.tool):
            yield Word.REVISE, f"{step.id}: {step.kind} {_with(needs_tool)} a tool"
            continue
        spec = bounds.tools.get(step.tool)
        if spec is None:
            continue
        wanted = Effect.WRITE if step.kind is StepKind.ACT else Effect.READ
        if spec.effect is not wanted:
            yield Word.REVISE, f"{step.id}: {step.tool} is a {spec.effect}"
        elif problem := argument_problem(spec, step.arguments):
            yield Word.REVISE, f"{step.id}: {problem}"


def _refers_back(plan: Plan, bounds: Bounds) -> Iterator[Problem]:
    reads: set[str] = set()
    for step in plan.steps:
        values = [one for one in step.arguments.values() if isinstance(one, str)]
        named = [one[1:] for one in values if one.startswith(REFERENCE)]
        if len(named) > 1:
            yield Word.REVISE, f"{step.id}: one reference a step"
        for name in named:
            if step.kind is StepKind.ACT:
                yield Word.REJECT, f"{step.id}: an action names its order itself"
            elif name not in reads:
                yield Word.REVISE, f"{step.id}: no read before it is called {name!r}"
        if step.kind is StepKind.OBSERVE:
            reads.add(step.id)


def _with(needs: bool) -> str:
    return "needs" if needs else "has"


# ---- allowed actions


def _is_allowed(plan: Plan, bounds: Bounds) -> Iterator[Problem]:
    for step in plan.steps:
        if step.tool and step.tool not in bounds.tools:
            yield Word.REJECT, f"{step.id}: {step.tool!r} is not allowed here"
    acts = [step for step in plan.steps if step.kind is StepKind.ACT]
    if len(acts) > MAX_ACTS:
        yield Word.REJECT, f"more than {MAX_ACTS} actions in one plan"
    for step in acts:
        for number in _numbers(step.arguments):
            if canonical_number(number) not in bounds.numbers:
                yield Word.REJECT, f"{step.id}: the customer did not name {number}"


def _numbers(arguments: Mapping[str, Json]) -> list[str]:
    return [
        value
        for name, value in arguments.items()
        if name.endswith("_id") and isinstance(value, str)
    ]


# ---- approval order


def _waits_first(plan: Plan, bounds: Bounds) -> Iterator[Problem]:
    place = {step.id: number for number, step in enumerate(plan.steps)}
    guards: dict[str, list[PlanStep]] = {}
    for step in plan.steps:
        if step.kind is StepKind.AWAIT:
            guards.setdefault(step.approves, []).append(step)
        elif step.approves:
            yield Word.REVISE, f"{step.id}: only an await approves"
    acts = {step.id for step in plan.steps if step.kind is StepKind.ACT}
    for name in sorted(set(guards) - acts):
        yield Word.REVISE, f"an await stands before {name!r}, which is no action"
    for name in sorted(acts):
        waits = guards.get(name, [])
        if not waits:
            yield Word.REVISE, f"{name}: no await of an approval stands before it"
        elif len(waits) > 1:
            yield Word.REVISE, f"{name}: it is awaited more than once"
        elif place[waits[0].id] > place[name]:
            yield Word.REVISE, f"{name}: its approval is awaited after it"


def _does_nothing_twice(plan: Plan, bounds: Bounds) -> Iterator[Problem]:
    seen: list[tuple[str, Mapping[str, Json]]] = []
    for step in plan.steps:
        if step.kind is not StepKind.ACT:
            continue
        if (step.tool, step.arguments) in seen:
            yield Word.REJECT, f"{step.id}: the same action is planned twice"
        seen.append((step.tool, step.arguments))


_RULES: Sequence[_Rule] = (
    _shape,
    _uses_tools_rightly,
    _refers_back,
    _is_allowed,
    _waits_first,
    _does_nothing_twice,
)
