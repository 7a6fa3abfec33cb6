"""Limits that hold for all processes together: at each limit, and one beyond."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import uuid4

import pytest
from pytest_django import Settings

from chatbot.chat import shared as module
from chatbot.chat.models import Conversation
from chatbot.chat.shared import Place, Shared
from chatbot.chat.sockets import sockets
from tests.chat.conftest import Browser, World
from tests.servers.redis import RedisServer

Start = Callable[[], Shared]


@pytest.fixture
async def process(
    redis_server: RedisServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Start]:
    """Makes what one more process of the same installation would have."""
    settings.REDIS_URL = redis_server.url
    monkeypatch.setattr(module, "PREFIX", f"test:{uuid4()}")
    # A busy machine answers late; counts are what is looked at here.
    monkeypatch.setattr(module, "SECONDS", 30)
    made: list[Shared] = []

    def start() -> Shared:
        made.append(Shared())
        return made[-1]

    yield start
    for one in made:
        await one.close()


async def test_an_address_comes_so_often_to_all_processes_together(
    process: Start,
) -> None:
    one, other = process(), process()
    came = [
        await who.may_come("10.0.0.1", most=4, seconds=60)
        for who in (one, other, one, other, one, other)
    ]
    assert came == [True] * 4 + [False] * 2
    assert await one.may_come("10.0.0.2", most=4, seconds=60)


async def test_an_address_that_comes_at_once_everywhere_is_counted_exactly(
    process: Start,
) -> None:
    doors = [process() for _ in range(8)]
    asked = [door.may_come("10.0.0.1", most=25, seconds=60) for door in doors * 10]
    assert sum(await asyncio.gather(*asked)) == 25


async def test_an_address_is_let_in_again_after_its_window(process: Start) -> None:
    door = process()
    assert await door.may_come("10.0.0.1", most=1, seconds=0.001)
    await asyncio.sleep(0.02)
    assert await door.may_come("10.0.0.1", most=1, seconds=0.001)


async def test_one_network_of_ipv6_is_one_address(process: Start) -> None:
    door = process()
    assert await door.may_come("2001:db8::1", most=1, seconds=60)
    assert not await door.may_come("2001:db8::2", most=1, seconds=60)


def place(number: int, *, account: int = 1, most: int = 3) -> Place:
    return Place(account, f"{number:015}:x", most)


async def test_the_oldest_of_too_many_sockets_is_named_wherever_it_is(
    process: Start,
) -> None:
    one, other = process(), process()
    assert await one.beyond([place(1), place(2)]) == set()
    assert await other.beyond([place(3), place(9, account=2)]) == set()
    assert await other.beyond([place(3), place(4), place(9, account=2)]) == set()
    assert await one.beyond([place(1), place(2)]) == {place(1).name}
    await other.gone([place(3)])
    assert await one.beyond([place(1), place(2)]) == set()


async def test_sockets_that_died_with_their_process_count_no_more(
    process: Start, settings: Settings
) -> None:
    settings.CHAT_POLL_SECONDS = 0.01
    dead, alive = process(), process()
    await dead.beyond([place(2), place(3), place(4)])
    await asyncio.sleep(0.05)
    assert await alive.beyond([place(1)]) == set()


async def test_many_sockets_are_told_in_parts(
    process: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 2)
    many = [place(number, most=4) for number in range(7)]
    alive = process()
    await alive.beyond(many)
    assert await alive.beyond(many) == {one.name for one in many[:3]}


async def test_while_redis_is_away_each_process_counts_alone(
    tmp_path: Path, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    server = RedisServer(tmp_path)
    server.start()
    settings.REDIS_URL = server.url
    door = Shared()
    try:
        assert await door.may_come("10.0.0.1", most=1, seconds=60)
        server.kill()
        for _ in range(3):
            assert await door.may_come("10.0.0.1", most=1, seconds=60)
            assert await door.beyond([place(1, most=0)]) == set()
            await door.gone([place(1)])
        # It is asked once, and then left alone for a while.
        assert len(caplog.records) == 1
        server.start()
        door._ask_at = 0.0
        assert await door.may_come("10.0.0.1", most=1, seconds=60)
        assert not await door.may_come("10.0.0.1", most=1, seconds=60)
    finally:
        await door.close()
        server.stop()


async def test_without_redis_the_process_is_all_there_is(settings: Settings) -> None:
    settings.REDIS_URL = ""
    door = Shared()
    assert await door.may_come("10.0.0.1", most=0, seconds=60)
    assert await door.beyond([place(1, most=0)]) == set()
    await door.close()


async def test_a_socket_makes_room_for_newer_ones_in_another_process(
    browser: Browser, world: World, conversation: Conversation, process: Start
) -> None:
    page = await browser.opened(conversation)
    (own,) = sockets()._open
    newer = [
        Place(conversation.account_id, f"{number:015}:elsewhere", 3)
        for number in (10**14, 10**14 + 1, 10**14 + 2)
    ]
    elsewhere = process()
    await elsewhere.beyond(newer[:2])
    await sockets().look()
    assert own.beyond == 0

    async def others_stay_open() -> None:
        while True:
            await elsewhere.beyond(newer)
            await asyncio.sleep(0.01)

    staying = asyncio.create_task(others_stay_open())
    try:
        assert await page.hear() == {"type": "closed", "code": 4409}
    finally:
        staying.cancel()


async def test_an_address_is_refused_for_what_it_did_elsewhere(
    browser: Browser, world: World, conversation: Conversation, process: Start
) -> None:
    sockets().comings.most = 2
    await process().may_come("127.0.0.1", most=2, seconds=60)
    await browser.opened(conversation)
    page = await browser.open(conversation)
    assert await page.hear() == {"type": "closed", "code": 4429}
