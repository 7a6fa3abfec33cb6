"""One bounded executor through which every ORM unit of work leaves the event loop."""

from __future__ import annotations

import asyncio
import select
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from threading import Barrier, Lock
from time import monotonic
from typing import Any, Generic, ParamSpec, TypeVar

import psycopg
from django.conf import settings
from django.db import close_old_connections, connection, connections

P = ParamSpec("P")
T = TypeVar("T")

# A connection that rested longer is asked before it is used again, in seconds.
TRUSTED_FOR = 5.0


@cache
def _executor() -> ThreadPoolExecutor:
    # The bound of this pool is the bound of the process's database connections: each
    # thread keeps one, so there is no second pool to size.
    return ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="database")


def close_threads() -> None:
    """End the threads with their connections; the next unit of work gets new ones.

    Needed where the database under a running process is exchanged for another.
    """
    if not _executor.cache_info().currsize:
        return
    executor = _executor()
    everyone = Barrier(settings.DATABASE_THREADS)

    def let_go() -> None:
        everyone.wait(timeout=30)
        connections.close_all()

    for done in [executor.submit(let_go) for _ in range(settings.DATABASE_THREADS)]:
        done.result()
    executor.shutdown(wait=True)
    _executor.cache_clear()


async def in_database(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run one short synchronous unit of work, one transaction at most, off the loop.

    Once begun it is finished, also when nobody waits for it any more.
    """
    unit = partial(_with_a_live_connection, fn, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_executor(), unit)


async def read_from_database(
    fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """The same for a read, which is ended in the database too when it is cancelled."""
    unit = _Interruptible(partial(fn, *args, **kwargs))
    try:
        return await in_database(unit.run)
    except asyncio.CancelledError:
        unit.interrupt()
        raise


def _with_a_live_connection(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    close_old_connections()
    here: Any = connection
    if here.connection is not None:
        # Django would ask with a statement each time, which costs as much as a read.
        here.health_check_done = _is_trusted()
    try:
        return fn(*args, **kwargs)
    finally:
        close_old_connections()
        _used.at = monotonic()


_used = threading.local()


def _is_trusted() -> bool:
    """Whether this thread's connection worked just now and nobody has closed it since.

    What a server says when it goes away, and the end of the connection itself, can be
    read from a socket on which nothing is asked.
    """
    if monotonic() - getattr(_used, "at", 0.0) > TRUSTED_FOR:
        return False
    if connection.vendor != "postgresql":
        return True
    try:
        poll = select.poll()
        poll.register(connection.connection.fileno(), select.POLLIN | select.POLLHUP)
        return not poll.poll(0)
    except (OSError, psycopg.Error):
        return False


class _Interruptible(Generic[T]):
    """A unit of work whose running SQLite statement another thread may end.

    PostgreSQL needs no help: its statement timeout is shorter than any tool's time.
    SQLite has none, and a thread left behind in a long query is lost for the others.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        # Held while interrupting, so that the thread cannot meanwhile go on to the
        # unit of somebody else.
        self._lock = Lock()
        self._statement: sqlite3.Connection | None = None
        self._given_up = False

    def run(self) -> T:
        if connection.vendor == "sqlite":
            connection.ensure_connection()
        with self._lock:
            if self._given_up:
                raise TimeoutError("given up before it began")
            raw = connection.connection
            self._statement = raw if isinstance(raw, sqlite3.Connection) else None
        try:
            return self._work()
        finally:
            with self._lock:
                self._statement = None

    def interrupt(self) -> None:
        with self._lock:
            self._given_up = True
            if self._statement is not None:
                self._statement.interrupt()
