"""P19: one customer floods, twenty others go on asking."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.assurance.deployment import Deployment, alive, deployment
from tests.assurance.report import Finding, percentile
from tests.servers.chat_client import ChatClient
from tests.servers.crowd import Seat
from tests.servers.product import Product

MAX_RATIO = 2.0
MAX_GROWTH_MIB = 100
FLOOD_FRAMES = 400
CLEAR_CODES = frozenset({4400, 4409, 4413, 4429})


async def one_floods(*, seed: int, others: int, rounds: int) -> Finding:
    """``rounds`` questions of each of the others, alone and then beside the flood."""
    finding = Finding("overload", seed)
    began = monotonic()
    env = {"CHAT_MESSAGES_PER_MINUTE": "60", "CHAT_MESSAGES_BURST": "5"}
    async with deployment(
        seats=others + 1, seed=seed, model_seconds=0.2, webs=1, workers=0, env=env
    ) as place:
        *clients, _ = place.clients(seed)
        flooder = place.seats[-1]
        async with alive(clients):
            await _ask_all(clients, 1)  # everything is loaded once
            idle = await _ask_all(clients, rounds)
            before = _memory_mib(place)
            flood = _Flood(place.stack.product, flooder)
            flooding = asyncio.create_task(flood.run())
            beside = await _ask_all(clients, rounds)
            flood.over = True
            await flooding
            growth = _memory_mib(place) - before
        ratio = percentile(beside, 0.95) / percentile(idle, 0.95)
        refused = flood.sent - flood.accepted
        finding.faults = {"frames of the flood": flood.sent, "refused": refused}
        finding.wanted_faults = {"frames of the flood": FLOOD_FRAMES, "refused": 100}
        finding.figures = {
            "others": len(clients),
            "questions_each": rounds,
            "p95_seconds_alone": percentile(idle, 0.95),
            "p95_seconds_beside_the_flood": percentile(beside, 0.95),
            "p95_ratio": round(ratio, 2),
            "memory_growth_mib": round(growth, 1),
            "flood_accepted": flood.accepted,
            "flood_refused_by_error": dict(sorted(flood.codes.items())),
            "flood_refused_unclear": flood.unclear,
            "sockets_closed_by_code": dict(sorted(flood.closes.items())),
        }
        finding.must(ratio <= MAX_RATIO, f"the others' p95 grew {ratio:.2f} times")
        finding.must(growth <= MAX_GROWTH_MIB, f"memory grew {growth:.0f} MiB")
        finding.must(flood.unclear == 0, "refused without a clear code")
    finding.seconds = monotonic() - began
    return finding


async def _ask_all(clients: Sequence[ChatClient], rounds: int) -> list[float]:
    """Seconds from question to answer, of every question."""

    async def ask(client: ChatClient) -> list[float]:
        seconds = []
        for _ in range(rounds):
            began = monotonic()
            await client.ask(seconds=120)
            seconds.append(monotonic() - began)
            # As people do; and within what one customer may send.
            await asyncio.sleep(client.rng.uniform(0.8, 1.6))
        return seconds

    found = await asyncio.gather(*(ask(client) for client in clients))
    return [one for seconds in found for one in seconds]


class _Flood:
    """Sends as fast as the line takes it, with large frames between, and comes back.

    What is sent into a socket that the server has closed meanwhile is refused by the
    code of that close; ``unclear`` counts what got neither an answer nor such a code.
    """

    def __init__(self, web: Product, seat: Seat) -> None:
        self.web = web
        self.seat = seat
        self.codes: Counter[str] = Counter()
        self.closes: Counter[int] = Counter()
        self.sent = self.accepted = self.unclear = 0
        self.over = False

    async def run(self) -> None:
        while not self.over or self.sent < FLOOD_FRAMES:
            answered = self.accepted + self.codes.total()
            sent = self.sent
            code = await self._flood_one_socket()
            self.closes[code] += 1
            if code not in CLEAR_CODES:
                answers = self.accepted + self.codes.total() - answered
                self.unclear += self.sent - sent - answers
            await asyncio.sleep(0.05)

    async def _flood_one_socket(self) -> int:
        """Until the server closes it; the code that it gave."""
        async with connect(
            f"ws://127.0.0.1:{self.web.port}/ws/chat/{self.seat.conversation}/",
            origin=self.web.url,  # type: ignore[arg-type]
            additional_headers={"Cookie": f"sessionid={self.seat.session}"},
            proxy=None,
            max_queue=None,
        ) as socket:
            listening = asyncio.create_task(self._listen(socket))
            for number in range(200):
                text = "x" * (30_000 if number % 10 == 9 else 20)
                frame = {"type": "message.send", "client_id": f"flood-{self.sent}"}
                try:
                    await socket.send(json.dumps({**frame, "text": text}))
                except ConnectionClosed:
                    break
                self.sent += 1
            await asyncio.wait([listening], timeout=30)
            listening.cancel()
            return socket.close_code or 0

    async def _listen(self, socket: ClientConnection) -> None:
        with suppress(ConnectionClosed):
            async for text in socket:
                frame = json.loads(text)
                if frame["type"] == "error":
                    self.codes[frame["code"]] += 1
                elif frame["type"] == "message.accepted":
                    self.accepted += 1


def _memory_mib(place: Deployment) -> float:
    """Resident memory of the web process."""
    with open(f"/proc/{place.stack.product.web.pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024
