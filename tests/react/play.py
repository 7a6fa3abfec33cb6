"""Play a scripted model against a small shop that lives in a dict."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from chatbot.assistant.proofs import PROOFS
from chatbot.react.loop import run_react
from chatbot.react.model import Model
from chatbot.react.signals import Signals
from chatbot.react.state import resume
from chatbot.react.types import (
    Acted,
    Background,
    Limits,
    LoopEvent,
    Observed,
    RunState,
    Stopped,
    StopReason,
)
from chatbot.understanding.needs import read_question
from tools.contracts import (
    Effect,
    Json,
    Observation,
    ObservationStatus,
    ToolCall,
    ToolSpec,
    canonical_number,
)

NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
QUESTION = "Has O-204 shipped, and where is it now?"

ORDER_204: Mapping[str, Json] = {
    "order_id": "O-204",
    "status": "shipped",
    "shipped_at": "2026-11-29T02:00:00+00:00",
    "total": {"amount": "199.00", "currency": "CNY"},
    "parcels": [{"tracking_id": "N-88", "carrier": "sf", "status": "in_transit"}],
}
SHIPMENT_88: Mapping[str, Json] = {
    "tracking_id": "N-88",
    "order_id": "O-204",
    "carrier_name": "SF Express",
    "status": "in_transit",
    "place": "Wuhan",
    "last_event_at": "2026-12-01T06:00:00+00:00",
    "estimated_delivery_at": None,
}
SHOP: Mapping[str, Mapping[str, Json]] = {
    "get_order:O204": ORDER_204,
    "track_shipment:N88": SHIPMENT_88,
}


def spec(name: str, argument: str, effect: Effect = Effect.READ) -> ToolSpec:
    return ToolSpec(
        name=name,
        description={},
        parameters={
            "type": "object",
            "properties": {argument: {"type": "string", "maxLength": 64}},
            "required": [argument],
            "additionalProperties": False,
        },
        effect=effect,
        fields=(),
    )


TOOLS = (
    spec("get_order", "order_id"),
    spec("track_shipment", "tracking_id"),
    spec("search_orders", "text"),
    spec("cancel_order", "order_id", Effect.WRITE),
)


@dataclass
class Shop:
    """Answers from ``data``; a status in place of fields is a failure."""

    data: Mapping[str, Mapping[str, Json] | ObservationStatus] = field(
        default_factory=lambda: dict(SHOP)
    )
    calls: list[str] = field(default_factory=list)

    async def observe(self, call: ToolCall, observation_id: str) -> Observation:
        [argument] = call.arguments.values()
        key = f"{call.name}:{canonical_number(str(argument))}"
        self.calls.append(key)
        found = self.data.get(
            key, self.data.get(call.name, ObservationStatus.NOT_FOUND)
        )
        status = found if isinstance(found, ObservationStatus) else ObservationStatus.OK
        return Observation(
            id=observation_id,
            call_id=call.id,
            tool=call.name,
            arguments=call.arguments,
            status=status,
            fields={} if isinstance(found, ObservationStatus) else found,
            observed_at=NOW,
            source="shop",
        )


@dataclass
class Played:
    events: list[LoopEvent]
    state: RunState
    shop: Shop

    @property
    def end(self) -> Stopped:
        last = self.events[-1]
        assert isinstance(last, Stopped)
        return last

    @property
    def stop_reason(self) -> StopReason:
        return self.end.reason

    @property
    def tools_used(self) -> list[str]:
        return [e.call.name for e in self.events if isinstance(e, Acted)]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def completed(self) -> list[str]:
        return [
            e.observation.call_id
            for e in self.events
            if isinstance(e, Observed) and not e.repeated
        ]


class Clock:
    """Stands still, or goes on by ``step`` seconds each time it is read."""

    def __init__(self, step: float = 0) -> None:
        self.at = NOW
        self.step = timedelta(seconds=step)

    def __call__(self) -> datetime:
        self.at += self.step
        return self.at


def play(
    model: Model,
    question: str = QUESTION,
    *,
    shop: Shop | None = None,
    limits: Limits | None = None,
    background: Background | None = None,
    signals: Signals | None = None,
    tools: Sequence[ToolSpec] = TOOLS,
    clock: Clock | None = None,
    events: Sequence[LoopEvent] = (),
    stop_after: int | None = None,
) -> Played:
    """Run to the end, or only to ``stop_after`` new events, as a killed process would.

    ``events`` are those of an earlier process, from which this one resumes.
    """
    world = shop or Shop()
    state = resume(background or Background(), events)
    if state.question is None:
        state.question = read_question(question)
    seen = list(events)

    async def run() -> None:
        stream = run_react(
            state,
            model=model,
            tools=tools,
            observe=world.observe,
            limits=limits or Limits(),
            proofs=PROOFS,
            signals=signals or Signals(),
            now=clock or Clock(),
        )
        async for event in stream:
            seen.append(event)
            if stop_after is not None and len(seen) - len(events) >= stop_after:
                return

    asyncio.run(run())
    return Played(seen, state, world)


def with_limits(**changes: Any) -> Limits:
    return replace(Limits(), **changes)
