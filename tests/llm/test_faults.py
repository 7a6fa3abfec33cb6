"""What the adapter does when the endpoint or the wire fails."""

from __future__ import annotations

import asyncio
import logging

import pytest

from chatbot.evals.model_server import Entry, ModelServer, call, chunks, say
from chatbot.llm.client import Endpoint, connection
from chatbot.llm.stream import EventLines, RawReply
from chatbot.react.types import FinalAnswer, ModelError
from tests.llm.helpers import KEY, TOOLS, asked, model
from tools.contracts import ToolCall

CALL: Entry = call("get_order", order_id="O-204", thought="先查订单🚚")
# What the server plays for it: the bytes of a whole stream.
RECORDED = b"".join(chunks(CALL, {"stream_options": {"include_usage": True}}))


async def failure(
    server: ModelServer, *script: Entry, **settings: object
) -> ModelError:
    server.play(*script)
    with pytest.raises(ModelError) as caught:
        await model(server, **settings).propose(asked(), TOOLS)
    return caught.value


async def test_a_stream_cut_at_any_place_executes_nothing(server: ModelServer) -> None:
    cuts = range(0, len(RECORDED), 9)
    adapter = model(server)
    server.play(*({**CALL, "cut": at} for at in cuts))
    for _ in cuts:
        with pytest.raises(ModelError):
            await adapter.propose(asked(), TOOLS)
    assert len(server.requests) == len(cuts)


def test_a_stream_that_ends_at_any_byte_before_its_finish_reason_is_no_reply() -> None:
    finished = RECORDED.index(b"\n\n", RECORDED.index(b'"finish_reason":"tool')) + 2
    for end in range(finished):
        lines, reply = EventLines(), RawReply()
        for data in lines.feed(RECORDED[:end]):
            reply.add_chunk(data)
        with pytest.raises(ModelError):
            reply.finish()


def test_one_byte_at_a_time_gives_the_same_reply() -> None:
    whole, slow = RawReply(), RawReply()
    for parts, reply in (
        ([RECORDED], whole),
        ([bytes([byte]) for byte in RECORDED], slow),
    ):
        lines = EventLines()
        for part in parts:
            for data in lines.feed(part):
                if data != b"[DONE]":
                    reply.add_chunk(data)
    assert slow == whole
    assert slow.finish_reason == "tool_calls"


@pytest.mark.parametrize("end", ["close", "reset", "stall"])
async def test_a_stream_without_a_finish_reason_is_an_error_however_it_ends(
    server: ModelServer, end: str
) -> None:
    sse = ["tool_calls[0]=get_order", 'args={"order_id":"O-204"}']
    error = await failure(server, {"sse": sse, "end": end}, silence=0.3)
    assert error.retryable
    assert len(server.requests) == 1


async def test_a_body_cut_short_is_an_error(server: ModelServer) -> None:
    error = await failure(server, {**CALL, "cut": 100}, stream=False)
    assert error.retryable


@pytest.mark.parametrize("reason", ["length", "content_filter"])
@pytest.mark.parametrize("entry", [CALL, say("It has")])
async def test_a_reply_that_was_stopped_early_is_an_error(
    server: ModelServer, entry: Entry, reason: str
) -> None:
    error = await failure(server, {**entry, "finish": reason})
    assert error.retryable is (reason == "length")
    assert error.usage.total == 130


async def test_keep_alives_do_not_hold_a_call_open(server: ModelServer) -> None:
    error = await failure(server, {**CALL, "ping_only": True}, first_token=0.3)
    assert error.retryable
    assert error.usage.estimated


async def test_silence_after_the_first_token_ends_the_call(server: ModelServer) -> None:
    error = await failure(
        server, say("It has shipped.", pause=3), first_token=2, silence=0.3
    )
    assert error.retryable
    assert len(server.requests) == 1


async def test_the_total_deadline_ends_a_stream_that_never_falls_silent(
    server: ModelServer,
) -> None:
    entry = say("x" * 2000, pause=0.05)
    error = await failure(server, entry, total=0.5, first_token=5, silence=5)
    assert "0.5 s" in str(error)


async def test_the_total_deadline_holds_without_streaming(server: ModelServer) -> None:
    error = await failure(server, {**CALL, "delay": 5}, total=0.3, stream=False)
    assert error.retryable


async def test_a_busy_endpoint_is_asked_again_after_the_time_it_names(
    server: ModelServer,
) -> None:
    busy = {"http": 429, "headers": {"Retry-After": "0.1"}}
    server.play(busy, busy, CALL)
    reply = await model(server, retries=2).propose(asked(), TOOLS)
    assert isinstance(reply.proposals[0], ToolCall)
    assert len(server.requests) == 3


async def test_retries_end(server: ModelServer) -> None:
    busy = {"http": 503, "headers": {"Retry-After": "0"}}
    error = await failure(server, busy, retries=2)
    assert error.retryable
    assert len(server.requests) == 3


async def test_a_wait_beyond_the_deadline_is_not_begun(server: ModelServer) -> None:
    error = await failure(
        server, {"http": 429, "headers": {"Retry-After": "60"}}, retries=2
    )
    assert error.retry_after == 60
    assert len(server.requests) == 1


