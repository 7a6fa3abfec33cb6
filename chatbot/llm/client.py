"""The one connection pool of a process to its model endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import aiohttp
from openai import AsyncOpenAI

from chatbot.llm.pool import opened
from tools.contracts import Json

# What the adapter itself decides; an operator's extra fields may not.
OWN_FIELDS = frozenset(
    {
        "messages",
        "model",
        "stream",
        "stream_options",
        "tools",
        "tool_choice",
        "functions",
    }
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how to speak with it. Times are in seconds.

    ``first_token`` and ``silence`` bound the wait for content: a keep-alive is none.
    ``total`` bounds a whole model call, its retries and its wait for a connection.
    """

    model: str
    # Never in a message, a log or a trace: not in repr() either.
    api_key: str = field(repr=False)
    base_url: str = ""
    stream: bool = True
    tool_mode: Literal["native", "json"] = "native"
    extra_body: Mapping[str, Json] = field(default_factory=dict, hash=False)
    connect: float = 5.0
    first_token: float = 15.0
    silence: float = 10.0
    total: float = 45.0
    retries: int = 2
    max_connections: int = 200

    def __post_init__(self) -> None:
        if taken := OWN_FIELDS & set(self.extra_body):
            raise ValueError(f"LLM_EXTRA_BODY may not set {', '.join(sorted(taken))}")


@dataclass(slots=True, weakref_slot=True)
class Connection:
    """The client's pool, what goes with each request, and its free places.

    ``quirks`` names the optional fields that it refuses, and ``reasoning_content``
    where it wants a model's hidden reasoning back with each call.
    """

    http: aiohttp.ClientSession
    url: str
    places: asyncio.Semaphore
    quirks: set[str] = field(default_factory=set)


def connection(endpoint: Endpoint) -> Connection:
    """The connection to ``endpoint`` that all runs of this event loop share."""
    of_loop = opened()
    if endpoint not in of_loop:
        of_loop[endpoint] = _connect(endpoint)
    return of_loop[endpoint]


def _connect(endpoint: Endpoint) -> Connection:
    # The official client knows the address and the headers of its interface.
    client = AsyncOpenAI(
        api_key=endpoint.api_key, base_url=endpoint.base_url or None, max_retries=0
    )
    headers = {**client.default_headers, **client.auth_headers}
    http = aiohttp.ClientSession(
        headers={k: value for k, value in headers.items() if isinstance(value, str)},
        connector=aiohttp.TCPConnector(
            limit=endpoint.max_connections, keepalive_timeout=30.0
        ),
        # The adapter's own deadlines end a wait; the client's would be reset by a ping.
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=endpoint.connect),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=True,
    )
    url = client.base_url.copy_with(path=f"{client.base_url.path}chat/completions")
    # Waiting for a place keeps the order of arrival.
    places = asyncio.Semaphore(endpoint.max_connections)
    return Connection(http, str(url), places)
