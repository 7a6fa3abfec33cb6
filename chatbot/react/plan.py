"""Plans as a model writes them: read into types, never repaired. Standard library only.

A plan is a list of steps of four kinds: ``observe`` a read, ``await`` the approval of
a later step, ``act`` a write, ``answer`` the customer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from tools.contracts import Json


class StepKind(StrEnum):
    OBSERVE = "observe"
    AWAIT = "await"
    ACT = "act"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """``approves`` is, of an ``await``, the id of the ``act`` that waits for it."""

    id: str
    kind: StepKind
    tool: str = ""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    approves: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple[PlanStep, ...]

    def guarded_by(self, step: PlanStep) -> PlanStep | None:
        """The ``act`` that an ``await`` stands before."""
        return next((one for one in self.steps if one.id == step.approves), None)

    def as_json(self) -> list[dict[str, Json]]:
        return [
            {
                "id": step.id,
                "kind": step.kind.value,
                "tool": step.tool,
                "arguments": dict(step.arguments),
                "approves": step.approves,
            }
            for step in self.steps
        ]


# Before the id of an earlier step: what that step has shown.
REFERENCE = "$"
Raw: TypeAlias = object
_NAMES = frozenset({"id", "kind", "tool", "arguments", "approves"})


def read_plan(raw: Raw) -> tuple[Plan | None, tuple[str, ...]]:
    """The plan that parsed JSON is, or what about it can't be read."""
    if not isinstance(raw, list):
        return None, ("a plan is a list of steps",)
    steps: list[PlanStep] = []
    problems: list[str] = []
    for number, one in enumerate(raw, start=1):
        step = _step(one)
        if isinstance(step, str):
            problems.append(f"step {number}: {step}")
        else:
            steps.append(step)
    return (None if problems else Plan(tuple(steps))), tuple(problems)


def _step(raw: Raw) -> PlanStep | str:
    if not isinstance(raw, dict):
        return "is no object"
    if unknown := sorted(set(map(str, raw)) - _NAMES):
        return f"unknown fields {', '.join(unknown)}"
    texts: Sequence[object] = [raw.get(one, "") for one in ("id", "tool", "approves")]
    arguments = raw.get("arguments", {})
    if not all(isinstance(one, str) for one in texts) or not raw.get("id"):
        return "id, tool and approves are texts, and id is needed"
    if not isinstance(arguments, dict):
        return "arguments are an object"
    try:
        kind = StepKind(str(raw.get("kind")))
    except ValueError:
        return f"unknown kind {raw.get('kind')!r}"
    return PlanStep(
        id=str(raw["id"]),
        kind=kind,
        tool=str(raw.get("tool", "")),
        arguments=arguments,
        approves=str(raw.get("approves", "")),
    )
