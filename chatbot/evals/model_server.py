"""A small OpenAI-compatible server on a real socket that plays scripts, faults and all.

Each model call consumes one entry of the script; the last entry repeats. An entry is a
dict, in the shorthand of the attack cases:

    {"call": [name, raw argument string]}      {"calls": [[name, raw], ...]}
    {"say": text}                              {"finish": reason} overrides the reason
    {"sse": [chunk, ...], "end": "close" | "reset" | "stall"}
        a chunk starting "tool_calls[k]=" or "args=" is a delta event, "bytes:" raw
        bytes, "html:" a body that is no event stream, anything else a content delta
    {"http": code}                             {"delay": seconds} before the first byte

and, beside these, faults of the wire (they combine with "call", "calls" and "say"):

    {"headers": {...}}      further headers, such as Retry-After
    {"cut": n}              the connection breaks after n bytes of the body
    {"ping": seconds}       keep-alive comments for so long before the first chunk;
    {"ping_only": true}     ... and nothing else
    {"chunk": n}            n bytes a write
    {"pause": seconds}      between chunks
    {"usage": false}        no usage is sent
    {"reasoning": text}     hidden reasoning before the rest
    {"wants_reasoning": true}  HTTP 400 for an assistant message without its reasoning
    {"refuses": [field]}    HTTP 400 for a request with one of these fields; the entry
                            is consumed by the next request without them

Texts may hold "{tool_text}", the last tool result of the request. A request whose calls
are not each followed by their result gets HTTP 400, as at OpenAI's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

Entry: TypeAlias = dict[str, Any]


def call(name: str | None, **arguments: Any) -> Entry:
    return {"call": [name, json.dumps(arguments, ensure_ascii=False)]}


def say(text: str, **more: Any) -> Entry:
    return {"say": text, **more}


@dataclass(slots=True)
class ModelServer:
    """Serves ``script`` on a free loopback port; ``requests`` keeps every body.

    ``asked`` is set by the first request. With ``reply`` there is no script: it gives
    the entry for each request, for many conversations at once.
    """

    script: Sequence[Entry] = ()
    reply: Callable[[dict[str, Any]], Entry] | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    open_connections: int = 0
    most_connections: int = 0
    port: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    home: asyncio.AbstractEventLoop | None = None
    away: bool = False
    _played: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, *script: Entry) -> None:
        """Begin a new script."""
        self.script, self._played = script, 0
        self.requests.clear()
        self.headers.clear()
        self.sizes.clear()

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, backlog=1024
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def leave(self) -> None:
        """Refuse connections from now on; called from another thread than its own."""
        self._at_home(self.stop())
        self.away = True

    def come_back(self) -> None:
        """Listen on the same port again."""
        self._at_home(self.start())
        self.away = False

    def _at_home(self, work: Coroutine[Any, Any, None]) -> None:
        if self.home is None:
            raise RuntimeError("this server has no thread of its own")
        asyncio.run_coroutine_threadsafe(work, self.home).result(10)

    async def _connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._tasks.add(task)
        self.open_connections += 1
        self.most_connections = max(self.most_connections, self.open_connections)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.open_connections -= 1
            self._tasks.discard(task)
            writer.close()

    async def _serve_one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request_line, *lines = head.strip().split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        if "/chat/completions" not in request_line:
            body = {"object": "list", "data": [{"id": "fake", "object": "model"}]}
            await _send(writer, 200, json.dumps(body).encode())
            return True
        request = json.loads(raw)
        self.requests.append(request)
        self.asked.set()
        self.headers.append(headers)
        self.sizes.append(len(raw))
        if problem := protocol_problem(request.get("messages", [])):
            await _send(writer, 400, _error(problem))
            return True
        entry = self._next(request)
        for name in entry.get("refuses", ()):
            if name in request:
                await _send(writer, 400, _error(f"Unrecognized argument: {name}"))
                return True
        if entry.get("wants_reasoning") and _lacks_reasoning(request["messages"]):
            problem = "The reasoning_content must be passed back to the API."
            await _send(writer, 400, _error(problem))
            return True
        self._played += 1
        return await _play(entry, request, writer)

    def _next(self, request: dict[str, Any]) -> Entry:
        if self.reply is not None:
            return self.reply(request)
        return self.script[min(self._played, len(self.script) - 1)]


def _lacks_reasoning(messages: Sequence[dict[str, Any]]) -> bool:
    said = [one for one in messages if one["role"] == "assistant"]
    return not all(one.get("reasoning_content") for one in said)


async def _play(
    entry: Entry, request: dict[str, Any], writer: asyncio.StreamWriter
) -> bool:
    """Answer one request; whether the connection may serve another."""
    await asyncio.sleep(entry.get("delay", 0))
    if "http" in entry:
        code = entry["http"]
        await _send(writer, code, _error(f"fault {code}"), more=entry.get("headers"))
        return True
    if any(chunk.startswith("html:") for chunk in entry.get("sse", ())):
        html = "".join(entry["sse"]).removeprefix("html:").encode()
        await _send(writer, 200, html, kind="text/html")
        return True
    if not request.get("stream") and "sse" not in entry:
        body = json.dumps(_whole(entry, request), ensure_ascii=False).encode()
        await _send(writer, 200, body, more=entry.get("headers"), cut=entry.get("cut"))
        return "cut" not in entry
    return await _stream(entry, request, writer)


async def _stream(
    entry: Entry, request: dict[str, Any], writer: asyncio.StreamWriter
) -> bool:
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    for name, value in (entry.get("headers") or {}).items():
        head += f"{name}: {value}\r\n"
    writer.write(f"{head}transfer-encoding: chunked\r\n\r\n".encode())
    await _ping(entry, writer)
    left = entry.get("cut")
    async for part in _paced(b"".join(chunks(entry, request)), entry):
        if left is not None:
            part, left = part[:left], left - len(part)
        if part:
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            await writer.drain()
        if left is not None and left <= 0:
            return False
    match entry.get("end", "close"):
        case "stall":
            await asyncio.sleep(3600)
        case "reset":
            writer.transport.abort()
            return False
    if left is not None:
        return False
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def _ping(entry: Entry, writer: asyncio.StreamWriter) -> None:
    seconds = 3600 if entry.get("ping_only") else entry.get("ping", 0)
    for _ in range(int(seconds / 0.02)):
        comment = b": ping\n\n"
        writer.write(b"%x\r\n%b\r\n" % (len(comment), comment))
        await writer.drain()
        await asyncio.sleep(0.02)


async def _paced(stream: bytes, entry: Entry) -> AsyncIterator[bytes]:
    size = entry.get("chunk")
    if size is None:
        parts = [part + b"\n\n" for part in stream.split(b"\n\n") if part]
        if stream and not stream.endswith(b"\n\n"):
            parts[-1] = parts[-1].removesuffix(b"\n\n")
    else:
        parts = [stream[at : at + size] for at in range(0, len(stream), size)]
    for part in parts:
        yield part
        if entry.get("pause"):
            await asyncio.sleep(entry["pause"])


def chunks(entry: Entry, request: dict[str, Any]) -> Iterator[bytes]:
    """The body of the stream that an entry plays, event by event."""
    usage = bool((request.get("stream_options") or {}).get("include_usage"))
    if "sse" in entry:
        yield from _raw_chunks(entry["sse"])
        return
    yield _event({"role": "assistant", "content": None})
    if entry.get("reasoning"):
        yield _event({"reasoning_content": entry["reasoning"]})
    if "say" in entry:
        text = _filled(entry["say"], request)
        for at in range(0, len(text), 5):
            yield _event({"content": text[at : at + 5]})
    for index, (name, arguments) in enumerate(_calls(entry)):
        function = {"name": name, "arguments": ""}
        identity = {"id": f"call_{index}", "type": "function"}
        yield _event(
            {"tool_calls": [{"index": index, **identity, "function": function}]}
        )
        arguments = _filled(arguments, request)
        for at in range(0, len(arguments), 7):
            piece = {"arguments": arguments[at : at + 7]}
            yield _event({"tool_calls": [{"index": index, "function": piece}]})
    yield _event({}, _finish(entry))
    if usage and entry.get("usage", True):
        yield b"data: " + _dumps({"choices": [], "usage": _USAGE}) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _raw_chunks(raw: Sequence[str]) -> Iterator[bytes]:
    index = 0
    for chunk in raw:
        if chunk.startswith("tool_calls["):
            place, _, name = chunk.partition("=")
            index = int(place.removeprefix("tool_calls[").removesuffix("]"))
            function = {"name": name, "arguments": ""}
            call = {"index": index, "id": f"call_{index}", "function": function}
            yield _event({"tool_calls": [call]})
        elif chunk.startswith("args="):
            piece = {"arguments": chunk.removeprefix("args=")}
            yield _event({"tool_calls": [{"index": index, "function": piece}]})
        elif chunk.startswith("finish="):
            yield _event({}, chunk.removeprefix("finish="))
        elif chunk.startswith("bytes:"):
            escaped = chunk.removeprefix("bytes:")
            yield escaped.encode().decode("unicode_escape").encode("latin-1")
        else:
            yield _event({"content": chunk})


_USAGE = {"prompt_tokens": 100, "completion_tokens": 30, "total_tokens": 130}


def _whole(entry: Entry, request: dict[str, Any]) -> dict[str, Any]:
    said = _filled(entry["say"], request) if "say" in entry else None
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if entry.get("reasoning"):
        message["reasoning_content"] = entry["reasoning"]
    if calls := _calls(entry):
        message["tool_calls"] = [
            {
                "id": f"call_{index}",
                "type": "function",
                "function": {"name": name, "arguments": _filled(arguments, request)},
            }
            for index, (name, arguments) in enumerate(calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish(entry)}
    usage = {"usage": _USAGE} if entry.get("usage", True) else {}
    return {"id": "x", "object": "chat.completion", "choices": [choice], **usage}


def _calls(entry: Entry) -> list[tuple[Any, str]]:
    given = entry.get("calls") or ([entry["call"]] if "call" in entry else [])
    return [(name, arguments) for name, arguments in given]


def _finish(entry: Entry) -> str:
    return str(entry.get("finish") or ("tool_calls" if _calls(entry) else "stop"))


def _filled(text: str, request: dict[str, Any]) -> str:
    if "{tool_text}" not in text:
        return text
    results = [m["content"] for m in request["messages"] if m.get("role") == "tool"]
    return text.replace("{tool_text}", results[-1] if results else "")


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "x", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + _dumps(body) + b"\n\n"


def _dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _error(message: str) -> bytes:
    return _dumps({"error": {"message": message, "type": "fake", "code": None}})


async def _send(
    writer: asyncio.StreamWriter,
    code: int,
    body: bytes,
    *,
    kind: str = "application/json",
    more: dict[str, str] | None = None,
    cut: int | None = None,
) -> None:
    head = f"HTTP/1.1 {code} Fake\r\ncontent-type: {kind}\r\n"
    head += f"content-length: {len(body)}\r\n"
    for name, value in (more or {}).items():
        head += f"{name}: {value}\r\n"
    writer.write(head.encode() + b"\r\n" + body[:cut])
    await writer.drain()


def protocol_problem(messages: Sequence[dict[str, Any]]) -> str | None:
    """What OpenAI would refuse: a call without its result right after it, or a result
    without its call."""
    waiting: set[str] = set()
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in waiting:
                return "a tool message answers no call"
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            return "a call is not followed by its result"
        if message.get("role") == "assistant":
            calls = message.get("tool_calls") or ()
            waiting = {one["id"] for one in calls}
            if len(waiting) != len(calls):
                return "two calls share an id"
    return "a call is not followed by its result" if waiting else None


@contextlib.asynccontextmanager
async def model_server(*script: Entry) -> AsyncIterator[ModelServer]:
    """A server in this event loop."""
    server = ModelServer(script)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@contextlib.contextmanager
def model_server_thread(*script: Entry) -> Iterator[ModelServer]:
    """A server in a thread of its own, for a product that runs in another process."""
    loop = asyncio.new_event_loop()
    server = ModelServer(script, home=loop)
    started = threading.Event()

    async def serve() -> None:
        await server.start()
        started.set()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(serve())
        loop.run_forever()

    thread = threading.Thread(target=run, name="model-server", daemon=True)
    thread.start()
    started.wait(10)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
