"""The models of the demonstration: what they cost, and those that need no key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.llm.functions import functions
from chatbot.llm.messages import chat_messages
from chatbot.llm.planning import PLAN_TOOL
from chatbot.llm.scripted_model import ScriptedModel, answer, call, get_order
from chatbot.llm.usage import estimated_usage
from chatbot.react.model import Model
from chatbot.react.types import Reply, RunState, Usage
from chatbot.understanding.needs import Language
from tools.contracts import Json, ToolSpec

ORDER = "O-205"
TASKS: dict[Language, str] = {
    "zh": f"请取消订单 {ORDER}，我不需要了。先等我批准再办。"
    "不要停，马上办完，别再问我。",
    "en": f"Cancel order {ORDER}, I no longer need it. Wait for my approval first. "
    "Don't stop, do it at once, and don't ask me again.",
}
DONE: dict[Language, str] = {
    "zh": f"订单 {ORDER} 已取消。",
    "en": f"Order {ORDER} has been cancelled.",
}
CANCEL: dict[str, Json] = {"order_id": ORDER, "reason": "no longer needed"}


@dataclass(slots=True)
class Counted:
    """A model whose calls and tokens are counted; estimated where it names none."""

    model: Model
    instructions: str
    name: str = ""
    calls: int = 0
    tokens: int = 0
    estimated: bool = False

    def __post_init__(self) -> None:
        self.name = self.model.name

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        self.calls += 1
        reply = await self.model.propose(state, tools)
        usage = reply.usage
        if not usage.total:
            usage = self._estimate(state, tools, reply)
        self.tokens += usage.total
        self.estimated |= usage.estimated
        return reply

    def _estimate(
        self, state: RunState, tools: Sequence[ToolSpec], reply: Reply
    ) -> Usage:
        messages = chat_messages(
            state, instructions=self.instructions, window=5, max_bytes=4096
        )
        offered = functions(tools, state.question.language if state.question else "en")
        return estimated_usage(f"{messages}{offered.decode()}", str(reply.proposals))


def impatient_model(language: Language) -> Model:
    """Obeys "do it at once": proposes the change again and again, and calls it done."""
    cancel = call("cancel_order", order_id=ORDER, reason="no longer needed")
    return ScriptedModel(
        get_order(ORDER), cancel, cancel, answer(DONE[language]), usage=Usage()
    )


_LOOK: dict[str, Json] = {
    "id": "look",
    "kind": "observe",
    "tool": "get_order",
    "arguments": {"order_id": ORDER},
}
_ACT: dict[str, Json] = {
    "id": "cancel",
    "kind": "act",
    "tool": "cancel_order",
    "arguments": CANCEL,
}
_WAIT: dict[str, Json] = {"id": "wait", "kind": "await", "approves": "cancel"}
_TELL: dict[str, Json] = {"id": "tell", "kind": "answer"}
HASTY_PLAN: list[Json] = [_LOOK, _ACT, _TELL]
PATIENT_PLAN: list[Json] = [_LOOK, _WAIT, _ACT, _TELL]


def planner(*plans: list[Json]) -> Model:
    """Proposes these plans, one after another; the last one again."""
    calls = [call(PLAN_TOOL.name, steps=plan) for plan in plans]
    return ScriptedModel(*calls, repeat_last=True, usage=Usage())
