"""Real processes that die or drain in the middle of a run: nothing lost or doubled."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from chatbot.evals.model_server import ModelServer, call, model_server, say
from tests.servers.product import Product
from tests.servers.redis import RedisServer

QUESTION = "Has O-204 shipped, and where is it now?"
QUICK = {
    "RUN_LEASE_SECONDS": "2",
    "RUN_SWEEP_SECONDS": "0.3",
    "CHAT_POLL_SECONDS": "1",
    "CHAT_NEW_SOCKETS_PER_MINUTE": "1000",
}
ANSWER = "Yes, O-204 has shipped. Its parcel N-88 is in transit at 武汉转运中心."
SLOW = {"delay": 1.5}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    """Plays the two steps, each reply slow enough to be interrupted."""
    async with model_server() as running:
        running.play(
            {**call("get_order", order_id="O-204"), **SLOW},
            {**call("track_shipment", tracking_id="N-88"), **SLOW},
            say(ANSWER, **SLOW),
        )
        yield running


def settings_for(model: ModelServer, **more: str) -> dict[str, str]:
    return {
        **QUICK,
        "OPENAI_API_KEY": "test-key",
        "OPENAI_BASE_URL": model.base_url,
        "LLM_MODEL": "fake",
        **more,
    }


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables and the demo shop, made once and copied for each test."""
    prepared = Product(tmp_path_factory.mktemp("shop"))
    prepared.prepare()
    return prepared.folder / "var"


@pytest.fixture
def install(
    tmp_path: Path, shop: Path, model: ModelServer
) -> Iterator[Callable[..., Product]]:
    """Starts a web process with these settings."""
    products: list[Product] = []

    def started(**settings: str) -> Product:
        shutil.copytree(shop, tmp_path / "var")
        product = Product(tmp_path, settings_for(model, **settings))
        products.append(product)
        product.start()
        return product

    yield started
    for product in products:
        product.stop()


Install: TypeAlias = "Callable[..., Product]"


@contextmanager
def worker_of(product: Product) -> Iterator[None]:
    worker = product.process(
        "worker", "celery", *("-A", "chatbot", "worker", "--concurrency", "1")
    )
    worker.start()
    try:
        yield
    finally:
        worker.stop()


class Page:
    """What a page keeps while its sockets come and go."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.log: list[dict[str, Any]] = []
        self.cookies: dict[str, str] = {}
        self.address = ""

    def sign_in(self, name: str = "lin") -> None:
        """As the landing page's button does; finds the conversation to talk in."""
        url = self.product.url
        with httpx2.Client(base_url=url, follow_redirects=True) as client:
            client.get("/")
            token = client.cookies.get("csrftoken")
            landed = client.post(
                f"/try/{name}/",
                data={"csrfmiddlewaretoken": token},
                headers={"Referer": url},
            )
            self.cookies = dict(client.cookies)
            conversation = landed.url.path.rstrip("/").rsplit("/", 1)[-1]
        self.address = f"ws://127.0.0.1:{self.product.port}/ws/chat/{conversation}/"

    @property
    def last(self) -> int:
        return self.log[-1]["seq"] if self.log else 0

    @property
    def types(self) -> list[str]:
        return [entry["type"] for entry in self.log]

    def open(self) -> connect:
        cookie = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        return connect(
            f"{self.address}?last={self.last}",
            origin=self.product.url,  # type: ignore[arg-type]
            additional_headers={"Cookie": cookie},
            proxy=None,
        )

    async def hear_until(self, socket: ClientConnection, *types: str) -> dict[str, Any]:
        async with asyncio.timeout(60):
            while True:
                frame: dict[str, Any] = json.loads(await socket.recv())
                if "seq" in frame and frame["type"] != "message.accepted":
                    assert frame["seq"] == self.last + 1
                    self.log.append(frame)
                if frame["type"] in types:
                    return frame

    async def ask(self, socket: ClientConnection, text: str = QUESTION) -> None:
        message = {"type": "message.send", "client_id": "one", "text": text}
        await socket.send(json.dumps(message))


WHOLE = [
    "message",
    "run.started",
    "step.action",
    "step.observation",
    "step.action",
    "step.observation",
    "message",
    "run.stopped",
]


