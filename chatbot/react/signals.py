"""News from outside a run, which the loop reads at each turn."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from chatbot.react.types import StopReason

P = ParamSpec("P")
T = TypeVar("T")


class Interrupted(Exception):
    """The run ends in the middle of a turn: stopped from outside, or out of time."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason


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

    async def within(
        self,
        seconds: float,
        work: Callable[P, Awaitable[T]],
        *args: P.args,
        **kw: P.kwargs,
    ) -> T:
        """What ``work`` gives, unless ``seconds`` pass or the run is stopped first.

        Then it is really cancelled, not left behind, and ``Interrupted`` says why the
        run ends. One at a time.
        """
        if self.reason is not None or seconds <= 0:
            raise self._interrupted()
        try:
            async with asyncio.timeout(seconds) as self._scope:
                return await work(*args, **kw)
        except TimeoutError:
            # Only ours: a TimeoutError of the work's own is a fault like any other.
            if self._scope is None or not self._scope.expired():
                raise
            raise self._interrupted() from None
        finally:
            self._scope = None

    def _interrupted(self) -> Interrupted:
        return Interrupted(self.reason or StopReason.TIME_LIMIT)
