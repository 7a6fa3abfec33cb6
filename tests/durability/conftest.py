"""A whole deployment for the room: real servers, real processes, a slow model."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from chatbot.evals.model_server import ModelServer, model_server_thread
from tests.servers.chat_client import ChatClient
from tests.servers.crowd import Seat, take_seats, two_looks
from tests.servers.processes import Process
from tests.servers.records import Records
from tests.servers.stack import Stack

SEATS = 24
QUICK = {
    "RUN_LEASE_SECONDS": "2",
    "RUN_SWEEP_SECONDS": "0.3",
    "CHAT_POLL_SECONDS": "1",
    "CHAT_NEW_SOCKETS_PER_MINUTE": "10000",
    "CHAT_MESSAGES_PER_MINUTE": "1000",
    "CHAT_MESSAGES_BURST": "100",
}
# Long enough to be met in the middle of, short enough to wait for.
SLOW = 0.7


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    with model_server_thread() as server:
        yield server


@pytest.fixture(autouse=True)
def _two_slow_looks(model: ModelServer) -> None:
    fast = two_looks(random.Random(7))
    model.reply = lambda request: {**fast(request), "delay": SLOW}
    model.requests.clear()


@pytest.fixture(scope="session")
def stack(model: ModelServer) -> Iterator[Stack]:
    """Stores with tables and shop; each test starts the processes that it needs."""
    settings = {
        **QUICK,
        "OPENAI_API_KEY": "test-key",
        "OPENAI_BASE_URL": model.base_url,
        "LLM_MODEL": "fake",
    }
    # Not in pytest's own folder: another session would shut the lesser user of the
    # database out of it, and a killed database has to come back.
    with tempfile.TemporaryDirectory(prefix="waybill-stack-") as name:
        Path(name).chmod(0o755)
        made = Stack(Path(name), settings, webs=2)
        made.prepare()
        yield made
        made.stop()


@pytest.fixture(scope="session")
def _seats(stack: Stack) -> list[Seat]:
    return take_seats(stack.product, SEATS)


@pytest.fixture
def seat(_seats: list[Seat]) -> Seat:
    """A customer whom no other test has met."""
    return _seats.pop()


@pytest.fixture(autouse=True)
def _nobody_works(stack: Stack) -> Iterator[None]:
    yield
    for web in stack.webs:
        web.kill()
    for worker in stack.workers:
        worker.kill()


@pytest.fixture
def records(stack: Stack) -> Records:
    return Records(stack.postgres.url)


async def started(*processes: Process) -> None:
    """Start these together, off the event loop."""
    await asyncio.gather(*(asyncio.to_thread(one.start) for one in processes))


@asynccontextmanager
async def page(seat: Seat, stack: Stack) -> AsyncIterator[ChatClient]:
    """A page that is open for the whole test, over whatever line there is."""
    client = ChatClient(seat, stack.webs, random.Random(seat.customer))
    life = asyncio.create_task(client.run())
    try:
        yield client
    finally:
        life.cancel()
        await asyncio.wait([life])
