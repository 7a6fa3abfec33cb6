"""What the loop asks of any model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chatbot.react.types import Reply, RunState
from tools.contracts import ToolSpec


class Model(Protocol):
    """Proposes one next move; sees only the tools it is given.

    ``name`` is shown in the trace and, for the offline model, to the customer. Raises
    ``ModelError`` when no whole reply came; never returns half a reply.
    """

    name: str

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply: ...
