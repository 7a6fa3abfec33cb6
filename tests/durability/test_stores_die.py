"""PostgreSQL and Redis that die: no wrong word, and all of it heals by itself."""

from __future__ import annotations

import asyncio

import httpx2

from tests.durability.conftest import page, started
from tests.durability.test_processes_die import check_whole, has
from tests.servers.crowd import Seat
from tests.servers.processes import Process
from tests.servers.product import Product
from tests.servers.records import Records
from tests.servers.stack import Stack

# A worker's log on each task of beat's that it has taken.
SWEPT = "Task chatbot.chat.tasks.sweep_runs["


async def get(web: Product, path: str) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=20) as client:
        return await client.get(web.url + path)


async def test_redis_killed_in_a_run_loses_nothing(
    stack: Stack, seat: Seat, records: Records
) -> None:
    """Page and run are in different processes: only the look at the log is left."""
    await started(*(web.web for web in stack.webs))
    async with page(seat, stack) as client:
        said = await client.say()
        await client.until(has(client, "step.action"))
        await asyncio.to_thread(stack.redis.kill)
        try:
            await client.hang_up()
            check_whole(client, records, await client.answered(said))
            ready = await get(stack.product, "/readyz")
            assert (ready.status_code, ready.json()["redis"]) == (200, "away")
        finally:
            await asyncio.to_thread(stack.redis.start)
        assert (await get(stack.product, "/readyz")).json()["redis"] == "ok"


async def test_an_emptied_redis_loses_no_run_that_waits_for_a_worker(
    stack: Stack, seat: Seat, records: Records
) -> None:
    web = stack.product
    web.web.env = {**web.env, "RUN_IN": "worker"}
    try:
        await started(web.web)
        async with page(seat, stack) as client:
            said = await client.say()
            with stack.redis.client() as redis:
                async with asyncio.timeout(20):
                    while not redis.llen("celery"):  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                redis.flushall()
            await started(*stack.workers)
            check_whole(client, records, await client.answered(said))
    finally:
        web.web.env = dict(web.env)


async def test_without_its_database_it_says_503_and_accepts_nothing_then_heals(
    stack: Stack, seat: Seat, records: Records
) -> None:
    await started(stack.product.web)
    async with page(seat, stack) as client:
        await client.until(lambda: client.caught_up >= 0)
        await asyncio.to_thread(stack.postgres.kill)
        try:
            assert (await get(stack.product, "/healthz")).status_code == 200
            ready = await get(stack.product, "/readyz")
            assert (ready.status_code, ready.json()["database"]) == (503, "away")
            said = await client.mutter()
            await client.until(lambda: client.refusals["unavailable"] > 0)
            assert said.seq is None
            session = {"Cookie": f"sessionid={seat.session}"}
            async with httpx2.AsyncClient(timeout=20, headers=session) as browser:
                page_ = await browser.get(stack.product.url + "/")
            assert (page_.status_code, page_.headers["Retry-After"]) == (503, "5")
        finally:
            await asyncio.to_thread(stack.postgres.start)
        # The client sends it again by itself, under the same id.
        check_whole(client, records, await client.answered(said))
    assert records.client_ids()[said.client_id] == 1


async def test_a_database_that_dies_in_a_run_costs_no_step(
    stack: Stack, seat: Seat, records: Records
) -> None:
    await started(stack.product.web)
    async with page(seat, stack) as client:
        said = await client.say()
        await client.until(has(client, "step.observation"))
        await asyncio.to_thread(stack.postgres.kill)
        await asyncio.to_thread(stack.postgres.start)
        check_whole(client, records, await client.answered(said))


async def test_a_worker_takes_tasks_again_after_redis_restarted_three_times(
    stack: Stack,
) -> None:
    """Or it ends itself, for its supervisor to start it anew: deaf it does not stay."""
    worker = stack.workers[0]
    worker.env = {**stack.product.env, "WORKER_DEAF_SECONDS": "10"}
    stack.beat.env = worker.env
    await started(worker, stack.beat)
    try:
        for _ in range(3):
            await asyncio.to_thread(stack.redis.kill)
            await asyncio.to_thread(stack.redis.start)
        heard = _swept(worker)
        async with asyncio.timeout(90):
            while worker.alive and _swept(worker) == heard:  # noqa: ASYNC110
                await asyncio.sleep(0.5)
    finally:
        await asyncio.to_thread(stack.beat.kill)
        worker.env = dict(stack.product.env)


async def test_a_deaf_worker_ends_itself(stack: Stack) -> None:
    """Made deaf by the broker's own means: its consumer is told to take nothing."""
    worker = stack.workers[0]
    worker.env = {**stack.product.env, "WORKER_DEAF_SECONDS": "10"}
    stack.beat.env = worker.env
    await started(worker)
    control = ("-A", "chatbot", "control", "cancel_consumer", "celery")
    deafen = stack.product.process("deafen", "celery", *control)
    try:
        await started(deafen)
        await asyncio.to_thread(deafen.wait_for_end)
        await started(stack.beat)
        async with asyncio.timeout(90):
            while worker.alive:  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        assert "takes no tasks" in worker.output_of_this_start
    finally:
        await asyncio.to_thread(stack.beat.kill)
        worker.env = dict(stack.product.env)


def _swept(worker: Process) -> int:
    return worker.output_of_this_start.count(SWEPT)
