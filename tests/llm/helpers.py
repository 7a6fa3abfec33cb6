"""A run's state, and a model on a test server, in one line each."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from chatbot.evals.model_server import ModelServer
from chatbot.llm.client import Endpoint
from chatbot.llm.openai_model import OpenAIModel
from chatbot.react.types import Acted, Background, Observed, RunState
from chatbot.understanding.needs import read_question
from tools.contracts import (
    Effect,
    Json,
    Observation,
    ObservationStatus,
    ToolCall,
    ToolSpec,
)

NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
KEY = "sk-CANARY-KEY-0123456789"
QUESTION = "Has order O-204 shipped, and where is it now?"


def spec(name: str, argument: str = "", **more: Json) -> ToolSpec:
    properties: dict[str, Json] = dict(more)
    if argument:
        properties = {argument: {"type": "string"}, **properties}
    return ToolSpec(
        name=name,
        description={"en": f"Use {name}.", "zh": f"使用 {name}。"},
        parameters={
            "type": "object",
            "properties": properties,
            "required": [argument] if argument else [],
            "additionalProperties": False,
        },
        effect=Effect.READ,
        fields=(),
    )


TOOLS = (
    spec("list_my_orders"),
    spec("get_order", "order_id"),
    spec("track_shipment", "tracking_id"),
    spec("get_refund", "order_id"),
    spec("search_help", "query"),
)


def model(server: ModelServer, **settings: Any) -> OpenAIModel:
    """The adapter with deadlines short enough for a test."""
    defaults: dict[str, Any] = {
        "first_token": 10.0,
        "silence": 10.0,
        "total": 20.0,
        "retries": 0,
    }
    endpoint = Endpoint("fake", KEY, server.base_url, **{**defaults, **settings})
    return OpenAIModel(endpoint, instructions={"en": "Be right.", "zh": "要准确。"})


def asked(text: str = QUESTION, **background: Any) -> RunState:
    return RunState(Background(**background), question=read_question(text))


def observed(
    state: RunState,
    tool: str,
    arguments: dict[str, Json],
    fields: dict[str, Json] | None = None,
    status: ObservationStatus = ObservationStatus.OK,
    **more: Any,
) -> RunState:
    """The state with one more call and its observation."""
    number = len(state.events)
    call = ToolCall(f"c{number:05d}000", tool, arguments)
    observation = Observation(
        id=f"obs-{number}",
        call_id=call.id,
        tool=tool,
        arguments=arguments,
        status=status,
        fields=fields or {},
        observed_at=NOW,
        source="shop",
    )
    state.events.append(Acted(number, call, NOW))
    state.events.append(Observed(number, observation, NOW, **more))
    return state
