"""A model that plays given proposals: for tests, and for replaying recorded runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from chatbot.react.types import (
    AskCustomer,
    FinalAnswer,
    HandOver,
    Malformed,
    ModelError,
    Proposal,
    Reply,
    RunState,
    Usage,
)
from tools.contracts import Json, ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class Never:
    """A model call that no answer comes to, until it is cancelled."""


Played: TypeAlias = "Proposal | Malformed | Reply | ModelError | Never"
Entry: TypeAlias = (
    "Played | Sequence[Proposal | Malformed] | Callable[[RunState], Entry]"
)


class ScriptedModel:
    """Plays one entry a model call, in order.

    An entry is a proposal, several proposals of one reply, a whole ``Reply``, a
    ``ModelError`` to raise, ``never()``, or a function of the state that gives one of
    these. ``calls`` counts the model calls, ``offered`` keeps the tool names of each.
    A call beyond the script raises ``AssertionError``, unless ``repeat_last`` is set.
    """

    name = "scripted"

    def __init__(
        self,
        *script: Entry,
        repeat_last: bool = False,
        usage: Usage = Usage(100, 20),  # noqa: B008 - frozen
    ) -> None:
        self.script = script
        self.repeat_last = repeat_last
        self.usage = usage
        self.calls = 0
        self.offered: list[tuple[str, ...]] = []

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        number = self.calls
        self.calls += 1
        self.offered.append(tuple(tool.name for tool in tools))
        if self.repeat_last:
            number = min(number, len(self.script) - 1)
        if number >= len(self.script):
            raise AssertionError(f"the script ends after {len(self.script)} entries")
        entry = self.script[number]
        while callable(entry):
            entry = entry(state)
        if isinstance(entry, ModelError):
            raise entry
        if isinstance(entry, Never):
            await asyncio.Event().wait()
            raise AssertionError("nobody sets this event")
        if isinstance(entry, Reply):
            return entry
        several = entry if isinstance(entry, Sequence) else (entry,)
        return Reply(
            tuple(
                _with_id(proposal, f"call-{self.calls}-{index}")
                for index, proposal in enumerate(several, start=1)
            ),
            self.usage,
        )


def _with_id(proposal: Proposal | Malformed, call_id: str) -> Proposal | Malformed:
    if isinstance(proposal, ToolCall) and not proposal.id:
        return replace(proposal, id=call_id)
    if isinstance(proposal, Malformed) and not proposal.call_id:
        return replace(proposal, call_id=call_id)
    return proposal


def call(name: str, *, thought: str = "", **arguments: Json) -> ToolCall:
    return ToolCall(id="", name=name, arguments=arguments, thought=thought)


def list_my_orders(*, thought: str = "", **arguments: Json) -> ToolCall:
    return call("list_my_orders", thought=thought, **arguments)


def get_order(order_id: str, *, thought: str = "") -> ToolCall:
    return call("get_order", thought=thought, order_id=order_id)


def track(tracking_id: str, *, thought: str = "") -> ToolCall:
    return call("track_shipment", thought=thought, tracking_id=tracking_id)


def get_refund(order_id: str, *, thought: str = "") -> ToolCall:
    return call("get_refund", thought=thought, order_id=order_id)


def search_help(query: str, *, thought: str = "") -> ToolCall:
    return call("search_help", thought=thought, query=query)


def answer(text: str) -> FinalAnswer:
    return FinalAnswer(text)


def ask(text: str, *options: str) -> AskCustomer:
    return AskCustomer(text, options)


def hand_over(reason: str, text: str = "") -> HandOver:
    return HandOver(reason, text)


def malformed(problem: str, *, name: str = "", raw_arguments: str = "") -> Malformed:
    return Malformed(problem, name=name, raw_arguments=raw_arguments)


def fails(
    message: str = "the model did not answer",
    *,
    retryable: bool = True,
    retry_after: float | None = None,
) -> ModelError:
    return ModelError(message, retryable=retryable, retry_after=retry_after)


def never() -> Never:
    return Never()
