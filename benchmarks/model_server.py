"""A model endpoint that costs next to nothing and answers from the messages alone.

    python -m benchmarks.model_server PORT

The model's name says how slow it is: ``fake:ttft=300,tok=5`` waits 300 ms before the
first byte and 5 ms between the chunks of a stream; ``fake`` answers at once. A request
whose calls are not followed by their results gets HTTP 400, as at OpenAI's.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
import uvloop

ORDER = re.compile(r"\bO-\d+\b")
PARCEL = re.compile(r"\bN-\d+\b")
PLACE = re.compile(r'"place": ?"([^"]+)"')
USAGE = {"prompt_tokens": 100, "completion_tokens": 30, "total_tokens": 130}
CHARACTERS_A_CHUNK = 5


def reply_to(messages: Sequence[Mapping[str, Any]]) -> tuple[str, str | None, str]:
    """The text, or the tool and its argument, that come next."""
    asked = max(n for n, one in enumerate(messages) if one["role"] == "user")
    order = ORDER.findall(messages[asked]["content"])[-1]
    seen = [m["content"] for m in messages[asked:] if m["role"] == "tool"]
    if not seen:
        return "", "get_order", orjson.dumps({"order_id": order}).decode()
    parcel = PARCEL.findall(seen[0])[-1]
    if len(seen) == 1:
        return "", "track_shipment", orjson.dumps({"tracking_id": parcel}).decode()
    place = PLACE.findall(seen[1])[-1]
    said = f"Yes, {order} has shipped. Parcel {parcel} is in transit at {place}."
    return said, None, ""


def problem_of(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """What OpenAI would refuse: a call without its result, a result without a call."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                return "a result without a call"
            waiting.discard(message["tool_call_id"])
        elif waiting:
            return "a call without its result"
        elif message["role"] == "assistant":
            waiting = {one["id"] for one in message.get("tool_calls") or ()}
    return "a call without its result" if waiting else None


def whole(text: str, tool: str | None, arguments: str) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if tool:
        function = {"name": tool, "arguments": arguments}
        call = {"id": f"call_{tool}", "type": "function", "function": function}
        message["tool_calls"] = [call]
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if tool else "stop",
        "logprobs": None,
    }
    return _dumps("chat.completion", [choice], USAGE)


def chunks(text: str, tool: str | None, arguments: str) -> Iterator[bytes]:
    yield _event({"role": "assistant", "content": "" if text else None})
    for piece in _pieces(text):
        yield _event({"content": piece})
    if tool:
        function = {"name": tool, "arguments": ""}
        call = {"index": 0, "id": f"call_{tool}", "type": "function"}
        yield _event({"tool_calls": [{**call, "function": function}]})
        for piece in _pieces(arguments):
            part = {"index": 0, "function": {"arguments": piece}}
            yield _event({"tool_calls": [part]})
    yield _event({}, "tool_calls" if tool else "stop")
    yield b"data: " + _dumps("chat.completion.chunk", [], USAGE) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), CHARACTERS_A_CHUNK):
        yield text[at : at + CHARACTERS_A_CHUNK]


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return b"data: " + _dumps("chat.completion.chunk", [choice], None) + b"\n\n"


def _dumps(kind: str, choices: list[Any], usage: dict[str, int] | None) -> bytes:
    body = {"id": "x", "object": kind, "created": 1, "model": "fake"}
    return orjson.dumps({**body, "choices": choices, "usage": usage})


def _delays(model: str) -> tuple[float, float]:
    """Seconds to the first byte and between chunks."""
    named = dict(part.split("=") for part in model.partition(":")[2].split(",") if part)
    return float(named.get("ttft", 0)) / 1000, float(named.get("tok", 0)) / 1000


class Endpoint(asyncio.Protocol):
    """One connection; requests come one after another, as the clients send them."""

    def __init__(self) -> None:
        self._received = b""
        self._playing: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._playing is not None:
            self._playing.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, rest = self._received.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: ?(\d+)", head, re.IGNORECASE)
        size = int(length[1]) if length else 0
        if not found or len(rest) < size:
            return
        body, self._received = rest[:size], rest[size:]
        self._answer(orjson.loads(body) if body else {"messages": []})

    def _answer(self, request: dict[str, Any]) -> None:
        messages = request["messages"]
        if not messages or (problem := problem_of(messages)):
            error = {"message": problem if messages else "no messages", "type": "fake"}
            self._send(b"400 Bad Request", orjson.dumps({"error": error}))
            return
        reply = reply_to(messages)
        first, between = _delays(request["model"])
        if first or between:
            work = self._play(reply, bool(request.get("stream")), first, between)
            self._playing = asyncio.create_task(work)
        elif request.get("stream"):
            self._begin_stream()
            for chunk in chunks(*reply):
                self._send_chunk(chunk)
            self._send_chunk(b"")
        else:
            self._send(b"200 OK", whole(*reply))

    async def _play(
        self, reply: Any, streamed: bool, first: float, between: float
    ) -> None:
        await asyncio.sleep(first)
        if not streamed:
            self._send(b"200 OK", whole(*reply))
            return
        self._begin_stream()
        for chunk in chunks(*reply):
            self._send_chunk(chunk)
            await asyncio.sleep(between)
        self._send_chunk(b"")

    def _send(self, status: bytes, body: bytes) -> None:
        self._transport.write(
            b"HTTP/1.1 %b\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\n\r\n%b" % (status, len(body), body)
        )

    def _begin_stream(self) -> None:
        self._transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )

    def _send_chunk(self, chunk: bytes) -> None:
        self._transport.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))


async def serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Endpoint, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
