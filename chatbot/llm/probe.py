"""Is a model endpoint there? Asked for one word, which is thrown away."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import aiohttp
import orjson

from chatbot.llm.client import Endpoint, connection

# It understood the request and did not like it: the endpoint itself is there.
_THERE = frozenset(
    {HTTPStatus.OK, HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}
)


async def answers(endpoint: Endpoint) -> bool:
    """Whether a real call would be answered; costs a few tokens where it is."""
    shared = connection(endpoint)
    body = {
        "model": endpoint.model,
        "messages": [{"role": "user", "content": "ping"}],
        "max_tokens": 1,
    }
    try:
        async with (
            asyncio.timeout(endpoint.first_token),
            shared.http.post(shared.url, data=orjson.dumps(body)) as response,
        ):
            return response.status in _THERE
    except (aiohttp.ClientError, OSError, TimeoutError):
        return False
