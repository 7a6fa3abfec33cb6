"""The one connection pool of a process to its model endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakKeyDictionary

import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

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
    """The client, what it sends with each request, and its free places.

    ``quirks`` names the optional fields that it refuses, and ``reasoning_content``
    where it wants a model's hidden reasoning back with each call.
    """

    client: AsyncOpenAI
    http: httpx2.AsyncClient
    url: httpx2.URL
    headers: httpx2.Headers = field(repr=False)
    places: asyncio.Semaphore
    quirks: set[str] = field(default_factory=set)


_connections: WeakKeyDictionary[
    asyncio.AbstractEventLoop, dict[Endpoint, Connection]
] = WeakKeyDictionary()


def connection(endpoint: Endpoint) -> Connection:
    """The connection to ``endpoint`` that all runs of this event loop share."""
    of_loop = _connections.setdefault(asyncio.get_running_loop(), {})
    if endpoint not in of_loop:
        of_loop[endpoint] = _connect(endpoint)
    return of_loop[endpoint]


async def close_connections() -> None:
    """Close what this event loop opened; for the end of a process or a test."""
    for one in _connections.pop(asyncio.get_running_loop(), {}).values():
        await one.client.close()


def _connect(endpoint: Endpoint) -> Connection:
    http = DefaultAsyncHttpxClient(
        # The adapter's own deadlines end a wait; the client's would be reset by a ping.
        timeout=httpx2.Timeout(endpoint.total, connect=endpoint.connect),
        limits=httpx2.Limits(
            max_connections=endpoint.max_connections,
            max_keepalive_connections=endpoint.max_connections,
            keepalive_expiry=30.0,
        ),
    )
    client = AsyncOpenAI(
        api_key=endpoint.api_key,
        base_url=endpoint.base_url or None,
        max_retries=0,
        http_client=http,
    )
    headers = {**client.default_headers, **client.auth_headers}
    return Connection(
        client,
        http,
        url=client.base_url.copy_with(path=f"{client.base_url.path}chat/completions"),
        headers=httpx2.Headers(
            {name: value for name, value in headers.items() if isinstance(value, str)}
        ),
        # Waiting here keeps the order of arrival, and the pool, whose cost grows with
        # its queue, never has one.
        places=asyncio.Semaphore(endpoint.max_connections),
    )
