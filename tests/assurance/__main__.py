"""``make assurance``: harm a whole deployment in every way there is, and count.

Writes docs/assurance/report.json and fails where a promise was broken or a fault did
not happen. ``--scale 0.2`` makes it smaller, which the report then says; ``--only
kills`` measures one scenario anew and leaves the others in the report as they are.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from tests.assurance import changes, readme
from tests.assurance.disconnects import burst, lose_the_line
from tests.assurance.kills import Size, survive_kills
from tests.assurance.outages import parts_go_away
from tests.assurance.overload import one_floods
from tests.assurance.report import REPORT, Finding, write_report
from tests.assurance.unsafe import start_unsafely
from tests.servers.product import ROOT

Scenario: TypeAlias = Callable[[int, float], Coroutine[Any, Any, list[Finding]]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make assurance", description=__doc__)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", choices=sorted(SCENARIOS), action="append")
    options = parser.parse_args()
    findings = []
    written = REPORT
    for name in options.only or SCENARIOS:
        sys.stdout.write(f"{name} ...\n")
        sys.stdout.flush()
        for finding in _run(name, options.seed, options.scale):
            findings.append(finding)
            sys.stdout.write(_told(finding))
            sys.stdout.flush()
            written = write_report([finding], scale=options.scale)
    sys.stdout.write(f"written: {written.relative_to(ROOT)}; the README's table:\n")
    report = json.loads(written.read_text("utf-8"))
    sys.stdout.writelines(f"{row}\n" for row in readme.rows(report))
    return 1 if any(finding.problems for finding in findings) else 0


def _run(name: str, seed: int, scale: float) -> list[Finding]:
    try:
        return asyncio.run(SCENARIOS[name](seed, scale))
    except Exception as error:  # noqa: BLE001 - it is what the report is about
        broken = Finding(name, seed)
        broken.must(False, f"{type(error).__name__}: {error}")
        return [broken]


def _told(finding: Finding) -> str:
    verdict = "; ".join(finding.problems) or "passed"
    figures = {k: v for k, v in finding.figures.items() if k != "kill_log"}
    return (
        f"  {finding.name}: {verdict} ({finding.seconds:.0f} s)\n"
        f"    faults {json.dumps(finding.faults)}\n"
        f"    figures {json.dumps(figures, ensure_ascii=False)}\n"
    )


async def _kills(seed: int, scale: float) -> list[Finding]:
    size = Size(
        messages=round(2_000 * scale), kills=round(50 * scale), wipes=round(5 * scale)
    )
    return [await survive_kills(seed=seed, size=size)]


async def _disconnects(seed: int, scale: float) -> list[Finding]:
    return [await lose_the_line(seed=seed, disconnects=round(500 * scale), clients=10)]


async def _burst(seed: int, scale: float) -> list[Finding]:
    return [await burst(seed=seed)]


async def _overload(seed: int, scale: float) -> list[Finding]:
    return [await one_floods(seed=seed, others=20, rounds=max(2, round(6 * scale)))]


async def _outages(seed: int, scale: float) -> list[Finding]:
    return await parts_go_away(seed=seed, seconds=max(10, 30 * scale))


async def _unsafe(seed: int, scale: float) -> list[Finding]:
    return [await asyncio.to_thread(start_unsafely)]


async def _changes(seed: int, scale: float) -> list[Finding]:
    size = changes.Size(changes=round(1_000 * scale), kills=max(2, round(15 * scale)))
    return [await changes.survive_changes(seed=seed, size=size)]


SCENARIOS: dict[str, Scenario] = {
    "kills": _kills,
    "disconnects": _disconnects,
    "burst": _burst,
    "overload": _overload,
    "outages": _outages,
    "unsafe": _unsafe,
    "changes": _changes,
}

if __name__ == "__main__":
    sys.exit(main())
