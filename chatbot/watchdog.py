"""Ends a worker that has gone deaf, so that whoever keeps it running starts a new one.

After a broker's restart a worker may look connected and take nothing any more. The
sign: tasks lie in the queue, and none has reached it for a while. Beat puts one there
every few seconds, so a deaf worker shows also where nothing else is to be done. No run
waits for this: the sweeps need no broker.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

from celery.signals import task_received, worker_ready
from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

LOOK_EVERY = 5
SECONDS_TO_DRAIN = 15


class Watchdog:
    """Hears every task that reaches this worker, and looks at what waits for one."""

    def __init__(self, *, patience: float, clock: Callable[[], float]) -> None:
        self._patience = patience
        self._clock = clock
        self._heard_at = clock()
        self._waiting_since: float | None = None

    def hear(self) -> None:
        self._heard_at = self._clock()

    def is_deaf(self, waiting: int) -> bool:
        """Whether ``waiting`` tasks have lain there, and none came here, too long."""
        if waiting == 0:
            self._waiting_since = None
            return False
        if self._waiting_since is None or self._heard_at > self._waiting_since:
            self._waiting_since = self._clock()
        return self._clock() - self._waiting_since > self._patience


@worker_ready.connect
def _begin(**_: Any) -> None:
    if settings.CELERY_BROKER_URL.startswith(("redis://", "rediss://")):
        watchdog = Watchdog(patience=settings.WORKER_DEAF_SECONDS, clock=monotonic)
        # Celery holds its receivers weakly.
        task_received.connect(lambda **_: watchdog.hear(), weak=False)
        threading.Thread(
            target=_watch, args=(watchdog,), name="watchdog", daemon=True
        ).start()


def _watch(watchdog: Watchdog) -> None:
    pause = threading.Event()
    while not pause.wait(LOOK_EVERY):
        try:
            waiting = _waiting_tasks()
        except (RedisError, OSError):
            continue  # away: nobody can hear anything
        if watchdog.is_deaf(waiting):
            logger.critical("this worker takes no tasks, though %s wait", waiting)
            _end()


def _waiting_tasks() -> int:
    with Redis.from_url(
        settings.CELERY_BROKER_URL, socket_connect_timeout=2, socket_timeout=2
    ) as redis:
        return int(redis.llen(settings.CELERY_TASK_DEFAULT_QUEUE))


def _end() -> None:
    """Ask for a clean end, then insist: what is deaf may also not listen to this."""
    pause = threading.Event()
    os.kill(os.getpid(), signal.SIGTERM)
    pause.wait(SECONDS_TO_DRAIN)
    os._exit(os.EX_TEMPFAIL)
