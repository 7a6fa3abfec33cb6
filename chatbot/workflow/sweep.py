"""What every process does once a second for all: deliver, execute, expire, alert.

Nothing here is owed to one process: rows say what is due, a conditional UPDATE decides
who takes it, and whatever a process had in hand when it died is due again soon.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import TypeAlias
from uuid import uuid4

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from chatbot.workflow import alerts, outbox, refunds, services
from tools.database import in_database

logger = logging.getLogger(__name__)

# Seconds between looks at what changes slowly.
LOOK_FOR_EXPIRED = 5.0
LOOK_FOR_UNKNOWN = 15.0
OFFER_ALERTS = 5.0
LOOK_FOR_OVERDUE = 600.0

Look: TypeAlias = Callable[[], Awaitable[object]]


class Sweeper:
    """The sweep of one process; it lives in the event loop that starts it.

    ``more`` is what rooms above have done beside it, with the seconds between.
    """

    def __init__(self, more: Mapping[Look, float] | None = None) -> None:
        self._looks: Mapping[Look, float] = {
            services.carry_out_due: settings.RUN_SWEEP_SECONDS,
            services.expire_due: LOOK_FOR_EXPIRED,
            services.look_up_unknown: LOOK_FOR_UNKNOWN,
            refunds.look_for_overdue: LOOK_FOR_OVERDUE,
            alerts.deliver_alerts: OFFER_ALERTS,
            **(more or {}),
        }
        self.owner = f"{socket.gethostname()[:30]}:{os.getpid()}:{uuid4().hex[:8]}"
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._claims: dict[asyncio.Task[None], outbox.Claim] = {}
        self._beside: dict[Look, asyncio.Task[None]] = {}
        self._looked_at: dict[Look, float] = {}
        self._troubled = False

    def start(self) -> None:
        outbox.listen(self.wake)
        self._keeper = asyncio.create_task(self._keep_on(), name="workflow sweep")

    async def stop(self) -> None:
        """End what goes on; it is due again elsewhere when its lease ends."""
        outbox.stop_listening(self.wake)
        tasks = [*self._claims, *self._beside.values()]
        if self._keeper is not None:
            tasks.append(self._keeper)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=3)

    def wake(self) -> None:
        """Look now instead of within a second; from any thread."""
        # A loop that was closed refuses; another process sweeps, or this one later.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)

    async def _keep_on(self) -> None:
        while True:
            await self._pause()
            try:
                await self.sweep_once()
            except DatabaseError:
                if not self._troubled:
                    logger.warning("the sweep waits for the database", exc_info=True)
                self._troubled = True
            else:
                self._troubled = False

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(settings.RUN_SWEEP_SECONDS):
                await self._woken.wait()
        except TimeoutError:
            return
        self._woken.clear()

    async def sweep_once(self) -> None:
        """Keep what is in hand, take what is due, as far as there is room."""
        now = timezone.now()
        if self._claims:
            await in_database(outbox.renew, [*self._claims.values()], now=now)
        room = outbox.MAX_AT_ONCE - len(self._claims)
        if room > 0:
            for claim in await in_database(
                outbox.claim_due, owner=self.owner, now=now, limit=room
            ):
                task = asyncio.create_task(self._deliver(claim))
                self._claims[task] = claim
                task.add_done_callback(self._claims.pop)
        for look, seconds in self._looks.items():
            self._every(seconds, look)

    async def _deliver(self, claim: outbox.Claim) -> None:
        await _without_trouble(outbox.deliver(claim))
        # What a handler left behind may be due at once.
        self._woken.set()

    def _every(self, seconds: float, work: Look) -> None:
        """Start ``work`` beside the sweep if it is time and the last one has ended."""
        before = self._looked_at.get(work, -seconds)
        if work in self._beside or monotonic() - before < seconds:
            return
        self._looked_at[work] = monotonic()
        task = asyncio.create_task(_without_trouble(work()))
        self._beside[work] = task
        task.add_done_callback(lambda _: self._beside.pop(work, None))


async def _without_trouble(work: Awaitable[object]) -> None:
    try:
        await work
    except DatabaseError:
        logger.warning("left to the next sweep", exc_info=True)
    except Exception:
        # One broken look may not end the sweep of everything else.
        logger.exception("a part of the sweep failed")
