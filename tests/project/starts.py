"""Starts of a process with given settings, each in a process of its own.

A fork server that has the libraries loaded makes each start cheaper than a new Python.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Mapping
from multiprocessing.connection import Connection

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
