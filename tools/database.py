"""One bounded executor through which every ORM unit of work leaves the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _executor() -> ThreadPoolExecutor:
    # The bound of this pool is the bound of the process's database connections: each
    # thread keeps one, so there is no second pool to size.
    return ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="database")


async def in_database(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run one short synchronous unit of work, one transaction at most, off the loop."""
    unit = partial(_with_a_live_connection, fn, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_executor(), unit)


def _with_a_live_connection(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    close_old_connections()
    try:
        return fn(*args, **kwargs)
    finally:
        close_old_connections()
