"""Where the suite's Chromium is, and how it is started."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.servers.processes import MissingPart

# Debian's own; Playwright has no builds for every system.
NAMES = ("chromium", "chromium-browser", "google-chrome")
BRING = "apt-get install -y chromium, or: .venv/bin/playwright install chromium"
# No sandbox inside containers that run as root; no calls home at any start.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Whatever a page asks for, only this machine answers.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def chromium() -> str:
    """The path of a Chromium; ``MissingPart`` where there is none."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    # Not above: the servers' parts are looked for without the test packages, too.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    if Path(own).exists():
        return own
    raise MissingPart(f"chromium is missing. Bring it with: {BRING}")
