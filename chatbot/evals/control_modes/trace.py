"""What one mode did, step by step, and what that comes to. Standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

Decider: TypeAlias = Literal["model", "plan", "code", "person"]


@dataclass(frozen=True, slots=True)
class Row:
    """``by`` decided this step; ``visible`` are the actions it could choose from."""

    by: Decider
    what: str
    outcome: str = ""
    visible: tuple[str, ...] = ()


@dataclass(slots=True)
class Trace:
    """One run of the task in one mode."""

    mode: str
    rows: list[Row] = field(default_factory=list)
    waited: bool = False
    # Writes that were tried with nobody's agreement, and tries that the shop saw.
    unapproved: int = 0
    attempts: int = 0
    effects: int = 0
    model_calls: int = 0
    tokens: int = 0
    tokens_estimated: bool = False
    seconds: float = 0.0
    stopped_by: str = ""
    told: str = ""

    def add(
        self, by: Decider, what: str, outcome: str = "", visible: Sequence[str] = ()
    ) -> None:
        self.rows.append(Row(by, what, outcome, tuple(visible)))


def summary(trace: Trace) -> dict[str, Any]:
    """The figures of a trace, in the order in which they are shown."""
    decided = Counter(row.by for row in trace.rows)
    return {
        "mode": trace.mode,
        "decided": {by: decided[by] for by in ("model", "plan", "code", "person")},
        "visible_actions": sorted({one for row in trace.rows for one in row.visible}),
        "waited": trace.waited,
        "write_attempted": trace.unapproved + trace.attempts > 0,
        "write_unapproved": trace.unapproved,
        "write_attempts": trace.attempts,
        "write_repeated": trace.unapproved > 1 or trace.attempts > 1,
        "effects": trace.effects,
        # Said to be done, with nothing done.
        "untrue": trace.effects == 0 and _claims_done(trace.told),
        "model_calls": trace.model_calls,
        "tokens": trace.tokens,
        "tokens_estimated": trace.tokens_estimated,
        "seconds": round(trace.seconds, 2),
        "stopped_by": trace.stopped_by,
        "told": trace.told,
    }


def _claims_done(told: str) -> bool:
    return any(word in told for word in ("已取消", "has been cancelled"))


def as_json(traces: Sequence[Trace], task: str) -> dict[str, Any]:
    return {
        "task": task,
        "modes": [
            {"trace": [asdict(row) for row in trace.rows], "summary": summary(trace)}
            for trace in traces
        ],
    }


# ---- side by side, for a terminal


def side_by_side(traces: Sequence[Trace], task: str, *, width: int = 160) -> str:
    """The traces in columns, then their figures, one a line."""
    each = max(24, (width - 3 * (len(traces) - 1)) // len(traces))
    columns = [[line for row in one.rows for line in _row(row, each)] for one in traces]
    lines = [task, "", _across([one.mode for one in traces], each)]
    lines.append(_across(["-" * each] * len(traces), each))
    for number in range(max(map(len, columns))):
        cells = [one[number] if number < len(one) else "" for one in columns]
        lines.append(_across(cells, each))
    lines.append("")
    figures = [summary(trace) for trace in traces]
    for name in figures[0]:
        if name in ("mode", "visible_actions"):
            continue
        values = [_shown(one[name]) for one in figures]
        lines.append(f"{name:<18}" + " | ".join(_fit(one, 30) for one in values))
    visible = [" ".join(one["visible_actions"]) or "none" for one in figures]
    for trace, names in zip(traces, visible, strict=True):
        lines.append(f"visible to {trace.mode}: {names}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _row(row: Row, width: int) -> list[str]:
    first = f"[{row.by}] {row.what}"
    lines = _wrapped(first, width)
    if row.outcome:
        lines += _wrapped(f"  -> {row.outcome}", width)
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` cells, broken at a blank where there is one."""
    lines = []
    while _cells(text) > width:
        fits = next(at for at in range(len(text)) if _cells(text[: at + 1]) > width)
        blank = text.rfind(" ", 8, fits)
        cut = blank if blank > 0 else fits
        lines.append(text[:cut])
        text = "     " + text[cut:].lstrip()
    return [*lines, text]


def _across(cells: Sequence[str], width: int) -> str:
    return " | ".join(_fit(cell, width) for cell in cells)


def _fit(text: str, width: int) -> str:
    while _cells(text) > width:
        text = text[:-1]
    return text + " " * (width - _cells(text))


def _cells(text: str) -> int:
    """Columns of a terminal: a Chinese sign takes two."""
    return sum(2 if ord(char) > 0x2E7F else 1 for char in text)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}:{count}" for name, count in value.items() if count)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
