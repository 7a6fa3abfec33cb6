"""Carries runs beside the sockets: starts them, keeps their leases, adopts orphans.

Every process that calls ``startup()`` sweeps the database each second for runs that
nobody works on; a conditional UPDATE decides who gets one. So a run is started with no
broker, with many processes, and after any of them has died.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Coroutine
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone
from kombu.exceptions import OperationalError

from chatbot.celery import app as celery
from chatbot.chat import leases, retention
from chatbot.chat.loops import at_home, make_home, one_per_loop
from chatbot.chat.problems import RESTART
from chatbot.chat.runner import Execution, execute_run
from chatbot.chat.shared import shared
from chatbot.chat.sockets import sockets
from chatbot.llm.pool import close_connections
from chatbot.react.types import StopReason
from chatbot.workflow.sweep import Sweeper
from tools.database import in_database

logger = logging.getLogger(__name__)

# Seconds until a run that was offered to the workers is offered again.
OFFER_AGAIN = 5
DRAIN_SECONDS = 3
ADOPT_RUN = "chatbot.chat.tasks.adopt_run"


class Launcher:
    """The runs of one process."""

    def __init__(self) -> None:
        self.owner = f"{socket.gethostname()[:30]}:{os.getpid()}:{uuid4().hex[:8]}"
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._executions: dict[UUID, Execution] = {}
        self._beside: set[asyncio.Task[None]] = set()
        self._keeper: asyncio.Task[None] | None = None
        self._hands_on = settings.RUN_IN == "worker"
        self._sweeping = False
        self._draining = False
        self._renewed_at = monotonic()
        self._troubled = False

    @property
    def carried(self) -> int:
        return len(self._tasks)

    @property
    def draining(self) -> bool:
        return self._draining

    def sweep(self, *, hands_on: bool) -> None:
        """From now on look for runs that nobody works on, to carry or to hand on."""
        self._sweeping = True
        self._hands_on = hands_on
        self._keep()

    def launch(self, run_id: UUID) -> None:
        """Start a run here or hand it to the workers, as the settings say."""
        if self._hands_on:
            self._start_beside(_offer_to_workers(run_id))
        else:
            self.start(run_id)

    def start(
        self, run_id: UUID, *, model_name: str | None = None
    ) -> asyncio.Task[None] | None:
        """Carry a run, as its own task; None where it has to wait for a sweep."""
        if run_id in self._tasks:
            return self._tasks[run_id]
        if self._draining or len(self._tasks) >= settings.RUN_MAX_AT_ONCE:
            return None
        task = asyncio.create_task(
            self._carry(run_id, model_name), name=f"run {run_id}"
        )
        self._tasks[run_id] = task
        task.add_done_callback(partial(self._done, run_id))
        self._keep()
        return task

    def tell(self, run_id: UUID) -> None:
        """Say that a carried run has new messages."""
        if run_id in self._executions:
            self._start_beside(self._executions[run_id].take_in())

    def cancel(self, run_id: UUID) -> None:
        if run_id in self._executions:
            self._executions[run_id].signals.stop_with(StopReason.CANCELLED)

    async def drain(self) -> None:
        """Take no more runs and give back those that are carried."""
        self._draining = True
        claims = [execution.claim for execution in self._executions.values()]
        tasks = [*self._tasks.values(), *self._beside]
        if self._keeper is not None:
            tasks.append(self._keeper)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=DRAIN_SECONDS)
        if claims:
            now = timezone.now()
            given = await in_database(
                leases.give_back, claims, owner=self.owner, now=now
            )
            logger.info("gave back %s runs", given)
        await close_connections()

    async def _carry(self, run_id: UUID, model_name: str | None) -> None:
        following = await execute_run(
            run_id,
            owner=self.owner,
            model_name=model_name,
            taken=partial(self._executions.__setitem__, run_id),
        )
        if following is not None:
            self.start(following, model_name=model_name)

    def _done(self, run_id: UUID, task: asyncio.Task[None]) -> None:
        del self._tasks[run_id]
        self._executions.pop(run_id, None)
        if not task.cancelled() and task.exception() is not None:
            logger.error("run %s broke off", run_id, exc_info=task.exception())

    def _start_beside(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(_or_later(work))
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    # ---- what is done every second

    def _keep(self) -> None:
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep_on(), name="run keeper")

    async def _keep_on(self) -> None:
        while self._sweeping or self._tasks:
            await asyncio.sleep(settings.RUN_SWEEP_SECONDS)
            try:
                await self._look_after()
                if self._sweeping:
                    await self.sweep_once()
            except DatabaseError:
                if not self._troubled:
                    logger.warning("the sweep waits for the database", exc_info=True)
                self._troubled = True
            else:
                self._troubled = False

    async def _look_after(self) -> None:
        """Keep the leases of the carried runs, and hear what others say about them."""
        executions = dict(self._executions)
        if not executions:
            return
        claims = [execution.claim for execution in executions.values()]
        if monotonic() - self._renewed_at >= settings.RUN_LEASE_SECONDS / 3:
            await in_database(
                leases.renew_leases, claims, owner=self.owner, now=timezone.now()
            )
            self._renewed_at = monotonic()
        for run_id, news in (await in_database(leases.news_of, claims)).items():
            if run_id not in self._executions:
                continue
            if news.held:
                await executions[run_id].heed(news)
            elif run_id in self._tasks:
                # Somebody else has it: nothing that we do would be stored any more.
                self._tasks[run_id].cancel()

    async def sweep_once(self) -> int:
        """Start what is due, or offer it to the workers; how many runs that were."""
        room = settings.RUN_MAX_AT_ONCE - len(self._tasks)
        if self._draining or room <= 0:
            return 0
        now = timezone.now()
        due = await in_database(leases.due_runs, now=now, limit=room)
        for run_id in due:
            self.launch(run_id)
        return len(due)


launcher = one_per_loop(Launcher)
# Deliveries and changes: what is due there is due to every process alike.
sweeper = one_per_loop(
    lambda: Sweeper({retention.look_at_the_day: retention.LOOK_AT_THE_DAY})
)


async def _or_later(work: Coroutine[Any, Any, object]) -> None:
    try:
        await work
    except DatabaseError:
        logger.warning("left to the sweep", exc_info=True)


async def _offer_to_workers(run_id: UUID) -> None:
    now = timezone.now()
    later = now + timedelta(seconds=OFFER_AGAIN)
    if await in_database(leases.postpone, run_id, now=now, until=later):
        await asyncio.to_thread(_send_to_workers, run_id)


def _send_to_workers(run_id: UUID) -> None:
    try:
        celery.send_task(ADOPT_RUN, args=[str(run_id)], retry=False)
    except (OperationalError, OSError) as error:
        # The workers look for due runs themselves.
        logger.warning("the broker did not take run %s: %s", run_id, error)


# ---- a web process: called by the server's lifespan


async def startup() -> None:
    """Make this process's loop the home of its runs, and adopt what others left."""
    make_home()
    launcher().sweep(hands_on=settings.RUN_IN == "worker")
    sweeper().start()


async def shutdown() -> None:
    """Tell the pages to reconnect elsewhere and give the runs back."""
    sockets().close_all(RESTART)
    await sweeper().stop()
    await launcher().drain()
    await shared().close()


# ---- for whoever has just committed something, from any thread


def launch_run(run_id: UUID) -> None:
    """Have a run started; best effort, for the sweep finds it too."""
    at_home(lambda: launcher().launch(run_id))


def tell_run(run_id: UUID) -> None:
    """Let a run of this process know at once what others see within a second."""
    at_home(lambda: launcher().tell(run_id))


def cancel_run(run_id: UUID) -> None:
    at_home(lambda: launcher().cancel(run_id))
