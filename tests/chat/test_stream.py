"""Wake-ups between processes: through Redis, best effort, never a reason to fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from channels.layers import channel_layers
from django.utils import timezone
from pytest_django import Settings

from chatbot.chat import stream as stream_module
from chatbot.chat.models import Message
from chatbot.chat.stream import Stream
from chatbot.stores import channel_layer
from tests.chat.conftest import until
from tests.servers.redis import RedisServer


class Ear:
    """A socket's line, as far as the stream knows it."""

    def __init__(self) -> None:
        self.offered: list[int] = []
        self.heard: list[int] = []

    def offer(self, seq: int, entry: str) -> None:
        self.offered.append(seq)

    def grew_to(self, last_seq: int) -> None:
        self.heard.append(last_seq)


def row(seq: int) -> Message:
    return Message(seq=seq, speaker="notice", text="", created_at=timezone.now())


@pytest.fixture
async def layer(
    redis_server: RedisServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[None]:
    settings.REDIS_URL = redis_server.url
    settings.CHANNEL_LAYERS = {"default": channel_layer(redis_server.url)}
    monkeypatch.setattr(stream_module, "WAIT_AFTER_TROUBLE", 0.1)
    yield
    for backend in channel_layers.backends.values():
        await backend.flush()


async def stop(*streams: Stream) -> None:
    for one in streams:
        assert one._wires is not None
        for task in (one._wires._telling, one._wires._listening):
            if task is not None:
                task.cancel()


async def told_again_and_again(there: Stream, talk: UUID, ear: Ear, seq: int) -> None:
    """A wake-up may be lost; one of many arrives."""

    async def heard() -> bool:
        there.publish(talk, [row(seq)])
        await asyncio.sleep(0.05)
        return seq in ear.heard

    await until(heard)


async def test_pages_of_another_process_hear_that_the_log_has_grown(
    layer: None,
) -> None:
    here, there = Stream(), Stream()
    talk, other = uuid4(), uuid4()
    ear, deaf = Ear(), Ear()
    here.join(talk, ear)
    here.join(other, deaf)
    await told_again_and_again(there, talk, ear, 7)
    assert ear.offered == []
    assert deaf.heard == []
    await stop(here, there)


async def test_a_process_does_not_hear_itself(layer: None) -> None:
    here, there = Stream(), Stream()
    talk, ear, other = uuid4(), Ear(), Ear()
    here.join(talk, ear)
    there.join(talk, other)
    await told_again_and_again(here, talk, other, 7)
    assert set(ear.offered) == {7}
    assert ear.heard == []
    await stop(here, there)


async def test_news_of_many_logs_is_told_together(
    layer: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = Stream(), Stream()
    talks, ear = [uuid4() for _ in range(50)], Ear()
    for talk in talks:
        here.join(talk, ear)
    await told_again_and_again(there, talks[0], ear, 1)
    assert there._wires is not None
    sent, send = [], there._wires._layer.group_send

    async def counted(group: str, news: dict[str, Any]) -> None:
        sent.append(news)
        await send(group, news)

    monkeypatch.setattr(there._wires._layer, "group_send", counted)
    for number, talk in enumerate(talks):
        there.publish(talk, [row(number + 100)])

    async def all_heard() -> bool:
        return {seq for seq in ear.heard if seq >= 100} == set(range(100, 150))

    await until(all_heard)
    assert len(sent) < 5
    await stop(here, there)


async def test_a_restart_of_redis_costs_wake_ups_and_nothing_else(
    layer: None, redis_server: RedisServer
) -> None:
    here, there = Stream(), Stream()
    talk, ear = uuid4(), Ear()
    here.join(talk, ear)
    await told_again_and_again(there, talk, ear, 1)
    await asyncio.to_thread(redis_server.kill)
    there.publish(talk, [row(2)])
    near = Ear()
    there.join(talk, near)
    there.publish(talk, [row(3)])
    assert near.offered == [3]
    await asyncio.to_thread(redis_server.start)
    await told_again_and_again(there, talk, ear, 4)
    await stop(here, there)


async def test_without_redis_nobody_is_told(settings: Settings) -> None:
    settings.REDIS_URL = ""
    alone = Stream()
    ear, talk = Ear(), uuid4()
    alone.join(talk, ear)
    alone.publish(talk, [row(1), row(2)])
    alone.leave(talk, ear)
    alone.publish(talk, [row(3)])
    assert ear.offered == [1, 2]
    assert not alone._listeners
