"""Starts of a process with given settings, each in a process of its own.

A fork server that has the libraries loaded makes each start cheaper than a new Python.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path

from tests.servers.product import ROOT

LOADED = [
    "celery",
    "channels.layers",
    "dj_database_url",
    "django.core.serializers.json",
    "django.db.models",
    "django.forms",
    "django.urls",
    "psycopg",
    "redis.asyncio",
]


def start(env: Mapping[str, str]) -> tuple[bool, str]:
    """Whether the apps loaded under ``env``, and what the start said if not."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_load, args=(dict(env), theirs))
    process.start()
    theirs.close()
    problem: str | None = ours.recv() if ours.poll(60) else "it never spoke"
    process.join(60)
    return problem is None, problem or ""


def _load(env: dict[str, str], answer: Connection) -> None:
    os.environ.clear()
    os.environ.update(env, DJANGO_SETTINGS_MODULE="chatbot.settings")
    import django

    try:
        django.setup()
    except Exception as error:  # noqa: BLE001 - the test reads what it was
        answer.send(f"{type(error).__name__}: {error}")
    else:
        answer.send(None)


def production_env() -> dict[str, str]:
    lines = (ROOT / "tests" / "production.env").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and line[0] != "#")


def start_with(folder: Path, changes: dict[str, str | None]) -> tuple[bool, str]:
    """Load the apps, as every process does first; whether it went, and what it said."""
    env = {"VAR_DIR": str(folder), **production_env(), **changes}
    return start({name: value for name, value in env.items() if value is not None})


# One setting each that production refuses, by name; None leaves it out.
UNSAFE: list[tuple[str, str | None]] = [
    ("DEBUG", "yes"),
    ("SECRET_KEY", None),
    ("SECRET_KEY", "short"),
    ("SECRET_KEY", "x" * 60),
    ("SECRET_KEY", "django-insecure-" + "abcdefghij" * 5),
    ("AUDIT_KEY", None),
    ("AUDIT_KEY", production_env()["SECRET_KEY"]),
    ("ALLOWED_HOSTS", None),
    ("ALLOWED_HOSTS", "*"),
    ("ALLOWED_HOSTS", ".shop.example"),
    ("ALLOWED_HOSTS", "*.shop.example"),
    ("ALLOWED_ORIGINS", None),
    ("ALLOWED_ORIGINS", "*"),
    ("ALLOWED_ORIGINS", "https://*.shop.example"),
    ("ALLOWED_ORIGINS", "https://.shop.example"),
    ("ALLOWED_ORIGINS", "http://help.shop.example"),
    ("ALLOWED_ORIGINS", "help.shop.example"),
    ("ALLOWED_ORIGINS", "https://help.shop.example/chat"),
    ("ALLOWED_ORIGINS", "https://help.shop.example:port"),
    ("DATABASE_URL", None),
    ("DATABASE_URL", "sqlite:////tmp/waybill.sqlite3"),
    ("DATABASE_STATEMENT_SECONDS", "0"),
    ("DATABASE_LOCK_SECONDS", "0"),
    ("REDIS_URL", None),
    ("REDIS_URL", "redis://127.0.0.1:6379/0"),
    ("CELERY_BROKER_URL", "memory://"),
    ("CELERY_BROKER_URL", "redis://127.0.0.1:6379/1"),
    ("CELERY_TASK_ALWAYS_EAGER", "yes"),
    ("CELERY_ACCEPT_CONTENT", "json,pickle"),
    ("CELERY_TASK_ACKS_LATE", "no"),
    ("CELERY_TASK_REJECT_ON_WORKER_LOST", "no"),
    ("CELERY_VISIBILITY_SECONDS", "300"),
]
