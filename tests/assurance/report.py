"""The figures of one whole run, as docs/assurance/report.json keeps them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.servers import postgres, redis
from tests.servers.product import ROOT

REPORT = ROOT / "docs" / "assurance" / "report.json"
PACKAGES = ("django", "channels", "celery", "redis", "psycopg", "uvicorn", "openai")


@dataclass(slots=True)
class Finding:
    """What one scenario saw. ``faults`` must have happened, ``broken`` must be empty.

    ``figures`` are counted, never estimated; ``seconds`` is how long it took.
    """

    name: str
    seed: int
    figures: dict[str, Any] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    wanted_faults: dict[str, int] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0

    def must(self, true: bool, what: str) -> None:
        if not true:
            self.broken.append(what)

    @property
    def problems(self) -> list[str]:
        """A scenario whose fault did not happen proves nothing."""
        missing = [
            f"only {self.faults.get(fault, 0)} of {wanted} {fault}"
            for fault, wanted in self.wanted_faults.items()
            if self.faults.get(fault, 0) < wanted
        ]
        return [*missing, *self.broken]

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "passed": not self.problems,
            "problems": self.problems,
            "faults": self.faults,
            "figures": self.figures,
            "seconds": round(self.seconds, 1),
        }


def write_report(findings: Sequence[Finding], *, scale: float) -> Path:
    """Write what was measured now in place of what stood there of these scenarios.

    Each says when, on what and how large it was run; 1 is the size that the promises
    name.
    """
    circumstances = {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _output("git", "rev-parse", "HEAD"),
        "scale": scale,
        "machine": {
            "cores": os.cpu_count(),
            "memory_mib": _memory_mib(),
            "load_average": [round(load, 1) for load in os.getloadavg()],
            "system": platform.platform(),
        },
        "versions": {
            "python": platform.python_version(),
            "postgresql": _output(postgres.programs()[1], "--version"),
            "redis-server": _output(redis.program(), "--version"),
            **{name: version(name) for name in PACKAGES},
        },
    }
    report = json.loads(REPORT.read_text("utf-8")) if REPORT.exists() else {}
    for finding in findings:
        report[finding.name] = {**finding.as_json(), **circumstances}
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=2, ensure_ascii=False)
    REPORT.write_text(text + "\n", "utf-8")
    return REPORT


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that ``share`` of them do not exceed, to the millisecond."""
    ordered = sorted(values)
    place = max(0, min(len(ordered) - 1, round(share * len(ordered)) - 1))
    return round(ordered[place], 3) if ordered else 0.0


def _memory_mib() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip()
