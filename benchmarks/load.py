"""Asks questions over websockets, so many at once, and times what comes back."""

from __future__ import annotations

import asyncio
import gc
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.contestants import Contestant, Door
from benchmarks.measure import cpu_seconds
from benchmarks.scenario import question, wrong

HANDSHAKES_AT_ONCE = 20
SECONDS_FOR_ONE_RUN = 60


@dataclass
class Times:
    """Milliseconds from the question on, one of each for a run."""

    ack: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)


@dataclass
class Visit:
    """One contestant's turn in one round."""

    runs: int
    wall: float
    cpu_ms: float
    store_cpu_ms: float
    times: Times

    @property
    def per_second(self) -> float:
        return self.runs / self.wall


async def visit(
    contestant: Contestant, *, at_once: int, each: int, stores: Sequence[int] = ()
) -> Visit:
    """``at_once`` askers with ``each`` questions one after another.

    Every question has a socket and a conversation of its own, opened before the clock
    starts. ``stores`` are the pids of the database and Redis.
    """
    limit = asyncio.Semaphore(HANDSHAKES_AT_ONCE)
    askers = [
        await asyncio.gather(
            *(enter(door, limit) for door in contestant.doors(seat, each))
        )
        for seat in range(at_once)
    ]
    times = Times()
    gc.collect()
    gc.disable()
    cpu, store_cpu = cpu_seconds(contestant.pids), cpu_seconds(stores)
    began = perf_counter()
    await asyncio.gather(*(_ask_all(one, contestant, times) for one in askers))
    wall = perf_counter() - began
    cpu, store_cpu = (
        cpu_seconds(contestant.pids) - cpu,
        cpu_seconds(stores) - store_cpu,
    )
    gc.enable()
    await leave([socket for asker in askers for socket, _ in asker])
    runs = at_once * each
    return Visit(runs, wall, cpu * 1000 / runs, store_cpu * 1000 / runs, times)


Open = tuple[ClientConnection, Door]


async def enter(door: Door, limit: asyncio.Semaphore) -> Open:
    """Open a socket and wait until it has said all that was there before."""
    headers = {"Cookie": f"sessionid={door.session}"} if door.session else {}
    async with limit:
        socket = await connect(
            door.url,
            origin=door.origin or None,  # type: ignore[arg-type]
            additional_headers=headers,
            compression=None,
            ping_interval=None,
            proxy=None,
            open_timeout=60,
            close_timeout=2,
            max_queue=None,
        )
        if door.session:
            async for raw in socket:
                if json.loads(raw)["type"] == "caught_up":
                    break
    return socket, door


async def leave(sockets: Sequence[ClientConnection]) -> None:
    for at in range(0, len(sockets), 50):
        some = sockets[at : at + 50]
        await asyncio.gather(*(one.close() for one in some), return_exceptions=True)


async def _ask_all(asker: Sequence[Open], to: Contestant, times: Times) -> None:
    for socket, door in asker:
        async with asyncio.timeout(SECONDS_FOR_ONE_RUN):
            if to.product:
                await ask_product(socket, door, times)
            else:
                await _ask_bare(socket, door, times)


async def _ask_bare(socket: ClientConnection, door: Door, times: Times) -> None:
    began = perf_counter()
    await socket.send(question(door.number))
    _check(door, str(await socket.recv()))
    times.done.append((perf_counter() - began) * 1000)


async def ask_product(socket: ClientConnection, door: Door, times: Times) -> None:
    frame = {
        "type": "message.send",
        "client_id": uuid.uuid4().hex,
        "text": question(door.number),
    }
    text = json.dumps(frame)
    seen: dict[str, float] = {}
    answer = ""
    began = perf_counter()
    await socket.send(text)
    while "run.stopped" not in seen:
        got: dict[str, Any] = json.loads(await socket.recv())
        seen.setdefault(got["type"], (perf_counter() - began) * 1000)
        if got["type"] == "error":
            raise RuntimeError(f"refused: {got}")
        if got["type"] == "message" and got["speaker"] == "assistant":
            answer = got["text"]
        if got["type"] == "run.stopped" and got["reason"] != "answered":
            raise RuntimeError(f"ended as {got['reason']}: {answer}")
    _check(door, answer)
    if "message.accepted" not in seen:
        got = json.loads(await socket.recv())
        seen["message.accepted"] = (perf_counter() - began) * 1000
    times.ack.append(seen["message.accepted"])
    times.first.append(seen["step.action"])
    times.done.append(seen["run.stopped"])


def _check(door: Door, answer: str) -> None:
    if problem := wrong(door.number, answer):
        raise RuntimeError(problem)
