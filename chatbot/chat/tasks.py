"""What Celery may do for the chat: hints that carry ids, welcome any number of times.

A worker carries runs in one event loop of its own, as a web process does, and sweeps
the database as well; a task only makes it look sooner.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import cache
from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import (
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutting_down,
)
from django.utils import timezone

from chatbot.chat import retention
from chatbot.chat.launch import DRAIN_SECONDS, launcher, sweeper
from chatbot.chat.loops import make_home


@shared_task(name="chatbot.chat.tasks.adopt_run")
def adopt_run(run_id: str) -> None:
    """Take up a run, if nobody else works on it."""
    _in_the_loop(lambda: launcher().start(UUID(run_id)))


@shared_task(name="chatbot.chat.tasks.sweep_runs")
def sweep_runs() -> None:
    """Look for runs that nobody works on."""
    asyncio.run_coroutine_threadsafe(_sweep(), worker_loop()).result(timeout=30)


@shared_task(name="chatbot.chat.tasks.look_at_the_day")
def look_at_the_day() -> None:
    """Have what was kept for long enough forgotten, once a day."""
    retention.note_the_day(now=timezone.now())


async def _sweep() -> int:
    return await launcher().sweep_once()


@cache
def worker_loop() -> asyncio.AbstractEventLoop:
    """The loop of this worker process, in a thread of its own, sweeping."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="runs", daemon=True).start()
    asyncio.run_coroutine_threadsafe(_begin(), loop).result(timeout=30)
    return loop


async def _begin() -> None:
    make_home()
    launcher().sweep(hands_on=False)
    sweeper().start()


def _in_the_loop(work: Callable[[], Any]) -> None:
    worker_loop().call_soon_threadsafe(work)


@worker_process_init.connect
def _begin_in_child(**_: Any) -> None:
    worker_loop()


@worker_ready.connect
def _begin_in_worker(sender: Any = None, **_: Any) -> None:
    """The pools without child processes carry the runs in the worker itself."""
    if "prefork" not in type(getattr(sender, "pool", None)).__module__:
        worker_loop()


@worker_shutting_down.connect
def _drain_worker(**_: Any) -> None:
    _drain()


@worker_process_shutdown.connect
def _drain_child(**_: Any) -> None:
    _drain()


def _drain() -> None:
    if worker_loop.cache_info().currsize:
        draining = asyncio.run_coroutine_threadsafe(_end(), worker_loop())
        draining.result(timeout=2 * DRAIN_SECONDS)


async def _end() -> None:
    await sweeper().stop()
    await launcher().drain()
