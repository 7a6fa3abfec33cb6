"""One request to a model endpoint, under deadlines that a keep-alive cannot move."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import aiohttp
import orjson

from chatbot.llm.client import Connection, Endpoint
from chatbot.llm.stream import MAX_REPLY_BYTES, EventLines, RawReply, damaged
from chatbot.react.types import ModelError

# Fields that not every endpoint takes: left out once it has refused them.
OPTIONAL_FIELDS = ("stream_options", "response_format", "json_schema")
REASONING = "reasoning_content"
_PASSING = frozenset({408, 409, 425, 429})
_WORD = re.compile(r"[a-z][a-z0-9_]{1,40}")
_UNKNOWN_FIELD = re.compile(
    r"unrecogni[sz]ed|unknown|unsupported|not supported|unexpected|extra|additional"
    r"|not permitted|invalid (?:field|parameter|argument)",
    re.IGNORECASE,
)


class CallFailed(Exception):
    """A request that brought no whole reply.

    ``partial`` is what had come; ``quirk`` names what the endpoint wants otherwise (see
    ``Connection``), or is "" where that is not the reason.
    """

    def __init__(self, error: ModelError, partial: RawReply, quirk: str = "") -> None:
        super().__init__(str(error))
        self.error = error
        self.partial = partial
        self.quirk = quirk


async def fetch(shared: Connection, endpoint: Endpoint, body: bytes) -> RawReply:
    """The whole reply to ``body``, or ``CallFailed``; the connection is given back."""
    reply = RawReply()
    waited = endpoint.first_token if endpoint.stream else endpoint.total
    try:
        async with asyncio.timeout(waited) as timer:
            await _exchange(shared, endpoint, body, reply, timer)
        reply.finish()
    except ModelError as error:
        raise CallFailed(error, reply) from None
    except _StatusError as error:
        quirk = _quirk(error, body)
        raise CallFailed(_status_error(error), reply, quirk) from None
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
        raise CallFailed(damaged("the endpoint cannot be reached"), reply) from None
    except TimeoutError:
        waited = endpoint.silence if reply.some else waited
        raise CallFailed(damaged(f"nothing came for {waited:g} s"), reply) from None
    except (aiohttp.ClientError, OSError):
        raise CallFailed(damaged("the connection broke"), reply) from None
    return reply


async def _exchange(
    shared: Connection,
    endpoint: Endpoint,
    body: bytes,
    reply: RawReply,
    timer: asyncio.Timeout,
) -> None:
    async with shared.http.post(shared.url, data=body) as response:
        if response.status != HTTPStatus.OK:
            raise _StatusError(response, await _whole(response))
        kind = response.headers.get("content-type", "")
        if "text/event-stream" in kind:
            await _read_events(response, reply, endpoint, timer)
        elif "json" in kind:
            reply.add_whole(await _whole(response))
        else:
            raise damaged("the endpoint sent something else than a reply")


async def _read_events(
    response: aiohttp.ClientResponse,
    reply: RawReply,
    endpoint: Endpoint,
    timer: asyncio.Timeout,
) -> None:
    clock = asyncio.get_running_loop().time
    lines = EventLines()
    moved = 0.0
    async for received in response.content.iter_any():
        brought = False
        for data in lines.feed(received):
            if data == b"[DONE]":
                reply.done = True
            elif not reply.done:
                brought = reply.add_chunk(data) or brought
        # Moving a timer costs as much as reading a chunk: not for each token.
        if brought and clock() - moved > endpoint.silence / 20:
            moved = clock()
            timer.reschedule(moved + endpoint.silence)


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    received = bytearray()
    async for part in response.content.iter_any():
        received += part
        if len(received) > MAX_REPLY_BYTES:
            raise damaged("the reply is far too long")
    return bytes(received)


class _StatusError(Exception):
    """An answer other than 200; ``code`` is the provider's own word for it, or "".

    Its text is looked at and dropped: it may repeat the key.
    """

    def __init__(self, response: aiohttp.ClientResponse, body: bytes) -> None:
        super().__init__(response.status)
        self.status = response.status
        self.headers = response.headers
        self.said = body[:4000].decode("utf-8", "replace")
        self.code = _code(body)


def _code(body: bytes) -> str:
    try:
        error = orjson.loads(body).get("error")
    except (orjson.JSONDecodeError, AttributeError):
        return ""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) and _WORD.fullmatch(code) else ""


def _status_error(error: _StatusError) -> ModelError:
    status = error.status
    named = f" ({error.code})" if error.code else ""
    out_of_money = error.code == "insufficient_quota"
    return ModelError(
        f"the endpoint answered HTTP {status}{named}",
        retryable=(status in _PASSING or status >= 500) and not out_of_money,
        retry_after=_retry_after(error.headers),
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from ``Retry-After`` in either of its forms (RFC 9110)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if value.replace(".", "", 1).isdigit() and value.isascii():
            return float(value) / unit
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _quirk(error: _StatusError, body: bytes) -> str:
    if error.status not in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY):
        return ""
    sent = [name for name in OPTIONAL_FIELDS if f'"{name}"'.encode() in body]
    said = error.said
    if REASONING in said:
        return REASONING
    named = [name for name in sent if name in said]
    if not named and _UNKNOWN_FIELD.search(said):
        named = sent
    # The schema goes first: many endpoints take plain JSON without one.
    if "response_format" in named and "json_schema" in sent:
        return "json_schema"
    return named[0] if named else ""