async def test_a_date_in_retry_after_is_understood(server: ModelServer) -> None:
    past = {"http": 429, "headers": {"Retry-After": "Tue, 01 Dec 2020 00:00:00 GMT"}}
    server.play(past, CALL)
    await model(server, retries=1).propose(asked(), TOOLS)
    assert len(server.requests) == 2


@pytest.mark.parametrize("code", [400, 401, 403, 404])
async def test_what_cannot_get_better_is_not_tried_again(
    server: ModelServer, code: int
) -> None:
    error = await failure(server, {"http": code}, retries=2)
    assert not error.retryable
    assert len(server.requests) == 1


async def test_nothing_is_repeated_after_the_first_token(server: ModelServer) -> None:
    await failure(server, {**say("It has shipped."), "cut": 400}, retries=2)
    assert len(server.requests) == 1


async def test_a_stream_that_breaks_before_the_first_token_is_repeated(
    server: ModelServer,
) -> None:
    server.play({**CALL, "cut": 10}, CALL)
    await model(server, retries=1).propose(asked(), TOOLS)
    assert len(server.requests) == 2


async def test_a_page_instead_of_a_reply_is_an_error(server: ModelServer) -> None:
    error = await failure(server, {"sse": ["html:<html>Bad gateway</html>"]})
    assert "Bad gateway" not in str(error)


@pytest.mark.parametrize(
    "raw",
    [
        "bytes:data: {\\n\\n",
        "bytes:data: []\\n\\n",
        'bytes:data: {"error":{"message":"overloaded sk-CANARY-KEY"}}\\n\\n',
        'bytes:data: {"choices":[7]}\\n\\n',
        'bytes:data: {"choices":[{"delta":{"content":7}}]}\\n\\n',
        'bytes:data: {"choices":[{"delta":{"tool_calls":{}}}]}\\n\\n',
        "bytes:data: \\xff\\xfe\\n\\n",
        'bytes:data: {"choices":[{"delta":{"content":"\\\\ud800"}}]}\\n\\n',
    ],
)
async def test_a_stream_of_another_form_is_an_error(
    server: ModelServer, raw: str
) -> None:
    error = await failure(server, {"sse": [raw, "finish=stop"]})
    assert "CANARY" not in str(error)


async def test_a_reply_without_end_is_cut(server: ModelServer) -> None:
    error = await failure(server, {"sse": ["x" * 100_000] * 6})
    assert "too long" in str(error)


async def test_an_endpoint_that_does_not_take_stream_options_is_asked_without(
    server: ModelServer,
) -> None:
    server.play({**say("Hello."), "refuses": ["stream_options"]}, say("Again."))
    adapter = model(server)
    reply = await adapter.propose(asked(), TOOLS)
    await adapter.propose(asked(), TOOLS)
    assert reply.proposals == (FinalAnswer("Hello."),)
    assert reply.usage.estimated
    assert ["stream_options" in one for one in server.requests] == [True, False, False]


async def test_an_endpoint_that_cannot_be_reached_is_an_error() -> None:
    server = ModelServer()
    await server.start()
    await server.stop()
    error = await failure(server)
    assert error.retryable


async def test_stopping_the_run_gives_the_connection_back(server: ModelServer) -> None:
    server.play({**CALL, "ping_only": True}, CALL)
    adapter = model(server, max_connections=1)
    task = asyncio.create_task(adapter.propose(asked(), TOOLS))
    await server.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    reply = await adapter.propose(asked(), TOOLS)
    assert isinstance(reply.proposals[0], ToolCall)


async def test_many_waiting_runs_share_few_connections(server: ModelServer) -> None:
    server.play(say("Hello.", delay=0.01))
    adapter = model(server, max_connections=10, total=60, first_token=30)
    replies = await asyncio.gather(
        *(adapter.propose(asked(), TOOLS) for _ in range(300))
    )
    assert len(replies) == 300
    assert server.most_connections <= 10


async def test_the_key_is_in_no_error_no_log_and_no_repr(
    server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    for entry in (
        {"http": 401},
        {"http": 500},
        {"sse": [f"bytes:data: {KEY}\\n\\n"]},
        {**CALL, "cut": 50},
    ):
        error = await failure(server, entry)
        told.append(f"{error!r} {error.__cause__!r} {error.__context__!r}")
    endpoint = Endpoint("fake", KEY, server.base_url)
    told += [repr(endpoint), repr(connection(endpoint)), caplog.text]
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"
    assert KEY not in "\n".join(told)


def test_an_extra_body_may_not_say_what_the_adapter_says() -> None:
    with pytest.raises(ValueError, match="messages"):
        Endpoint("fake", KEY, extra_body={"messages": []})


async def test_an_extra_body_goes_with_each_request(server: ModelServer) -> None:
    server.play(say("Hello."))
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    await model(server, extra_body=extra).propose(asked(), TOOLS)
    assert server.requests[0]["chat_template_kwargs"] == {"enable_thinking": False}
