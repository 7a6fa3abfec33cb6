"""What breaks while a case is played, read from the words of the case."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chatbot.evals.cases.format import NotSupported


@dataclass(frozen=True, slots=True)
class Fault:
    """What the shop does with a change: ``kind`` is "status" (nothing is done), "drop"
    (done, and the reply is lost) or "delay"; ``times`` None: for ever."""

    kind: str
    times: int | None = None
    seconds: float = 0


_TIMES = {
    "once": 1,
    "twice": 2,
    "one time": 1,
    **{
        f"{word} times": number
        for number, word in enumerate(("two", "three", "four", "five", "six"), start=2)
    },
}
_FAULTS = (
    (re.compile(r"order service (?:answers|replies) 5\d\d\b"), "status"),
    (re.compile(r"order service commits,? (?:and |then )+drops the reply"), "drop"),
    (re.compile(r"order service times out"), "drop"),
)
# The harness itself does these when the step comes.
_BY_STEP = re.compile(r"worker SIGKILL|SIGKILL of the worker")


def read_fault(text: str) -> Fault | None:
    """What breaks while a case is played; None where a step of its own breaks it."""
    if not text or _BY_STEP.search(text):
        return None
    for pattern, name in _FAULTS:
        if pattern.search(text):
            return Fault(name, _times(text))
    raise NotSupported(f"the fault {text!r}")


def _times(text: str) -> int | None:
    for words, number in _TIMES.items():
        if re.search(rf"\b{words}\b", text):
            return number
    counted = re.search(r"\b(\d+) times\b", text)
    if counted:
        return int(counted[1])
    return None if "for ever" in text or "forever" in text else 1
