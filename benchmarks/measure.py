"""What processes have used: processor time and memory, from /proc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

PAGE_KB = 4


def cpu_seconds(pids: Iterable[int]) -> float:
    """Of these processes, their threads and their children, to the nanosecond."""
    total = 0
    for pid in _with_children(pids):
        for task in _read_all(Path(f"/proc/{pid}/task"), "*/schedstat"):
            total += int(task.split()[0])
    return total / 1e9


def resident_kb(pids: Iterable[int]) -> int:
    pages = 0
    for pid in _with_children(pids):
        for line in _read_all(Path(f"/proc/{pid}"), "statm"):
            pages += int(line.split()[1])
    return pages * PAGE_KB


def _with_children(pids: Iterable[int]) -> set[int]:
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = status.read_text("latin-1")
        except OSError:
            continue
        # The name may hold anything, so count from its closing bracket.
        fields = text.rpartition(")")[2].split()
        parents[int(status.parent.name)] = int(fields[1])
    found = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _read_all(folder: Path, pattern: str) -> Iterator[str]:
    for path in folder.glob(pattern):
        try:
            text = path.read_text("latin-1")
        except OSError:
            continue
        if text:
            yield text
