"""One socket's outgoing side: a single writer that mirrors the log, in order, once."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from uuid import UUID

from django.db import DatabaseError

from chatbot.chat import frames
from chatbot.chat.log import read_log
from chatbot.chat.problems import NOT_ALLOWED, CloseCode
from tools.database import in_database

logger = logging.getLogger(__name__)

# A slow reader's entries are not held here past this many: the log has them.
MAX_HELD = 256


class Line:
    """Sends frames to one page. Nothing but its pump writes to the socket.

    ``last`` is the last log entry that was put on the way, ``_target`` the last one
    that is known to exist. Entries that come from this process are taken as they are
    when they fit on; anything else is read from the log.
    """

    __slots__ = (
        "_close", "_closing", "_promised", "_pumping", "_queue", "_reading", "_send",
        "_target", "conversation_id", "last",
    )  # fmt: skip

    def __init__(
        self,
        conversation_id: UUID,
        *,
        last: int,
        send: Callable[[str], Awaitable[None]],
        close: Callable[[CloseCode], Awaitable[None]],
    ) -> None:
        self.conversation_id = conversation_id
        self.last = last
        self._send = send
        self._close = close
        self._queue: deque[str] = deque()
        self._target = last
        self._promised = False
        self._reading = False
        self._closing: CloseCode | None = None
        self._pumping: asyncio.Task[None] | None = None

    def push(self, frame: frames.Frame) -> None:
        """Send a frame that is no entry of the log."""
        self._queue.append(frames.encode(frame))
        self._pump()

    def offer(self, seq: int, entry: str) -> None:
        """Take an encoded log entry that was just committed."""
        fits = seq == self.last + 1 and not self._reading and not self._promised
        if fits and len(self._queue) < MAX_HELD:
            self.last = seq
            self._queue.append(entry)
        self.grew_to(seq)

    def grew_to(self, last_seq: int) -> None:
        """Hear that the log has entries up to ``last_seq``."""
        self._target = max(self._target, last_seq)
        self._pump()

    def replay(self, after: int) -> None:
        """Send the log after ``after`` again, then say ``caught_up``."""
        self.last = after
        self._promised = True
        self._pump()

    def close(self, code: CloseCode) -> None:
        """End the socket, after what is on its way and without reading on."""
        if self._closing is None:
            self._closing = code
            self._pump()

    def hang_up(self) -> None:
        """The other side is gone: send nothing more."""
        self._queue.clear()
        self._target, self._promised = self.last, False
        if self._pumping is not None:
            self._pumping.cancel()

    def _pump(self) -> None:
        if self._pumping is None:
            self._pumping = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while True:
                if self._queue:
                    await self._send(self._queue.popleft())
                elif self._closing is not None:
                    await self._close(self._closing)
                    return
                elif self._promised or self.last < self._target:
                    await self._catch_up()
                else:
                    return
        except DatabaseError:
            # Still behind: the next look at the log, within seconds, tries again.
            logger.warning("the log could not be read for a socket", exc_info=True)
        except (OSError, RuntimeError):
            # The page went away between two frames; it will ask for the rest.
            self._queue.clear()
        finally:
            self._pumping = None

    async def _catch_up(self) -> None:
        after, target = self.last, self._target
        self._reading = True
        try:
            page = await in_database(read_log, self.conversation_id, after=after)
        finally:
            self._reading = False
        if self._closing is not None or self.last != after:
            return  # the page asked for another place of the log meanwhile
        if page is None:
            self.close(NOT_ALLOWED)
            return
        for entry in page.entries:
            self._queue.append(frames.encode(entry))
        self.last = min(page.last_seq, after + len(page.entries))
        if self._target == target:
            self._target = page.last_seq
        if self._promised and self.last == page.last_seq:
            self._promised = False
            self._queue.append(frames.encode(frames.caught_up(page.last_seq)))
