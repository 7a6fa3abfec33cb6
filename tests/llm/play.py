"""Whole runs through the loop, with the shop in memory: no database, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from chatbot.assistant.proofs import PROOFS
from chatbot.llm.offline_model import OfflineModel
from chatbot.react.loop import run_react
from chatbot.react.model import Model
from chatbot.react.signals import Signals
from chatbot.react.types import (
    Acted,
    Background,
    Limits,
    LoopEvent,
    Observed,
    Refused,
    Reply,
    RunState,
    SentBack,
    Stopped,
    StopReason,
    Turn,
)
from chatbot.understanding.needs import Question, read_question
from tests.llm.helpers import TOOLS
from tests.llm.shop import NOW, Shop
from tools.contracts import ToolSpec, canonical_number


class Decider(OfflineModel):
    """Decides by rules, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        self.asked += 1
        return await super().propose(state, tools)


@dataclass(slots=True)
class Played:
    """One run that is over."""

    events: list[LoopEvent]

    @property
    def end(self) -> Stopped:
        last = self.events[-1]
        assert isinstance(last, Stopped)
        return last

    @property
    def answer(self) -> str:
        return self.end.answer

    @property
    def reason(self) -> StopReason:
        return self.end.reason

    @property
    def calls(self) -> list[str]:
        """The reads that were made, as ``tool argument``."""
        return [
            " ".join([one.call.name, *map(str, one.call.arguments.values())])
            for one in self.events
            if isinstance(one, Acted)
        ]

    @property
    def corrections(self) -> list[LoopEvent]:
        """What code had to refuse or send back."""
        return [one for one in self.events if isinstance(one, Refused | SentBack)]


@dataclass(slots=True)
class Conversation:
    """Asks one question after the other, each with all that was said before."""

    shop: Shop = field(default_factory=Shop)
    model: Model = field(default_factory=OfflineModel)
    tools: Sequence[ToolSpec] = TOOLS
    limits: Limits = field(default_factory=Limits)
    turns: tuple[Turn, ...] = ()
    known: frozenset[str] = frozenset()

    async def ask(self, text: str) -> Played:
        earlier: list[Question] = []
        for turn in self.turns:
            if turn.speaker == "customer":
                earlier.append(read_question(turn.text, earlier=earlier))
        said = [turn.text for turn in self.turns if turn.speaker == "assistant"]
        background = Background(
            time_zone="Asia/Shanghai",
            turns=self.turns,
            earlier_questions=tuple(earlier),
            known_numbers=self.known,
        )
        question = read_question(
            text, earlier=earlier, previous_agent=said[-1] if said else ""
        )
        state = RunState(background, question=question)
        events = [
            event
            async for event in run_react(
                state,
                model=self.model,
                tools=self.tools,
                observe=self.shop.observe,
                limits=self.limits,
                proofs=PROOFS,
                signals=Signals(),
                now=lambda: NOW,
            )
        ]
        played = Played(events)
        self.turns += (Turn("customer", text), Turn("assistant", played.answer))
        self.known |= {
            number
            for event in events
            if isinstance(event, Observed)
            for number in _numbers(event.observation.fields)
        }
        return played


def _numbers(value: object) -> set[str]:
    if isinstance(value, dict):
        own = {
            canonical_number(number)
            for name in ("order_id", "tracking_id")
            if isinstance(number := value.get(name), str)
        }
        return own.union(*map(_numbers, value.values()))
    if isinstance(value, list):
        return set().union(*map(_numbers, value))
    return set()


async def ask(text: str, shop: Shop | None = None) -> Played:
    """One question in a conversation of its own."""
    return await Conversation(shop=shop or Shop()).ask(text)
