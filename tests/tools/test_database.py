"""A read that nobody waits for any more ends in the database too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, connections, transaction

from tools.database import in_database, read_from_database
from tools.errors import ToolTimeout
from tools.timeouts import run_tool_with_timeout

pytestmark = pytest.mark.django_db(transaction=True)
# Counts for ever on SQLite; PostgreSQL ends it by its own statement timeout.
ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    " SELECT count(*) FROM n"
)


async def test_a_query_without_end_is_ended_and_its_thread_is_free_again() -> None:
    ended = threading.Event()
    began = threading.Event()

    def count() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    # The suite's own timeout is longer than the product's.
                    seconds = settings.DATABASE_STATEMENT_SECONDS
                    cursor.execute(f"SET LOCAL statement_timeout = '{seconds}s'")
                began.set()
                cursor.execute(ENDLESS)
        finally:
            ended.set()

    reading = asyncio.create_task(read_from_database(count))
    assert await asyncio.to_thread(began.wait, 20)
    # The statement itself has to be under way.
    await asyncio.sleep(0.1)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await asyncio.to_thread(ended.wait, 20)


async def test_a_unit_that_is_given_up_before_it_begins_never_runs() -> None:
    ran: list[int] = []
    hold = threading.Event()
    busy = [
        asyncio.create_task(in_database(hold.wait))
        for _ in range(settings.DATABASE_THREADS)
    ]
    await asyncio.sleep(0)
    waiting = asyncio.create_task(read_from_database(ran.append, 1))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    hold.set()
    await asyncio.gather(*busy)
    assert await in_database(lambda: "free") == "free"
    assert ran == []


async def test_so_many_units_run_side_by_side_and_no_more() -> None:
    """Not one after the other in a thread that all sockets share, as by default."""
    threads = settings.DATABASE_THREADS
    together = threading.Barrier(threads)
    used: set[int] = set()

    def meet() -> None:
        used.add(threading.get_ident())
        # Broken, and raised, where fewer are at work at the same time.
        together.wait(timeout=20)
        connection.ensure_connection()

    await asyncio.gather(*(in_database(meet) for _ in range(threads * 8)))
    assert len(used) == threads


async def test_a_timeout_cancels_what_the_tool_awaits() -> None:
    cancelled = asyncio.Event()

    async def never() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(ToolTimeout):
        await run_tool_with_timeout(0.01, never)
    assert cancelled.is_set()


async def test_a_tools_own_timeout_is_told_from_ours() -> None:
    async def gives_up() -> None:
        raise TimeoutError

    with pytest.raises(ToolTimeout, match="behind the tool"):
        await run_tool_with_timeout(60, gives_up)


async def test_cancelling_the_run_is_no_timeout_of_the_tool() -> None:
    running = asyncio.create_task(run_tool_with_timeout(60, asyncio.Event().wait))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.skipif(connection.vendor != "postgresql", reason="a server's connections")
async def test_a_connection_that_was_closed_meanwhile_is_not_used_again() -> None:
    """Closed by the server right after it was used, for whatever reason."""

    def own_process() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return int(cursor.fetchone()[0])

    def end_the_others() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    units = range(settings.DATABASE_THREADS)
    before = await asyncio.gather(*(in_database(own_process) for _ in units))
    await asyncio.to_thread(_in_a_thread_of_its_own, end_the_others)
    after = await asyncio.gather(*(in_database(own_process) for _ in units))
    assert not set(before) & set(after)


async def test_a_connection_that_works_is_not_asked_before_each_unit() -> None:
    def was_trusted() -> bool:
        here: Any = connection
        trusted = bool(here.health_check_done)
        here.ensure_connection()
        return trusted

    for _ in range(4 * settings.DATABASE_THREADS):
        await in_database(was_trusted)
    assert await in_database(was_trusted)


def _in_a_thread_of_its_own(work: Callable[[], None]) -> None:
    try:
        work()
    finally:
        connections.close_all()
