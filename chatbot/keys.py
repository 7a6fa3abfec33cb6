"""The demo's signing key: made once, kept in a file that only its owner reads."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def demo_key(directory: Path) -> str:
    """The key of this installation; every process of it gets the same one."""
    path = directory / "demo_secret_key"
    directory.mkdir(parents=True, exist_ok=True)
    while not (key := _read(path)):
        _write_once(path, secrets.token_urlsafe(60))
    return key


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        return ""


def _write_once(path: Path, key: str) -> None:
    # Written aside and linked: two processes that start together agree on one key, and
    # neither reads half of it.
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key)
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
