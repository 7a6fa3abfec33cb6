"""Wakes the pages that show a conversation: best effort, never a reason to fail.

Pages of this process get what was just committed as it is. Other processes are told
through the channel layer that the log has grown, and read it themselves. What is lost
on the way is found by the look at the log that each process takes every few seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from uuid import UUID

from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from django.conf import settings
from redis.exceptions import RedisError

from chatbot.chat import frames
from chatbot.chat.loops import at_home, one_per_loop
from chatbot.chat.models import Message, Step

logger = logging.getLogger(__name__)

# The one group that all processes are in: few messages, for all logs that have grown.
GROUP = "logs"
# Seconds in which news for other processes gathers; the first goes out at once.
TELL_EVERY = 0.01
LAYER_TROUBLE = (RedisError, ChannelFull, OSError, asyncio.TimeoutError)
WAIT_AFTER_TROUBLE = 2.0


class Listener(Protocol):
    """A socket's line, or whoever else follows a log."""

    def offer(self, seq: int, entry: str) -> None: ...

    def grew_to(self, last_seq: int) -> None: ...


class Stream:
    """Who listens to which conversation in this process."""

    def __init__(self) -> None:
        self._listeners: dict[UUID, set[Listener]] = {}
        self._wires = _Wires(self) if settings.REDIS_URL else None

    def join(self, conversation_id: UUID, listener: Listener) -> None:
        self._listeners.setdefault(conversation_id, set()).add(listener)
        if self._wires:
            self._wires.listen()

    def leave(self, conversation_id: UUID, listener: Listener) -> None:
        listeners = self._listeners.get(conversation_id)
        if listeners is None:
            return
        listeners.discard(listener)
        if not listeners:
            del self._listeners[conversation_id]

    def publish(self, conversation_id: UUID, rows: Sequence[Message | Step]) -> None:
        """Pass on rows that are committed, in the order of their ``seq``."""
        listeners = list(self._listeners.get(conversation_id, ()))
        if listeners:
            for row in rows:
                entry = frames.encode(frames.entry_of(row))
                for listener in listeners:
                    listener.offer(row.seq, entry)
        if self._wires and rows:
            self._wires.tell(conversation_id, rows[-1].seq)

    def heard(self, conversation_id: UUID, last_seq: int) -> None:
        """Take in that a log has grown, from wherever the news came."""
        for listener in list(self._listeners.get(conversation_id, ())):
            listener.grew_to(last_seq)


class _Wires:
    """The channel layer between processes: one channel for each of them."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._layer: Any = get_channel_layer()
        self._untold: dict[UUID, int] = {}
        self._channel = ""
        self._telling: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None

    def tell(self, conversation_id: UUID, last_seq: int) -> None:
        self._untold[conversation_id] = last_seq
        if self._telling is None:
            self._telling = asyncio.create_task(self._tell_all())

    def listen(self) -> None:
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())

    async def _tell_all(self) -> None:
        try:
            while self._untold:
                logs = {str(one): seq for one, seq in self._untold.items()}
                self._untold.clear()
                news = {"type": "log.grew", "by": self._channel, "logs": logs}
                await self._layer.group_send(GROUP, news)
                await asyncio.sleep(TELL_EVERY)
        except LAYER_TROUBLE:
            logger.warning("a wake-up to other processes was lost", exc_info=True)
            # What waited behind it is lost as well: the pages look by themselves.
            self._untold.clear()
        finally:
            self._telling = None

    async def _listen(self) -> None:
        while True:
            try:
                self._channel = await self._layer.new_channel()
                await self._layer.group_add(GROUP, self._channel)
                while True:
                    news = await self._layer.receive(self._channel)
                    if news["by"] != self._channel:
                        for conversation, last_seq in news["logs"].items():
                            self._stream.heard(UUID(conversation), last_seq)
            except LAYER_TROUBLE:
                logger.warning("no wake-ups from other processes", exc_info=True)
                await asyncio.sleep(WAIT_AFTER_TROUBLE)


stream = one_per_loop(Stream)


def publish_rows(conversation_id: UUID, rows: Iterable[Message | Step]) -> None:
    """The same from any thread of this process, such as a transaction's on-commit."""
    at_home(lambda: stream().publish(conversation_id, list(rows)))
