"""Run pytest, and once more, alone and one after the other, what failed beside others.

Browsers, killed processes and deadlines share two cores with everything else: a test
that fails only then is named in the output, and the suite fails where it fails again.

    python -m tests.suite [pytest's own arguments]
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

TESTS_FAILED = 1
# More than these are no accident of a busy machine.
MAX_SECOND_TRIES = 12
ALONE = ("--last-failed", "--last-failed-no-failures=none", "--numprocesses=0", "-q")


def main(arguments: Sequence[str]) -> int:
    command = [sys.executable, "-m", "pytest"]
    first = subprocess.run([*command, *arguments])
    if first.returncode != TESTS_FAILED:
        return first.returncode
    failed = _failed(command)
    if not 0 < failed <= MAX_SECOND_TRIES:
        return first.returncode
    sys.stderr.write(f"\n{failed} failed beside others; each is tried once alone.\n")
    return subprocess.run([*command, *ALONE]).returncode


def _failed(command: Sequence[str]) -> int:
    listed = subprocess.run(
        [*command, *ALONE, "--collect-only"], capture_output=True, text=True
    )
    return sum("::" in line for line in listed.stdout.splitlines())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
