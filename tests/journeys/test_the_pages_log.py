"""The page's own code that decides what is shown, run in the browser alone."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.journeys.conftest import Visitor
from tests.journeys.pages import Visit
from tests.servers.product import Product

FOLD = """async ([entries, options]) => {
  const { emptyLog, take, fold, activeRun } = await import("/static/chat/log.js");
  const log = emptyLog();
  const verdicts = entries.map((entry) => take(log, entry));
  const items = fold(log, options).map((item) => item.kind === "run"
    ? {run: item.run, steps: item.steps.map((s) => [s.kind, s.tool, s.status ?? null]),
       answer: item.answer?.text ?? null, live: item.live,
       reason: item.stopped?.reason ?? null}
    : {says: item.speaker, text: item.text, pending: item.pending});
  return {verdicts, items, last: log.last, active: activeRun(log, options.active)};
}"""


@pytest.fixture
def visit(product: Product, visitor: Visitor) -> Visit:
    opened = visitor(product)
    opened.open("/")
    return opened


def folded(visit: Visit, entries: list[dict[str, Any]], **options: Any) -> Any:
    return visit.page.evaluate(
        FOLD, [entries, {"pending": [], "active": None, **options}]
    )


def conversation() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"type": "message", "speaker": "customer", "text": "where?", "client_id": "a"},
        {"type": "run.started", "model": "offline", "model_kind": "offline"},
        {"type": "step.action", "call_id": "1", "tool": "get_order", "arguments": {}},
        {
            "type": "step.observation",
            "call_id": "1",
            "tool": "get_order",
            "status": "ok",
        },
        {"type": "message", "speaker": "customer", "text": "quick!", "client_id": "b"},
        {"type": "run.joined", "needs": []},
        {"type": "removed", "run": None},
        {"type": "step.refused", "code": "unknown_tool", "tool": "x"},
        {"type": "message", "speaker": "assistant", "text": "there", "client_id": None},
        {"type": "run.stopped", "reason": "answered"},
    ]
    at = "2026-01-01T00:00:00Z"
    return [
        {"run": "R", "at": at, "seq": seq, **row}
        for seq, row in enumerate(rows, start=1)
    ]


EXPECTED = [
    {"says": "customer", "text": "where?", "pending": False},
    {
        "run": "R",
        "steps": [["call", "get_order", "ok"]],
        "answer": None,
        "live": False,
        "reason": None,
    },
    {"says": "customer", "text": "quick!", "pending": False},
    {
        "run": "R",
        "steps": [["refused", "x", None]],
        "answer": "there",
        "live": False,
        "reason": "answered",
    },
]


def test_a_log_becomes_messages_and_runs(visit: Visit) -> None:
    seen = folded(visit, conversation())
    assert seen["items"] == EXPECTED
    assert seen["active"] is None


def test_entries_count_once_and_in_order_whatever_the_wire_does(visit: Visit) -> None:
    chance = random.Random(7)
    for _ in range(40):
        wire = conversation() * 2
        chance.shuffle(wire)
        # Whatever came is followed by the replay from the last whole entry.
        seen = folded(visit, [*wire, *conversation()])
        assert seen["last"] == len(conversation())
        assert seen["items"] == EXPECTED


def test_a_gap_stops_everything_behind_it(visit: Visit) -> None:
    entries = conversation()
    seen = folded(visit, [entries[0], entries[2], entries[3]])
    assert seen["verdicts"] == ["applied", "gap", "gap"]
    assert seen["last"] == 1


def test_a_run_that_has_no_entry_yet_is_shown_as_going_on(visit: Visit) -> None:
    seen = folded(visit, conversation()[:1], active="R")
    assert seen["items"][-1]["live"]
    assert seen["active"] == "R"


def test_what_is_not_sent_yet_stands_at_the_end(visit: Visit) -> None:
    waiting = [{"client_id": "c", "text": "and?"}]
    seen = folded(visit, conversation(), pending=waiting)
    assert seen["items"][-1] == {"says": "customer", "text": "and?", "pending": True}


WAITS = """async ([tries, code, chance]) => {
  const { waitBefore } = await import("/static/chat/socket.js");
  return waitBefore(tries, code, () => chance);
}"""


def test_reconnecting_waits_longer_each_time_and_never_too_long(visit: Visit) -> None:
    waits = [visit.page.evaluate(WAITS, [tries, 1006, 1.0]) for tries in range(12)]
    assert waits == sorted(waits)
    assert waits[0] <= 1_000
    assert waits[-1] <= 15_000
    assert visit.page.evaluate(WAITS, [3, 1006, 0.0]) < waits[3], "with jitter"
    assert visit.page.evaluate(WAITS, [0, 1012, 1.0]) <= 300, "a restart: at once"
    assert visit.page.evaluate(WAITS, [0, 4429, 0.0]) >= 10_000, "too many: patience"
