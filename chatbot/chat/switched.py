"""A model that staff can turn off: then it is away, as after an outage."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from chatbot.chat.loops import one_per_loop
from chatbot.react.model import Model
from chatbot.react.types import ModelError, Reply, RunState
from chatbot.workflow.models import SwitchName
from chatbot.workflow.switches import is_off
from tools.contracts import ToolSpec
from tools.database import in_database

# Seconds for which all runs of a process share one look at the switch.
LOOK_IS_FRESH = 1.0


class Look:
    def __init__(self) -> None:
        self._looked_at: float | None = None
        self._off = False

    async def model_is_off(self) -> bool:
        now = monotonic()
        if self._looked_at is None or now - self._looked_at > LOOK_IS_FRESH:
            self._looked_at = now
            self._off = await in_database(is_off, SwitchName.MODEL)
        return self._off


look = one_per_loop(Look)


class Switched:
    """Asks the model only while nobody has turned models off."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        if await look().model_is_off():
            raise ModelError("turned off by staff", retryable=False)
        return await self._model.propose(state, tools)
