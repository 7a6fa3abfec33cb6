"""A model of its own for the wording: where nothing is left to decide, it answers.

Code says when that is so: every part of the question is proved by this run's
observations. The answer passes the completion check whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.react import state as known
from chatbot.react.coverage import question_slots
from chatbot.react.model import Model
from chatbot.react.types import (
    FinalAnswer,
    ModelError,
    Proof,
    Reply,
    RunState,
    SlotState,
    Usage,
)
from tools.contracts import ToolSpec


@dataclass(slots=True)
class WordingModel:
    """``worder`` writes the first answer of a run, ``decider`` does all else.

    ``worder`` sees the question and the results, no earlier message and no tool. What
    it brings beside an answer counts for nothing, and neither does a failure of it:
    ``decider`` is asked then, as it is for an answer that was sent back.
    """

    worder: Model
    decider: Model
    proofs: Sequence[Proof]
    name: str = ""
    _asked: bool = False

    def __post_init__(self) -> None:
        self.name = self.decider.name

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        usage = Usage()
        if not self._asked and self._is_decided(state):
            self._asked = True
            try:
                reply = await self.worder.propose(_declared(state), ())
            except ModelError as error:
                usage = error.usage.by(self.worder.name)
            else:
                usage = reply.usage.by(self.worder.name)
                if isinstance(reply.proposals[0], FinalAnswer):
                    return Reply(reply.proposals[:1], usage)
        try:
            reply = await self.decider.propose(state, tools)
        except ModelError as error:
            error.usage = usage + error.usage
            raise
        return Reply(reply.proposals, usage + reply.usage)

    def _is_decided(self, state: RunState) -> bool:
        if not known.observations(state) or known.sent_back(state):
            return False
        slots = question_slots(
            question=known.question_of(state),
            observations=known.observations(state),
            proofs=self.proofs,
            background=state.background,
        )
        return bool(slots) and all(one.state is SlotState.FILLED for one in slots)


def _declared(state: RunState) -> RunState:
    """All that whoever words an answer has to know."""
    return replace(state, background=replace(state.background, turns=()))
