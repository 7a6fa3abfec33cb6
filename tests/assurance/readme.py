"""The report's figures as the README quotes them, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BAD_ANSWERS = ("before", "after", "slow", "garbage")
_ROWS = (
    "| {messages_accepted:,} messages under {kills} kills and {wipes} wipes of Redis"
    " | {messages_lost} lost, {messages_stored_twice} stored twice,"
    " {runs_without_stop_reason} runs without their end |",
    "| {broken} broken lines while {entries_shown:,} entries were shown"
    " | {gaps} gaps, {duplicates} duplicates, {inversions} out of order |",
    "| {changes:,} changes under {change_kills} kills and {bad} bad answers of the shop"
    " | {effects_more_than_once} done twice, {not_ended} left open;"
    " {absorbed_repeats} repeats absorbed |",
    "| one customer floods with {flood:,} frames"
    " | the others' answers take {p95_ratio:.2f} times as long (p95) |",
    "| database, model, Redis away for 30 s each"
    " | the first good answer after {database}, {model}, {redis} |",
    "| {unsafe} unsafe settings | {unsafe_starts} started |",
)


def rows(report: Mapping[str, Any]) -> list[str]:
    """The README's table, without its head."""
    faults = {name: scenario["faults"] for name, scenario in report.items()}
    figures = {name: scenario["figures"] for name, scenario in report.items()}
    values = {
        **figures["kills"],
        **figures["disconnects"],
        **figures["changes"],
        **figures["overload"],
        **figures["unsafe_starts"],
        "kills": faults["kills"]["kills"],
        "wipes": faults["kills"]["Redis wipes"],
        "broken": faults["disconnects"]["lines broken"],
        "change_kills": faults["changes"]["kills"],
        "bad": sum(faults["changes"][name] for name in _BAD_ANSWERS),
        "flood": faults["overload"]["frames of the flood"],
        "unsafe": faults["unsafe_starts"]["unsafe settings tried"],
        **{
            part: _seconds(figures[f"outage_{part}"])
            for part in ("database", "model", "redis")
        },
    }
    return [row.format(**values) for row in _ROWS]


def _seconds(outage: Mapping[str, Any]) -> str:
    value = outage["seconds_to_first_good_answer_after_return"]
    # None: there were good answers all the while.
    return "at once" if value is None else f"{value:.1f} s"
