"""What the adapter makes of a whole reply, streamed or not."""

from __future__ import annotations

import pytest

from chatbot.evals.model_server import ModelServer, call, say
from chatbot.react.types import (
    AskCustomer,
    FinalAnswer,
    HandOver,
    Malformed,
    Turn,
    Usage,
)
from tests.llm.helpers import TOOLS, asked, model, observed
from tools.contracts import ToolCall

BOTH_WAYS = pytest.mark.parametrize("stream", [True, False])


@BOTH_WAYS
async def test_a_call_comes_with_its_note_and_without_it_in_the_arguments(
    server: ModelServer, stream: bool
) -> None:
    server.play(call("get_order", order_id="O-204", thought="  ask the\norder first "))
    reply = await model(server, stream=stream).propose(asked(), TOOLS)
    [proposal] = reply.proposals
    assert proposal == ToolCall(
        "c00000000", "get_order", {"order_id": "O-204"}, "ask the order first"
    )
    assert reply.usage == Usage(100, 30)


@BOTH_WAYS
async def test_an_answer_in_chinese_with_emoji_survives_one_byte_a_chunk(
    server: ModelServer, stream: bool
) -> None:
    server.play(say("订单已发货🚚，请放心。", chunk=1))
    reply = await model(server, stream=stream).propose(asked(), TOOLS)
    assert reply.proposals == (FinalAnswer("订单已发货🚚，请放心。"),)


@BOTH_WAYS
async def test_several_calls_of_one_reply_are_put_together_each_for_itself(
    server: ModelServer, stream: bool
) -> None:
    server.play(
        {
            "calls": [
                ["get_order", '{"order_id":"O-204"}'],
                ["get_order", '{"order_id":"O-205"}'],
            ]
        }
    )
    reply = await model(server, stream=stream).propose(asked(), TOOLS)
    assert [
        (one.id, one.arguments) for one in reply.proposals if isinstance(one, ToolCall)
    ] == [
        ("c00000000", {"order_id": "O-204"}),
        ("c00000001", {"order_id": "O-205"}),
    ]


@BOTH_WAYS
async def test_text_beside_a_call_is_not_an_answer(
    server: ModelServer, stream: bool
) -> None:
    server.play({"say": "It has arrived!", "call": ["get_order", '{"order_id":"O-1"}']})
    reply = await model(server, stream=stream).propose(asked(), TOOLS)
    assert [type(one) for one in reply.proposals] == [ToolCall]


@BOTH_WAYS
async def test_asking_the_customer_and_handing_over_are_proposals(
    server: ModelServer, stream: bool
) -> None:
    server.play(
        call("ask_customer", text="Which one?", options=["O-204", "O-205", "O-204"]),
        call("handoff_to_human", reason="wants a person", thought="asked for it"),
    )
    adapter = model(server, stream=stream)
    first = await adapter.propose(asked(), TOOLS)
    second = await adapter.propose(asked(), TOOLS)
    assert first.proposals == (AskCustomer("Which one?", ("O-204", "O-205")),)
    assert second.proposals == (HandOver("wants a person"),)


@BOTH_WAYS
async def test_hidden_reasoning_is_neither_kept_nor_taken_for_an_answer(
    server: ModelServer, stream: bool
) -> None:
    server.play(
        {"reasoning": "SECRET THOUGHTS", "say": ""},
        say("<think>SECRET THOUGHTS</think>\nIt has shipped."),
        say("<think>SECRET THOUGHTS without an end"),
    )
    adapter = model(server, stream=stream)
    empty = await adapter.propose(asked(), TOOLS)
    told = await adapter.propose(asked(), TOOLS)
    cut = await adapter.propose(asked(), TOOLS)
    assert [type(one) for one in empty.proposals] == [Malformed]
    assert told.proposals == (FinalAnswer("It has shipped."),)
    assert [type(one) for one in cut.proposals] == [Malformed]
    assert "SECRET" not in repr((empty, told, cut))


@BOTH_WAYS
async def test_usage_that_the_provider_leaves_out_is_estimated_and_says_so(
    server: ModelServer, stream: bool
) -> None:
    server.play(say("It has shipped.", usage=False))
    reply = await model(server, stream=stream).propose(asked(), TOOLS)
    assert reply.usage.estimated
    assert reply.usage.prompt_tokens > 100
    assert reply.usage.completion_tokens == 4


