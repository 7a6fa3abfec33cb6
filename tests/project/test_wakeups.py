"""The Redis channel layer as the settings make it: mere wake-ups, but those arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils.module_loading import import_string

from chatbot.stores import channel_layer
from tests.servers.redis import RedisServer


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of this test's own, for it is killed."""
    server = RedisServer(tmp_path / "redis")
    server.start()
    yield server
    server.stop()


def make_layer(url: str) -> Any:
    entry = channel_layer(url)
    return import_string(entry["BACKEND"])(**entry["CONFIG"])


@pytest.fixture
async def layer(redis: RedisServer) -> AsyncIterator[Any]:
    made = make_layer(redis.url)
    yield made
    await made.flush()


async def receive(layer: Any, name: str) -> Any:
    async with asyncio.timeout(20):
        return await layer.receive(name)


async def test_a_group_that_was_silent_for_long_still_hears(layer: Any) -> None:
    name = await layer.new_channel()
    await layer.group_add("room", name)
    waiting = asyncio.create_task(receive(layer, name))
    # Past the 5 s after which redis-py's default would have closed the connection.
    await asyncio.sleep(6.5)
    assert not waiting.done()
    await layer.group_send("room", {"type": "log.grew"})
    assert await waiting == {"type": "log.grew"}


async def test_a_burst_of_300_loses_none(layer: Any) -> None:
    name = await layer.new_channel()
    await layer.group_add("room", name)
    for number in range(300):
        await layer.group_send("room", {"type": "log.grew", "number": number})
    heard = [(await receive(layer, name))["number"] for _ in range(300)]
    assert heard == list(range(300))


async def test_groups_outlive_a_restart_of_redis(
    layer: Any, redis: RedisServer
) -> None:
    name = await layer.new_channel()
    await layer.group_add("room", name)
    redis.kill()
    redis.start()
    heard = asyncio.create_task(receive(layer, name))
    # It subscribes anew within its own retry of a second; what is sent before is lost,
    # and is what the page's own look into the log is for.
    while not heard.done():
        await layer.group_send("room", {"type": "log.grew"})
        await asyncio.sleep(0.2)
    assert await heard == {"type": "log.grew"}


async def test_another_process_is_heard(layer: Any, redis: RedisServer) -> None:
    name = await layer.new_channel()
    await layer.group_add("room", name)
    other = make_layer(redis.url)
    await other.group_send("room", {"type": "log.grew"})
    assert await receive(layer, name) == {"type": "log.grew"}
    await other.flush()
