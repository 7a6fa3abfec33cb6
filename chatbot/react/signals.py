"""News from outside a run, which the loop reads at each turn."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from types import TracebackType

from chatbot.react.types import StopReason


@dataclass(slots=True)
class Signals:
    """Set by whoever executes the run, read by the loop; never stored.

    ``stop_with()`` ends the run at once, also in the middle of a model call or a tool
    call; the first reason wins. ``messages`` are texts of the customer that came while
    the run was going; the loop takes them at its next step. Both are called on the
    loop's own thread.
    """

    reason: StopReason | None = None
    messages: deque[str] = field(default_factory=deque)
    _scope: asyncio.Timeout | None = None

    def stop_with(self, reason: StopReason) -> None:
        if self.reason is not None:
            return
        self.reason = reason
        if self._scope is not None and not self._scope.expired():
            self._scope.reschedule(asyncio.get_running_loop().time())

    def at_most(self, seconds: float) -> _Interruptible:
        """A block that ends with ``TimeoutError`` after ``seconds``, or when stopped.

        What is awaited in the block is really cancelled, not left behind.
        """
        return _Interruptible(self, 0 if self.reason else max(0.0, seconds))


class _Interruptible:
    def __init__(self, signals: Signals, seconds: float) -> None:
        self._signals = signals
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> asyncio.Timeout:
        scope = await self._timeout.__aenter__()
        self._signals._scope = scope
        return scope

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Taken away first: a stop that comes later must not meet a finished scope.
        self._signals._scope = None
        await self._timeout.__aexit__(kind, error, traceback)
