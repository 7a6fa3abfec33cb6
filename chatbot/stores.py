"""How the database and Redis are spoken to, whatever their address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff

from chatbot.env import address
from chatbot.keys import make_folder


def database(
    url: str, *, statement_seconds: float, lock_seconds: float
) -> dict[str, Any]:
    """Django's entry for ``url``, a SQLite or PostgreSQL address; 0 s means no limit.

    The connections are kept and checked before use: the threads of tools/database.py
    are the pool.
    """
    try:
        parsed: dict[str, Any] = dict(
            dj_database_url.parse(url, conn_max_age=600, conn_health_checks=True)
        )
    except (ValueError, KeyError):
        # The URL holds a password: no message may repeat it.
        problem = "DATABASE_URL is missing, or is not a database's address."
        raise ImproperlyConfigured(problem) from None
    options = parsed.setdefault("OPTIONS", {})
    if parsed.get("ENGINE", "").endswith("sqlite3"):
        make_folder(Path(parsed["NAME"]).parent, named_by="DATABASE_URL")
        # A deferred transaction that turns to writing fails at once with "database is
        # locked", whatever the timeout; an immediate one waits its turn.
        options |= {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
        }
    elif parsed.get("ENGINE", "").endswith("postgresql") and parsed.get("NAME"):
        options.setdefault("connect_timeout", 5)
        options["options"] = (
            f"-c statement_timeout={int(statement_seconds * 1000)}"
            f" -c lock_timeout={int(lock_seconds * 1000)}"
        )
    else:
        problem = "DATABASE_URL must name a SQLite file or a database of PostgreSQL."
        raise ImproperlyConfigured(problem)
    return parsed


def broker(url: str, *, run_in: str) -> str:
    """Where Celery's tasks wait; in memory they would reach no other process."""
    if not url.startswith("memory:"):
        kinds = ("redis", "rediss", "amqp", "amqps")
        return address("CELERY_BROKER_URL", url, schemes=kinds)
    if run_in == "worker":
        raise ImproperlyConfigured(
            "RUN_IN is 'worker', but no worker would hear of a run: set REDIS_URL or"
            " CELERY_BROKER_URL, or leave RUN_IN at 'process'."
        )
    return url


def channel_layer(redis_url: str) -> dict[str, Any]:
    """Channels' entry: wake-ups through Redis, or in memory where there is none."""
    if not redis_url:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    host = {
        "address": redis_url,
        # redis-py 8 would close a socket that was silent for 5 s.
        "socket_timeout": None,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
        "health_check_interval": 15,
        # The first use after a restart of Redis meets a closed connection.
        "retry": Retry(ExponentialBackoff(cap=1, base=0.05), retries=2),
    }
    return {
        # Pub/sub, for it keeps its groups over a restart of Redis and has no capacity
        # past which wake-ups vanish; the core layer loses both.
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [host]},
    }
