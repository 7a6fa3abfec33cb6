"""Running a tool so that it ends when its time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tools.catalog.tool import Raw, Tool
from tools.contracts import Actor, Json
from tools.errors import ToolTimeout


async def run_tool_with_timeout(
    tool: Tool, actor: Actor, arguments: Mapping[str, Json], *, seconds: float
) -> Raw:
    """The tool's raw result, or ``ToolTimeout`` once ``seconds`` are over.

    The coroutine is really cancelled. A query that it left in the database's thread is
    ended there by the statement timeout; its result is thrown away.
    """
    try:
        async with asyncio.timeout(seconds):
            result: Mapping[str, Any] = await tool.run(actor, arguments)
            return result
    except TimeoutError as error:
        raise ToolTimeout(f"no answer within {seconds:g} s") from error
