"""Sees to the programs that the suite needs beside Python: `python -m tests.parts`.

Where Debian's packages can be installed (root, apt-get) it installs what is missing;
elsewhere it names each missing part with the command that brings it, and fails. Nothing
that needs one of them is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from tests.servers import browser, postgres, redis
from tests.servers.processes import MissingPart, find_program


@dataclass(frozen=True, slots=True)
class Part:
    find: Callable[[], object]
    packages: tuple[str, ...]


def _chinese_font() -> None:
    bring = "apt-get install -y fontconfig fonts-noto-cjk"
    program = find_program("fc-list", bring=bring)
    listed = subprocess.run([program, ":lang=zh"], capture_output=True, check=True)
    if not listed.stdout.strip():
        raise MissingPart(f"A font with Chinese is missing. Bring it with: {bring}")


PARTS = (
    Part(browser.chromium, ("chromium",)),
    Part(_chinese_font, ("fontconfig", "fonts-noto-cjk")),
    Part(postgres.programs, ("postgresql",)),
    Part(redis.program, ("redis-server",)),
)


def missing() -> list[tuple[Part, str]]:
    found = []
    for part in PARTS:
        try:
            part.find()
        except MissingPart as problem:
            found.append((part, str(problem)))
    return found


def install(parts: list[Part]) -> None:
    packages = [package for part in parts for package in part.packages]
    sys.stdout.write(f"Installing {', '.join(packages)} ...\n")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"]
    # Package lists may be old or empty. A failure shows in what is missing after it.
    for command in (["apt-get", "update", "-qq"], [*install, *packages]):
        subprocess.run(command, check=False, env=env, stdout=subprocess.DEVNULL)


def bring_a_browser() -> None:
    """Playwright's own, where there is no Debian package to be had."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    subprocess.run(command, check=False)


def main() -> int:
    lacking = missing()
    if lacking and os.geteuid() == 0 and shutil.which("apt-get"):
        install([part for part, _ in lacking])
        lacking = missing()
    if any(part.find is browser.chromium for part, _ in lacking):
        bring_a_browser()
        lacking = missing()
    for _, problem in lacking:
        sys.stderr.write(f"{problem}\n")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