async def test_a_killed_web_process_loses_nothing(
    install: Install, model: ModelServer
) -> None:
    installed = await asyncio.to_thread(install)
    page = Page(installed)
    await asyncio.to_thread(page.sign_in)
    async with page.open() as socket:
        await page.ask(socket)
        await page.hear_until(socket, "step.observation")
        await asyncio.to_thread(installed.kill)
        with pytest.raises(ConnectionClosed):
            await page.hear_until(socket, "nothing more")
    assert "run.stopped" not in page.types
    # The model's second reply is played to whoever asks for it next.
    model.play(
        call("track_shipment", tracking_id="N-88"),
        say(ANSWER),
    )
    await asyncio.to_thread(installed.start)
    async with page.open() as socket:
        stopped = await page.hear_until(socket, "run.stopped")
    assert stopped["reason"] == "answered"
    assert page.types == WHOLE


async def test_a_draining_web_process_sends_its_pages_on_and_gives_its_runs_back(
    install: Install, model: ModelServer
) -> None:
    model.play(
        call("get_order", order_id="O-204"),
        {**call("track_shipment", tracking_id="N-88"), "delay": 20},
    )
    installed = await asyncio.to_thread(install)
    page = Page(installed)
    await asyncio.to_thread(page.sign_in)
    async with page.open() as socket:
        await page.ask(socket)
        await page.hear_until(socket, "step.observation")
        os.kill(installed.web.pid, signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as closed:
            await page.hear_until(socket, "nothing more")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
        await asyncio.to_thread(installed.web.wait_for_end)
    assert "gave back 1 runs" in installed.web.output
    model.play(call("track_shipment", tracking_id="N-88"), say(ANSWER))
    await asyncio.to_thread(installed.start)
    async with page.open() as socket:
        stopped = await page.hear_until(socket, "run.stopped")
    assert stopped["reason"] == "answered"
    assert page.types == WHOLE


async def test_a_worker_runs_what_a_web_process_takes_in(
    install: Install, model: ModelServer, redis_server: RedisServer
) -> None:
    """The page is woken through Redis: its own look at the log comes once a minute."""
    model.play(
        call("get_order", order_id="O-204"),
        call("track_shipment", tracking_id="N-88"),
        say(ANSWER),
    )
    settings = {"REDIS_URL": redis_server.url, "CHAT_POLL_SECONDS": "60"}
    installed = await asyncio.to_thread(install, RUN_IN="worker", **settings)
    page = Page(installed)
    with worker_of(installed):
        await asyncio.to_thread(page.sign_in)
        async with page.open() as socket:
            await page.ask(socket)
            stopped = await page.hear_until(socket, "run.stopped")
    assert stopped["reason"] == "answered"
    assert page.types == WHOLE


async def test_a_worker_adopts_the_run_of_a_killed_web_process(
    install: Install, model: ModelServer, redis_server: RedisServer
) -> None:
    """It finishes while there is no web process at all."""
    installed = await asyncio.to_thread(install, REDIS_URL=redis_server.url)
    page = Page(installed)
    await asyncio.to_thread(page.sign_in)
    async with page.open() as socket:
        await page.ask(socket)
        await page.hear_until(socket, "step.observation")
        await asyncio.to_thread(installed.kill)
    model.play(call("track_shipment", tracking_id="N-88"), say(ANSWER))
    with worker_of(installed):
        async with asyncio.timeout(60):
            while len(model.requests) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    await asyncio.to_thread(installed.start)
    async with page.open() as socket:
        stopped = await page.hear_until(socket, "run.stopped")
    assert stopped["reason"] == "answered"
    assert page.types == WHOLE


async def test_two_servers_on_one_sqlite_file_do_one_run_and_show_it_both(
    install: Install, model: ModelServer
) -> None:
    """No Redis between them: the page at the other one finds it by its look."""
    first = await asyncio.to_thread(install)
    # The same VAR_DIR, and with it the same file.
    second = Product(first.folder / "second", first.env)
    await asyncio.to_thread(second.start)
    try:
        here = Page(first)
        await asyncio.to_thread(here.sign_in)
        there = copy(here)
        there.product, there.log = second, []
        there.address = here.address.replace(str(first.port), str(second.port))
        async with here.open() as socket, there.open() as other:
            await here.ask(socket)
            await there.ask(other)
            await here.hear_until(socket, "run.stopped")
            stopped = await there.hear_until(other, "run.stopped")
        assert stopped["reason"] == "answered"
        assert there.types == here.types == WHOLE
        assert len(model.requests) == 3
    finally:
        await asyncio.to_thread(second.stop)
