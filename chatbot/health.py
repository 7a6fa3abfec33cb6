"""Is this web process alive, and can it serve? Asked by a proxy or a container host.

Answered before Django, for the one who asks knows neither an allowed host nor https.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import orjson
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from redis.asyncio import Redis
from redis.exceptions import RedisError

from chatbot.chat.launch import launcher
from chatbot.security import AsgiApp, Message, Receive, Send
from tools.database import in_database

DATABASE_SECONDS = 3
REDIS_SECONDS = 1


class Health:
    """``/healthz`` answers while the event loop turns; ``/readyz`` with 200 while the
    database is reachable and the process takes new runs, else with 503.

    Redis is named but decides nothing: without it the processes look for themselves.
    """

    def __init__(self, app: AsgiApp) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        match scope["path"]:
            case "/healthz":
                await _answer(send, 200, {"alive": True})
            case "/readyz":
                report = await readiness()
                await _answer(send, 200 if report["ready"] else 503, report)
            case _:
                await self.app(scope, receive, send)


async def readiness() -> Mapping[str, str | bool]:
    database, redis = await asyncio.gather(_database(), _redis())
    draining = launcher().draining
    return {
        "ready": database == "ok" and not draining,
        "database": database,
        "redis": redis,
        "draining": draining,
    }


async def _database() -> str:
    try:
        async with asyncio.timeout(DATABASE_SECONDS):
            await in_database(_ask_database)
    except (DatabaseError, InterfaceError, TimeoutError):
        return "away"
    return "ok"


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


async def _redis() -> str:
    if not settings.REDIS_URL:
        return "unused"
    client = Redis.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=REDIS_SECONDS,
        socket_timeout=REDIS_SECONDS,
    )
    try:
        async with asyncio.timeout(REDIS_SECONDS), client:
            await client.ping()
    except (RedisError, OSError, TimeoutError):
        return "away"
    return "ok"


async def _answer(send: Send, status: int, report: Mapping[str, str | bool]) -> None:
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": orjson.dumps(dict(report))})


class Unavailable(MiddlewareMixin):
    """A page that finds no database says 503 and when to come again, not 500."""

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponse | None:
        if not isinstance(exception, (OperationalError, InterfaceError)):
            return None
        text = "Waybill cannot reach its database. 暂时无法访问，请稍后再试。\n"
        return HttpResponse(
            text,
            status=503,
            content_type="text/plain; charset=utf-8",
            headers={"Retry-After": "5"},
        )
