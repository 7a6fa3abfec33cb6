"""What an execution of a plan has done, on disk: from here it goes on after a crash."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatbot.react.plan import Plan, read_plan


@dataclass(frozen=True, slots=True)
class Journal:
    """Append-only lines of JSON: first the plan, then the result of a step each.

    A line counts once it is on the disk: a half-written last one is as if never begun.
    """

    path: Path

    def begin(self, plan: Plan) -> None:
        self._append({"plan": plan.as_json()})

    def note(self, step: str, **result: Any) -> None:
        self._append({"step": step, **result})

    def plan(self) -> Plan:
        plan, problems = read_plan(self._lines()[0]["plan"])
        if plan is None:
            raise ValueError("; ".join(problems))
        return plan

    def results(self) -> dict[str, dict[str, Any]]:
        """The newest result of each step."""
        return {line["step"]: line for line in self._lines()[1:]}

    def _append(self, line: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _lines(self) -> list[dict[str, Any]]:
        read = []
        for line in self.path.read_text("utf-8").splitlines():
            try:
                read.append(json.loads(line))
            except ValueError:
                break
        return read
