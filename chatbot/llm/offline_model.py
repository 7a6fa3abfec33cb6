"""A decision-maker without a model: the whole product without a key."""

from __future__ import annotations

from collections.abc import Sequence

from chatbot.llm.offline.plan import next_move
from chatbot.react.types import Reply, RunState, Usage
from tools.contracts import ToolSpec


class OfflineModel:
    """Chooses the next move by rules; same interface, tools and limits as any model.

    Deterministic: equal states give equal replies. Costs no tokens.
    """

    name = "Waybill offline"

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        return Reply((next_move(state, tools),), Usage())
