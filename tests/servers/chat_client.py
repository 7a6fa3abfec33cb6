"""A page as a program: says things until they are accepted, and keeps the log.

It does what static/chat does over a bad line: comes back with the last ``seq`` that it
has, sends again what was not accepted, and counts every entry that comes out of place.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from tests.servers.crowd import Seat
from tests.servers.product import Product

SAY_AGAIN_AFTER = 5.0
COME_BACK_AFTER = (0.1, 0.6)


@dataclass(slots=True)
class Said:
    """One message: ``seq`` and ``accepted_at`` once the server has taken it."""

    client_id: str
    text: str
    at: float
    seq: int | None = None
    accepted_at: float = 0.0
    sent: int = 0


@dataclass
class ChatClient:
    """One page of ``seat``. ``run()`` is its life; the rest is called beside it."""

    seat: Seat
    webs: Sequence[Product]
    rng: random.Random
    log: list[dict[str, Any]] = field(default_factory=list)
    said: dict[str, Said] = field(default_factory=dict)
    troubles: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    closes: Counter[int] = field(default_factory=Counter)
    connects: int = 0
    caught_up: int = -1
    _socket: ClientConnection | None = None
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def last(self) -> int:
        return int(self.log[-1]["seq"]) if self.log else 0

    async def run(self) -> None:
        """Be there until cancelled, whatever happens to the line."""
        while True:
            web = self.rng.choice(list(self.webs))
            try:
                async with self._connect(web) as socket:
                    self.connects += 1
                    await self._listen(socket)
            except (OSError, TimeoutError, WebSocketException) as error:
                self.closes[_code(error)] += 1
            finally:
                self._socket = None
            await asyncio.sleep(self.rng.uniform(*COME_BACK_AFTER))

    def _connect(self, web: Product) -> connect:
        address = f"ws://127.0.0.1:{web.port}/ws/chat/{self.seat.conversation}/"
        return connect(
            f"{address}?last={self.last}",
            origin=web.url,  # type: ignore[arg-type]
            additional_headers={"Cookie": f"sessionid={self.seat.session}"},
            proxy=None,
            open_timeout=10,
            close_timeout=1,
            ping_interval=5,
            ping_timeout=10,
            max_queue=None,
        )

    async def _listen(self, socket: ClientConnection) -> None:
        self._socket = socket
        await self._say_again(after=0)
        while True:
            try:
                async with asyncio.timeout(1):
                    frame = json.loads(await socket.recv())
            except TimeoutError:
                await self._say_again(after=SAY_AGAIN_AFTER)
                continue
            await self._take(frame, socket)

    async def _take(self, frame: dict[str, Any], socket: ClientConnection) -> None:
        async with self._changed:
            match frame["type"]:
                case "message.accepted":
                    self._accepted(frame)
                case "error":
                    self.refusals[frame["code"]] += 1
                    # Sent again with the next look; a sooner one would be refused too.
                case "caught_up":
                    self.caught_up = frame["last_seq"]
                case _ if "seq" in frame:
                    self._entry(frame)
                case _:
                    pass
            self._changed.notify_all()

    def _accepted(self, frame: dict[str, Any]) -> None:
        said = self.said.get(frame["client_id"])
        if said is None:
            self.troubles["accepted what was not said"] += 1
        elif said.seq is None:
            said.seq, said.accepted_at = frame["seq"], monotonic()
        elif said.seq != frame["seq"]:
            self.troubles["accepted twice"] += 1

    def _entry(self, frame: dict[str, Any]) -> None:
        seq = frame["seq"]
        if seq == self.last + 1:
            self.log.append(frame)
        elif seq > self.last + 1:
            self.troubles["gap"] += 1
        elif frame in self.log:
            self.troubles["duplicate"] += 1
        else:
            self.troubles["inversion"] += 1

    async def _say_again(self, *, after: float) -> None:
        for said in list(self.said.values()):
            if said.seq is None and monotonic() - said.at >= after * said.sent:
                await self._send(said)

    async def _send(self, said: Said) -> None:
        if self._socket is None:
            return
        frame = {
            "type": "message.send",
            "client_id": said.client_id,
            "text": said.text,
        }
        said.sent += 1
        try:
            await self._socket.send(json.dumps(frame))
        except (OSError, WebSocketException):
            return  # it is said again on the next line

    async def say(self, text: str = "", *, seconds: float = 120) -> Said:
        """Say it until it is accepted."""
        said = await self.mutter(text)
        await self.until(lambda: said.seq is not None, seconds=seconds)
        return said

    async def mutter(self, text: str = "") -> Said:
        """Say it once now, and again by itself until it is accepted."""
        client_id = f"{self.seat.customer}-{len(self.said)}-{self.rng.getrandbits(24)}"
        said = Said(client_id, text or self.seat.question, monotonic())
        self.said[client_id] = said
        await self._send(said)
        return said

    async def ask(self, text: str = "", *, seconds: float = 120) -> dict[str, Any]:
        """Say it, and wait for the end of a run after it."""
        said = await self.say(text, seconds=seconds)
        return await self.answered(said, seconds=seconds)

    async def answered(self, said: Said, *, seconds: float = 120) -> dict[str, Any]:
        ends: list[dict[str, Any]] = []

        def over() -> bool:
            ends[:] = [
                entry
                for entry in self.log[(said.seq or 1) - 1 :]
                if entry["type"] == "run.stopped"
            ]
            return bool(ends)

        await self.until(over, seconds=seconds)
        return ends[0]

    async def until(self, check: Callable[[], bool], *, seconds: float = 60) -> None:
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(check)

    async def hang_up(self) -> bool:
        """Lose the line without a word, as a phone in a tunnel does; was there one?"""
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.transport.abort()
        return socket is not None

    @property
    def unaccepted(self) -> int:
        return sum(said.seq is None for said in self.said.values())


def _code(error: Exception) -> int:
    received = getattr(error, "rcvd", None)
    return received.code if received is not None else 0
