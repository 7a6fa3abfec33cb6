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
        first = conversation_id not in self._listeners
        self._listeners.setdefault(conversation_id, set()).add(listener)
        if first and self._wires:
            self._wires.listen(conversation_id)

    def leave(self, conversation_id: UUID, listener: Listener) -> None:
        listeners = self._listeners.get(conversation_id)
        if listeners is None:
            return
        listeners.discard(listener)
        if not listeners:
            del self._listeners[conversation_id]
            if self._wires:
                self._wires.stop_listening(conversation_id)

    @property
    def conversations(self) -> list[UUID]:
        return list(self._listeners)

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
        self._channel: str | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def tell(self, conversation_id: UUID, last_seq: int) -> None:
        # Told once for all that comes in while the last message is on its way.
        idle = not self._untold
        self._untold[conversation_id] = last_seq
        if idle:
            self._start(self._tell_all())

    def listen(self, conversation_id: UUID) -> None:
        if self._channel is None:
            self._channel = ""
            self._start(self._receive())
        elif self._channel:
            self._start(self._layer.group_add(_group(conversation_id), self._channel))

    def stop_listening(self, conversation_id: UUID) -> None:
        if self._channel:
            group = _group(conversation_id)
            self._start(self._layer.group_discard(group, self._channel))

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(_without_trouble(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tell_all(self) -> None:
        try:
            while self._untold:
                conversation_id, last_seq = next(iter(self._untold.items()))
                news = {
                    "type": "log.grew",
                    "conversation": str(conversation_id),
                    "last_seq": last_seq,
                }
                await self._layer.group_send(_group(conversation_id), news)
                if self._untold[conversation_id] == last_seq:
                    del self._untold[conversation_id]
        finally:
            # After trouble nothing may stay here: the next news would wait behind it.
            self._untold.clear()

    async def _receive(self) -> None:
        while True:
            try:
                await self._subscribe()
                while True:
                    news = await self._layer.receive(self._channel)
                    self._stream.heard(UUID(news["conversation"]), news["last_seq"])
            except LAYER_TROUBLE:
                logger.warning("no wake-ups from other processes", exc_info=True)
                self._channel = ""
                await asyncio.sleep(WAIT_AFTER_TROUBLE)

    async def _subscribe(self) -> None:
        self._channel = await self._layer.new_channel()
        for conversation_id in self._stream.conversations:
            await self._layer.group_add(_group(conversation_id), self._channel)


async def _without_trouble(work: Any) -> None:
    try:
        await work
    except LAYER_TROUBLE:
        logger.warning("a wake-up to other processes was lost", exc_info=True)


def _group(conversation_id: UUID) -> str:
    return f"log.{conversation_id.hex}"


stream = one_per_loop(Stream)


def publish_rows(conversation_id: UUID, rows: Iterable[Message | Step]) -> None:
    """The same from any thread of this process, such as a transaction's on-commit."""
    at_home(lambda: stream().publish(conversation_id, list(rows)))
