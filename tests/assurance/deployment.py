"""A deployment that a scenario may harm, with customers in it."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from chatbot.evals.model_server import ModelServer, model_server_thread
from tests.servers.chat_client import ChatClient
from tests.servers.crowd import Seat, take_seats, two_looks
from tests.servers.records import Records
from tests.servers.stack import Stack

# The limits on one customer are not what most scenarios are about.
ROOMY = {
    "CHAT_NEW_SOCKETS_PER_MINUTE": "100000",
    "CHAT_MESSAGES_PER_MINUTE": "1000",
    "CHAT_MESSAGES_BURST": "100",
    "RUN_MAX_AT_ONCE": "200",
}


@dataclass(frozen=True, slots=True)
class Deployment:
    stack: Stack
    seats: list[Seat]
    model: ModelServer | None
    records: Records

    def clients(self, seed: int) -> list[ChatClient]:
        return [
            ChatClient(seat, self.stack.webs, random.Random(f"{seed} {seat.customer}"))
            for seat in self.seats
        ]


@asynccontextmanager
async def deployment(
    *,
    seats: int,
    seed: int,
    model_seconds: float | None = None,
    env: Mapping[str, str] | None = None,
    webs: int = 2,
    workers: int = 1,
) -> AsyncIterator[Deployment]:
    """Started, with ``seats`` customers; without ``model_seconds`` the offline model.

    Each reply of the model server takes up to ``model_seconds``.
    """
    with scratch_folder() as folder, model_server_thread() as model:
        settings = {**ROOMY, **(env or {})}
        if model_seconds is not None:
            model.reply = two_looks(random.Random(seed), seconds=model_seconds)
            settings |= {
                "OPENAI_API_KEY": "test-key",
                "OPENAI_BASE_URL": model.base_url,
                "LLM_MODEL": "fake",
            }
        stack = Stack(folder, settings, webs=webs, workers=workers)
        try:
            await asyncio.to_thread(stack.start)
            taken = await asyncio.to_thread(take_seats, stack.product, seats)
            yield Deployment(
                stack,
                taken,
                model if model_seconds is not None else None,
                Records(stack.postgres.url),
            )
        finally:
            await asyncio.to_thread(stack.stop)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="waybill-assurance-") as name:
        folder = Path(name)
        # The database runs as a lesser user.
        folder.chmod(0o755)
        yield folder


@asynccontextmanager
async def alive(clients: Iterable[ChatClient]) -> AsyncIterator[None]:
    """These pages are open meanwhile, over whatever line there is."""
    lives = [asyncio.create_task(client.run()) for client in clients]
    try:
        yield
    finally:
        for life in lives:
            life.cancel()
        await asyncio.wait(lives)


async def quiet(records: Records, *, seconds: float = 120) -> bool:
    """Wait until no run is left unfinished; whether that came to be."""
    try:
        async with asyncio.timeout(seconds):
            while await asyncio.to_thread(records.unfinished_runs):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
    except TimeoutError:
        return False
    return True
