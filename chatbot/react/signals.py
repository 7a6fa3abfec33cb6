"""News from outside a run, which the loop reads at each turn."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from chatbot.react.types import StopReason


@dataclass(slots=True)
class Signals:
    """Set by whoever executes the run, read by the loop; never stored.

    ``stop_with()`` ends the run at once, also in the middle of a model call or a tool
    call; the first reason wins. ``messages`` are texts of the customer that came while
    the run was going; the loop takes them at its next step.
    """

    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    reason: StopReason | None = None
    messages: deque[str] = field(default_factory=deque)

    def stop_with(self, reason: StopReason) -> None:
        if self.reason is None:
            self.reason = reason
            self.stopping.set()
