"""What an entry of the catalogue is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import BaseModel

from tools.contracts import Actor, Json, ToolSpec

# Raw on purpose: what a tool returns is nothing before its result model has read it.
Raw: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that reads: its spec, the coroutine behind it, the shape of its result."""

    spec: ToolSpec
    run: Callable[[Actor, Mapping[str, Json]], Awaitable[Raw]]
    result: type[BaseModel]
    source: str = "shop"
