"""More requests at once than the database has connections: known failures 14 and 15."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest
from django.conf import settings

from chatbot.pages import PAGES_AT_ONCE
from tests.durability.test_limits_of_all import opened
from tests.servers.crowd import Seat, take_seats
from tests.servers.records import Records
from tests.servers.stack import Stack

CONNECTIONS = 20
AT_ONCE = 60
SEATS = 20


@pytest.fixture
def small() -> Iterator[Stack]:
    """An installation whose database lets few in."""
    with tempfile.TemporaryDirectory(prefix="waybill-small-") as name:
        Path(name).chmod(0o755)
        settings = {"CHAT_NEW_SOCKETS_PER_MINUTE": "1000"}
        made = Stack(Path(name), settings, max_connections=str(CONNECTIONS))
        try:
            made.prepare()
            made.product.start()
            yield made
        finally:
            made.stop()


async def test_sixty_pages_and_sixty_sockets_share_a_database_of_twenty(
    small: Stack,
) -> None:
    web = small.product
    seats = await asyncio.to_thread(take_seats, web, SEATS)
    doors = [seat for seat in seats for _ in range(AT_ONCE // SEATS)]

    async def page(client: httpx2.AsyncClient, seat: Seat) -> int:
        cookies = {"Cookie": f"sessionid={seat.session}"}
        answer = await client.get(
            f"{web.url}/chat/{seat.conversation}/", headers=cookies
        )
        return answer.status_code

    async with AsyncExitStack() as open_pages:
        async with httpx2.AsyncClient(timeout=60) as client:
            pages = asyncio.gather(*(page(client, seat) for seat in doors))
            sockets = await asyncio.gather(*(opened(web, seat) for seat in doors))
            for socket in sockets:
                open_pages.push_async_callback(socket.close)
            assert set(await pages) == {200}
        used = Records(small.postgres.url).number(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
    assert 0 < used <= settings.DATABASE_THREADS + PAGES_AT_ONCE
    assert "too many" not in web.web.output
