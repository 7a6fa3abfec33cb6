"""Reads a vendor's reply, streamed or whole, and says what it holds once it is whole.

The client library would build checked models of every chunk, which costs more than
the rest of a model call; here a chunk is parsed, looked at and dropped. What is damaged
is a ``ModelError``, never a guess. Format: the Chat Completions API and the
event-stream format of the HTML standard.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from chatbot.react.types import ModelError, Usage

MAX_REPLY_BYTES = 512 * 1024
MAX_CALLS = 16


@dataclass(slots=True)
class RawCall:
    """A function call as it came; nothing about it is checked yet."""

    name: object = ""
    arguments: object = ""


@dataclass(slots=True)
class RawReply:
    """A reply put together piece by piece; whole once ``finish()`` has returned."""

    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[object, RawCall] = field(default_factory=dict)
    finish_reason: str | None = None
    usage: Usage | None = None
    done: bool = False
    reasoning: list[str] = field(default_factory=list)

    @property
    def some(self) -> bool:
        """Whether anything of the reply has come."""
        return bool(self.text or self.refusal or self.calls or self.reasoning)

    def add_chunk(self, data: bytes) -> bool:
        """Take one chunk of a stream; whether it brought something of the reply."""
        chunk = _parse(data)
        self._take_usage(chunk.get("usage"))
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return False
        choice = _object(choices[0])
        if isinstance(choice.get("finish_reason"), str):
            self.finish_reason = choice["finish_reason"]
        return self._take(_object(choice.get("delta") or {}))

    def add_whole(self, data: bytes) -> None:
        """Take a reply that was not streamed."""
        body = _parse(data)
        self._take_usage(body.get("usage"))
        choices = body.get("choices")
        if not isinstance(choices, list) or not choices:
            raise damaged("the reply holds no choice")
        choice = _object(choices[0])
        if isinstance(choice.get("finish_reason"), str):
            self.finish_reason = choice["finish_reason"]
        self._take(_object(choice.get("message") or {}))

    def finish(self) -> None:
        """``ModelError`` unless the reply is whole."""
        match self.finish_reason:
            case None:
                raise damaged("the reply ended without a finish reason")
            case "length":
                raise ModelError(
                    "the reply was cut at its length limit", retryable=True
                )
            case "content_filter":
                raise ModelError(
                    "the provider's filter stopped the reply", retryable=False
                )
            case _:
                return

    def _take(self, delta: dict[str, Any]) -> bool:
        some = False
        if content := delta.get("content"):
            self.text.append(_text(content))
            some = True
        if refusal := delta.get("refusal"):
            self.refusal.append(_text(refusal))
            some = True
        for name in ("reasoning_content", "reasoning"):
            if isinstance(thinking := delta.get(name), str) and thinking:
                self.reasoning.append(thinking)
                some = True
        calls = delta.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            raise damaged("the calls are no list")
        for position, call in enumerate(calls or ()):
            self._take_call(position, _object(call))
            some = True
        return some

    def _take_call(self, position: int, piece: dict[str, Any]) -> None:
        # Some endpoints send no index: each such call comes whole, in its own place.
        key = piece.get("index")
        if not isinstance(key, int):
            key = str(piece.get("id") or position)
        call = self.calls.get(key)
        if call is None:
            if len(self.calls) == MAX_CALLS:
                raise damaged(f"the reply holds more than {MAX_CALLS} calls")
            call = self.calls[key] = RawCall()
        function = _object(piece.get("function") or {})
        if "name" in function:
            call.name = _joined(call.name, function["name"])
        if "arguments" in function:
            call.arguments = _joined(call.arguments, function["arguments"])

    def _take_usage(self, usage: object) -> None:
        if not isinstance(usage, dict):
            return
        prompt: Any = usage.get("prompt_tokens")
        completion: Any = usage.get("completion_tokens")
        if _is_count(prompt) and _is_count(completion):
            self.usage = Usage(int(prompt), int(completion))


class EventLines:
    """Bytes of an event stream in, the data of whole events out.

    Splits on line feeds alone, so that no character is cut however the bytes arrive.
    Comments (": ping") and other fields give nothing.
    """

    __slots__ = ("_data", "_rest", "_size")

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, received: bytes) -> Iterator[bytes]:
        self._size += len(received)
        if self._size > MAX_REPLY_BYTES:
            raise damaged("the reply is far too long")
        *lines, self._rest = (self._rest + received).split(b"\n")
        for line in lines:
            line = line.removesuffix(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif not line and self._data:
                data, self._data = b"\n".join(self._data), []
                yield data


def damaged(problem: str) -> ModelError:
    return ModelError(problem, retryable=True)


def _parse(data: bytes) -> dict[str, Any]:
    try:
        parsed = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise damaged("the reply is not JSON") from None
    body = _object(parsed)
    if body.get("error"):
        raise damaged("the provider reported an error instead of a reply")
    return body


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise damaged("the reply has an unknown form")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise damaged("the reply has an unknown form")
    return value


def _joined(before: object, piece: object) -> object:
    """Texts grow; anything else replaces, so that it is seen and refused."""
    if isinstance(before, str) and isinstance(piece, str):
        return before + piece
    # A later null says nothing new; a first one is what the call names.
    return before if piece is None and before != "" else piece


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**8
