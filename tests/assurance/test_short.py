"""The scenarios of `make assurance`, small enough for every run of the suite."""

from __future__ import annotations

from tests.assurance.disconnects import burst, lose_the_line
from tests.assurance.kills import Size, survive_kills
from tests.assurance.report import Finding

SMALL = Size(
    messages=48,
    clients=6,
    kills=5,
    wipes=1,
    model_seconds=0.4,
    pause=(0.3, 1.0),
    down=(0.1, 0.5),
    lease_seconds=3,
)


async def test_messages_survive_kills_and_wipes() -> None:
    finding = await survive_kills(seed=11, size=SMALL)
    assert finding.problems == [], finding.figures


async def test_a_burst_reaches_two_pages_whole_and_in_order() -> None:
    finding = await burst(seed=11)
    assert finding.problems == [], finding.figures


async def test_lost_lines_cost_no_entry() -> None:
    finding = await lose_the_line(seed=11, disconnects=25, clients=4)
    assert finding.problems == [], finding.figures


def test_a_scenario_without_its_fault_fails() -> None:
    finding = Finding("nothing", 0, wanted_faults={"kills": 1})
    assert finding.problems == ["only 0 of 1 kills"]
