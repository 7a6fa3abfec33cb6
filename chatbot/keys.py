"""The demo's signing key: made once, kept in a file that only its owner reads."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def demo_key(directory: Path) -> str:
    """The key of this installation; every process of it gets the same one."""
    path = directory / "demo_secret_key"
    make_folder(directory, named_by="VAR_DIR")
    try:
        while not (key := _read(path)):
            _write_once(path, secrets.token_urlsafe(60))
    except OSError as error:
        raise _cannot_write(directory, "VAR_DIR", error) from None
    return key


def make_folder(directory: Path, *, named_by: str) -> None:
    """Make a folder that a setting names, if need be."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(directory, named_by, error) from None


def _cannot_write(
    directory: Path, named_by: str, error: OSError
) -> ImproperlyConfigured:
    reason = error.strerror or type(error).__name__
    return ImproperlyConfigured(
        f"{named_by} names {directory}, where nothing can be written: {reason}."
    )


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
