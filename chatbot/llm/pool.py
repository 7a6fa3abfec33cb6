"""What this process has open to model endpoints; how is in ``client``, which is loaded
only where there is a model: its packages take a second of processor time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from chatbot.llm.client import Connection, Endpoint

Opened: TypeAlias = "dict[Endpoint, Connection]"

_opened: WeakKeyDictionary[asyncio.AbstractEventLoop, Opened] = WeakKeyDictionary()


def opened() -> Opened:
    """By endpoint, what all runs of this event loop share."""
    return _opened.setdefault(asyncio.get_running_loop(), {})


async def close_connections() -> None:
    """Close what this event loop opened; for the end of a process or a test."""
    for one in _opened.pop(asyncio.get_running_loop(), {}).values():
        await one.http.close()
