"""Limits that two web processes keep together, through their Redis."""

from __future__ import annotations

import asyncio

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.durability.conftest import started
from tests.servers.crowd import Seat
from tests.servers.product import Product
from tests.servers.stack import Stack


async def opened(web: Product, seat: Seat) -> ClientConnection:
    """A page that was let in."""
    socket = await connect(
        f"ws://127.0.0.1:{web.port}/ws/chat/{seat.conversation}/",
        origin=web.url,  # type: ignore[arg-type]
        additional_headers={"Cookie": f"sessionid={seat.session}"},
        proxy=None,
    )
    await socket.recv()
    return socket


async def code_of(socket: ClientConnection) -> int:
    """The code that the socket is closed with."""
    async with asyncio.timeout(60):
        await socket.wait_closed()
    return int(socket.close_code or 0)


async def test_the_oldest_of_four_pages_goes_whichever_process_they_are_at(
    stack: Stack, seat: Seat
) -> None:
    one, other = stack.webs
    await started(one.web, other.web)
    pages = [await opened(web, seat) for web in (one, other, one)]
    fourth = await opened(other, seat)
    assert await code_of(pages[0]) == 4409
    for page in (*pages[1:], fourth):
        await page.send('{"type": "ping"}')
        while '"pong"' not in str(await page.recv()):
            pass
        await page.close()


async def test_an_address_comes_so_often_to_both_processes_together(
    stack: Stack, seat: Seat
) -> None:
    one, other = stack.webs
    for web in (one, other):
        web.web.env = {**web.env, "CHAT_NEW_SOCKETS_PER_MINUTE": "4"}
    try:
        with stack.redis.client() as redis:
            redis.flushall()
        await started(one.web, other.web)
        pages = [await opened(web, seat) for web in (one, other, one)]
        pages.append(await opened(other, seat))
        for web in (one, other):
            with pytest.raises(ConnectionClosed) as refused:
                await opened(web, seat)
            assert refused.value.rcvd is not None
            assert refused.value.rcvd.code == 4429
        for page in pages:
            await page.close()
    finally:
        for web in (one, other):
            web.web.env = web.env