async def test_an_answer_beyond_all_length_is_refused(server: ModelServer) -> None:
    server.play(say("x" * 4000), say("x" * 4001))
    adapter = model(server)
    longest = await adapter.propose(asked(), TOOLS)
    too_long = await adapter.propose(asked(), TOOLS)
    assert [type(one) for one in longest.proposals] == [FinalAnswer]
    assert [type(one) for one in too_long.proposals] == [Malformed]


async def test_call_ids_are_our_own_and_never_meet_again_within_a_run(
    server: ModelServer,
) -> None:
    server.play(call("get_order", order_id="O-204"))
    adapter = model(server)
    state = asked()
    first = await adapter.propose(state, TOOLS)
    observed(state, "get_order", {"order_id": "O-204"})
    second = await adapter.propose(state, TOOLS)
    again = await adapter.propose(state, TOOLS)
    assert first.proposals != second.proposals
    assert second.proposals == again.proposals


@pytest.mark.parametrize(
    "sent",
    [
        '{"order_id":"O-20',
        "",
        "null",
        "[]",
        '"O-204"',
        "204",
        '{"order_id":"O-204","order_id":"O-301"}',
        '{"order_id":NaN}',
        '{"order_id":Infinity}',
        '{"order_id":1e999}',
        '{"order_id":1234567890123456}',
        '{"order_id":"\\ud800"}',
        '{"order_id":"a\\u0000b"}',
        '{"order_id":"' + "x" * 4096 + '"}',
        "[" * 5000,
        '{"a":' * 9 + "1" + "}" * 9,
        '{"order_id":"O-204"} trailing',
        "{'order_id':'O-204'}",
        '{"order_id":"O-204","thought":7}',
    ],
)
@BOTH_WAYS
async def test_arguments_that_are_not_plainly_right_are_refused_not_repaired(
    server: ModelServer, sent: str, stream: bool
) -> None:
    server.play({"call": ["get_order", sent]})
    reply = await model(server, stream=stream).propose(asked(), TOOLS)
    [proposal] = reply.proposals
    assert isinstance(proposal, Malformed)
    assert proposal.name == "get_order"
    assert proposal.problem


@pytest.mark.parametrize("name", ["", None, "get order", "x" * 65, "获取"])
async def test_a_call_without_a_proper_name_is_refused(
    server: ModelServer, name: str | None
) -> None:
    server.play({"call": [name, "{}"]})
    reply = await model(server).propose(asked(), TOOLS)
    assert [type(one) for one in reply.proposals] == [Malformed]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"text": " "},
        {"text": 7},
        {"text": "Which?", "options": "O-204"},
        {"text": "Which?", "options": [204]},
        {"text": "Which?", "to": "bob"},
    ],
)
async def test_a_question_back_with_wrong_arguments_is_refused(
    server: ModelServer, arguments: dict[str, object]
) -> None:
    server.play(call("ask_customer", **arguments))
    reply = await model(server).propose(asked(), TOOLS)
    assert [type(one) for one in reply.proposals] == [Malformed]


async def test_reasoning_goes_back_only_to_an_endpoint_that_wants_it(
    server: ModelServer,
) -> None:
    first = {**call("get_order", order_id="O-204"), "reasoning": "SECRET THOUGHTS"}
    server.play(first, {**say("It has shipped."), "wants_reasoning": True})
    adapter = model(server)
    state = asked(turns=(Turn("customer", "Hi"), Turn("assistant", "Hello")))
    reply = await adapter.propose(state, TOOLS)
    observed(state, "get_order", {"order_id": "O-204"}, {"status": "shipped"})
    told = await adapter.propose(state, TOOLS)
    assert told.proposals == (FinalAnswer("It has shipped."),)
    assert "SECRET" not in repr((reply, told, state))
    asked_first, refused, taken = server.requests
    assert "SECRET" not in repr((asked_first, refused))
    sent = [
        one["reasoning_content"] for one in taken["messages"] if "tool_calls" in one
    ]
    assert sent == ["SECRET THOUGHTS"]


async def test_a_note_shows_nobodys_phone(server: ModelServer) -> None:
    server.play(call("get_order", order_id="O-204", thought="call 13800138000 first"))
    reply = await model(server).propose(asked(), TOOLS)
    assert "13800138000" not in repr(reply)
