"""P22: every unsafe setting in turn, each in a process that tries to start with it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import monotonic

from tests.assurance.report import Finding
from tests.project.starts import UNSAFE, start_with


def start_unsafely() -> Finding:
    finding = Finding("unsafe_starts", 0)
    began = monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        safe, said = start_with(folder, {})
        went = [
            f"{name}={value}"
            for name, value in UNSAFE
            if start_with(folder, {name: value})[0]
        ]
    finding.faults = {"unsafe settings tried": len(UNSAFE)}
    finding.wanted_faults = {"unsafe settings tried": 30}
    finding.figures = {"unsafe_starts": len(went), "safe_settings_start": safe}
    finding.must(safe, f"the safe settings did not start: {said}")
    finding.must(not went, f"started with {', '.join(went)}")
    finding.seconds = monotonic() - began
    return finding
