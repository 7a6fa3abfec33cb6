"""Decisions as text, for endpoints without function calls."""

from __future__ import annotations

import json

import pytest

from chatbot.evals.model_server import ModelServer, say
from chatbot.react.types import AskCustomer, FinalAnswer, HandOver, Malformed
from tests.llm.helpers import TOOLS, asked, model, observed
from tools.contracts import ToolCall


def decision(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


async def test_the_two_step_question_is_played_in_text(server: ModelServer) -> None:
    server.play(
        say(decision("get_order", order_id="O-204", thought="order first")),
        say(f"```json\n{decision('track_shipment', tracking_id='N-88')}\n```"),
        say(decision("final_answer", text="It has shipped.")),
    )
    adapter = model(server, tool_mode="json")
    state = asked()
    first = await adapter.propose(state, TOOLS)
    observed(state, "get_order", {"order_id": "O-204"}, {"status": "shipped"})
    second = await adapter.propose(state, TOOLS)
    third = await adapter.propose(state, TOOLS)
    assert first.proposals == (
        ToolCall("c00000000", "get_order", {"order_id": "O-204"}, "order first"),
    )
    assert isinstance(second.proposals[0], ToolCall)
    assert third.proposals == (FinalAnswer("It has shipped."),)
    sent = server.requests[1]
    assert "tools" not in sent
    assert {one["role"] for one in sent["messages"]} == {"system", "user", "assistant"}
    assert "track_shipment" in sent["messages"][0]["content"]
    assert '"status":"shipped"' in sent["messages"][-1]["content"]


async def test_asking_back_and_handing_over_work_in_text(server: ModelServer) -> None:
    server.play(
        say(decision("ask_customer", text="Which one?")),
        say(decision("handoff_to_human", reason="asked")),
    )
    adapter = model(server, tool_mode="json")
    first = await adapter.propose(asked(), TOOLS)
    second = await adapter.propose(asked(), TOOLS)
    assert first.proposals == (AskCustomer("Which one?"),)
    assert second.proposals == (HandOver("asked"),)


@pytest.mark.parametrize(
    "text",
    [
        "It has shipped.",
        'Sure! {"name":"get_order","arguments":{"order_id":"O-204"}}',
        '{"name":"get_order","arguments":{"order_id":"O-204"}} {"name":"x"}',
        '{"name":"get_order","arguments":"{}"}',
        '{"name":"get_order"}',
        '{"name":"get_order","arguments":{},"also":1}',
        '{"name":"final_answer","arguments":{"text":""}}',
        '{"name":"final_answer","arguments":{"text":"x","order_id":"O-204"}}',
        '{"name":"get_order","arguments":{"order_id":"a","order_id":"b"}}',
    ],
)
async def test_anything_but_one_decision_is_refused(
    server: ModelServer, text: str
) -> None:
    server.play(say(text))
    reply = await model(server, tool_mode="json").propose(asked(), TOOLS)
    assert [type(one) for one in reply.proposals] == [Malformed]


async def test_the_schema_is_dropped_step_by_step_where_it_is_refused(
    server: ModelServer,
) -> None:
    told = say(decision("final_answer", text="Hello."))
    server.play({**told, "refuses": ["response_format"]})
    reply = await model(server, tool_mode="json").propose(asked(), TOOLS)
    assert reply.proposals == (FinalAnswer("Hello."),)
    kinds = [one.get("response_format", {}).get("type") for one in server.requests]
    assert kinds == ["json_schema", "json_object", None]


async def test_the_schema_allows_the_offered_functions_and_the_answer(
    server: ModelServer,
) -> None:
    server.play(say(decision("final_answer", text="Hello.")))
    await model(server, tool_mode="json").propose(asked(), TOOLS[:1])
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    names = [one["properties"]["name"]["enum"][0] for one in schema["anyOf"]]
    assert names == [
        "list_my_orders",
        "ask_customer",
        "handoff_to_human",
        "final_answer",
    ]
