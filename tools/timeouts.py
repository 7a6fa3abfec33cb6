"""Running a tool so that it ends when its time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from tools.errors import ToolTimeout

P = ParamSpec("P")
T = TypeVar("T")


async def run_tool_with_timeout(
    seconds: float, run: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
) -> T:
    """What ``run`` returns, or ``ToolTimeout`` once ``seconds`` are over.

    The coroutine is really cancelled, and with it the request or query that it awaits.
    """
    scope = asyncio.timeout(max(0.0, seconds))
    try:
        async with scope:
            return await run(*args, **kwargs)
    except TimeoutError as error:
        if not scope.expired():
            # The tool's own, of a socket or a connection: no answer either.
            raise ToolTimeout("the system behind the tool gave no answer") from error
        raise ToolTimeout(f"no answer within {seconds:.1f} s") from error
