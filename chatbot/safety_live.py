"""What an installation's settings cannot tell of it: its servers and its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from redis import Redis

from chatbot.pages import PAGES_AT_ONCE
from chatbot.safety import refuse
from tools.database import in_database

# Connections that stay free for people: psql, a dump, a migration.
SPARE_CONNECTIONS = 10


async def refuse_unsafe_servers() -> None:
    """For a web process: raise with every problem named, in production only."""
    if settings.PRODUCTION:
        refuse(await in_database(_web_problems))


def worker_problems() -> tuple[str, ...]:
    """For a Celery worker: every problem in one sentence; none in demo."""
    if not settings.PRODUCTION:
        return ()
    found = (*_database_problems(settings), *_redis_problems(settings))
    # The worker forks next: its children must not share this connection.
    connection.close()
    return found


def _web_problems() -> tuple[str, ...]:
    return (
        *_database_problems(settings),
        *_redis_problems(settings),
        *_static_problems(settings),
    )


def _database_problems(conf: Any) -> Iterator[str]:
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SHOW max_connections")
        allowed = int(cursor.fetchone()[0])
    web = conf.WEB_PROCESSES * (conf.DATABASE_THREADS + PAGES_AT_ONCE)
    workers = conf.CELERY_WORKER_CONCURRENCY * (conf.DATABASE_THREADS + 1)
    if web + workers > allowed - SPARE_CONNECTIONS:
        yield (
            f"DATABASE_THREADS, WEB_PROCESSES and CELERY_WORKER_CONCURRENCY may open"
            f" {web + workers} connections; the database allows {allowed}, of which"
            f" {SPARE_CONNECTIONS} stay spare."
        )


def _static_problems(conf: Any) -> Iterator[str]:
    if not (Path(conf.STATIC_ROOT) / "staticfiles.json").exists():
        yield "Static files are not collected: run manage.py collectstatic --noinput."


def _redis_problems(conf: Any) -> Iterator[str]:
    for url in sorted({conf.REDIS_URL, conf.CELERY_BROKER_URL}):
        if not url.startswith(("redis://", "rediss://")):
            continue
        with Redis.from_url(url, socket_connect_timeout=5, socket_timeout=5) as redis:
            policy = str(redis.info("memory").get("maxmemory_policy"))
        if policy != "noeviction":
            yield (
                f"Redis has maxmemory-policy {policy}: it could evict tasks; set"
                " noeviction."
            )
