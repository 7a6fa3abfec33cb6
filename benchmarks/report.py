"""Medians with their spread, and ratios taken round by round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median, quantiles

from benchmarks.load import Visit

HEAD = (
    "contestant", "CPU ms a run", "x the floor", "stores' CPU", "runs/s",
    "ack p50 / p99", "first p50 / p99", "done p50 / p99",
)  # fmt: skip


def table(visits: dict[str, list[Visit]], *, floor: str) -> str:
    """One cell's contestants as Markdown; ``visits`` has one of each round."""
    rows = [HEAD]
    for name, own in visits.items():
        ratios = [
            one.cpu_ms / base.cpu_ms
            for one, base in zip(own, visits[floor], strict=True)
        ]
        rows.append(
            (
                name,
                spread((one.cpu_ms for one in own), digits=2),
                spread(ratios, digits=2),
                f"{median(one.store_cpu_ms for one in own):.2f}",
                spread((one.per_second for one in own), digits=0),
                _percentiles([ms for one in own for ms in one.times.ack]),
                _percentiles([ms for one in own for ms in one.times.first]),
                _percentiles([ms for one in own for ms in one.times.done]),
            )
        )
    return markdown(rows)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines)


def spread(values: Iterable[float], *, digits: int) -> str:
    got = sorted(values)
    low, high = f"{got[0]:.{digits}f}", f"{got[-1]:.{digits}f}"
    return f"{median(got):.{digits}f} [{low} to {high}]"


def _percentiles(values: Sequence[float]) -> str:
    if len(values) < 2:
        return ""
    cuts = quantiles(values, n=100, method="inclusive")
    return f"{cuts[49]:.0f} / {cuts[98]:.0f} ms"
