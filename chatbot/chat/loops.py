"""Event loops: what a process shares in one, and which one is its home."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

_home: asyncio.AbstractEventLoop | None = None


def one_per_loop(factory: Callable[[], T]) -> Callable[[], T]:
    """``factory()`` made once for each running event loop, and gone with it."""
    made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    @wraps(factory)
    def of_this_loop() -> T:
        loop = asyncio.get_running_loop()
        if loop not in made:
            made[loop] = factory()
        return made[loop]

    return of_this_loop


def make_home() -> None:
    """Let the running loop be the one that carries this process's runs and sockets."""
    global _home
    _home = asyncio.get_running_loop()


def at_home(work: Callable[[], None]) -> None:
    """Call ``work`` in the home loop, from any thread; without a home, do nothing."""
    home = _home
    if home is None:
        return
    # A loop that was closed refuses: what was to be done waits in the database.
    with suppress(RuntimeError):
        home.call_soon_threadsafe(work)
