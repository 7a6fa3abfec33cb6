"""Tasks are hints: delivered many times, or lost with their child process, they change
nothing. Known failures 1, 3 and 4 (docs/assurance/known_failures.md)."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection

from chatbot.celery import app
from chatbot.chat.launch import ADOPT_RUN
from chatbot.evals.model_server import ModelServer
from tests.durability.conftest import page, started
from tests.durability.test_processes_die import check_whole, has
from tests.servers.crowd import Seat
from tests.servers.processes import Process
from tests.servers.records import Records
from tests.servers.stack import Stack

DELIVERIES = 30
TAKEN = f"Task {ADOPT_RUN}["


@pytest.fixture
async def worker(stack: Stack) -> AsyncIterator[Process]:
    """The one who runs what the web process takes in."""
    web, worker = stack.product.web, stack.workers[0]
    web.env = {**stack.product.env, "RUN_IN": "worker"}
    await started(web, worker)
    yield worker
    web.env = stack.product.env


def children_of(process: Process) -> set[int]:
    found = Path(f"/proc/{process.pid}/task").glob("*/children")
    return {int(pid) for file in found for pid in file.read_text().split()}


def run_of(records: Records, seat: Seat) -> tuple[str, int]:
    """The id and the fence of the conversation's last run."""
    ((run, fence),) = records.rows(
        "SELECT id::text, fence FROM chat_run WHERE conversation_id = %s"
        " ORDER BY created_at DESC LIMIT 1",
        seat.conversation,
    )
    return str(run), int(fence)


def deliver(stack: Stack, run: str) -> None:
    with Connection(stack.redis.url) as connection:
        for _ in range(DELIVERIES):
            app.send_task(ADOPT_RUN, args=[run], connection=connection)


async def test_a_hint_that_is_delivered_many_times_is_one_run(
    stack: Stack, seat: Seat, records: Records, worker: Process, model: ModelServer
) -> None:
    async with page(seat, stack) as client:
        said = await client.say()
        await client.until(has(client, "step.action"))
        run, fence = run_of(records, seat)
        before = worker.output.count(TAKEN)
        await asyncio.to_thread(deliver, stack, run)
        check_whole(client, records, await client.answered(said))
        async with asyncio.timeout(60):
            # Each is received, and has succeeded.
            while worker.output.count(TAKEN) - before < 2 * DELIVERIES:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    assert run_of(records, seat) == (run, fence)
    # Of this run: the worker may also carry one that another test left waiting.
    own = [asked for asked in model.requests if seat.order in json.dumps(asked)]
    assert len(own) == 3


async def test_a_child_that_dies_alone_costs_no_step(
    stack: Stack, seat: Seat, records: Records, worker: Process
) -> None:
    """The worker lives and has taken the task off the queue: nobody redelivers it."""
    async with page(seat, stack) as client:
        said = await client.say()
        await client.until(has(client, "step.observation"))
        _, fence = run_of(records, seat)
        killed = children_of(worker)
        for child in killed:
            os.kill(child, signal.SIGKILL)
        check_whole(client, records, await client.answered(said))
    assert killed
    assert worker.alive
    assert not killed & children_of(worker)
    assert run_of(records, seat)[1] > fence, "nobody adopted the run"


async def test_the_broker_holds_ids_and_nobodys_words(stack: Stack, seat: Seat) -> None:
    """While no worker takes them: known failure 36."""
    web = stack.product.web
    web.env = {**stack.product.env, "RUN_IN": "worker"}
    try:
        with stack.redis.client() as redis:
            redis.flushall()
            await started(web)
            async with page(seat, stack) as client:
                await client.say(f"canary-4711 {seat.question}")
                async with asyncio.timeout(30):
                    while not redis.llen("celery"):  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
            held = [value for key in redis.scan_iter() for value in _texts(redis, key)]
    finally:
        web.env = stack.product.env
    assert any(ADOPT_RUN.encode() in text for text in held), "nothing was in the broker"
    assert not [
        text for text in held if b"canary" in text or seat.order.encode() in text
    ]


def _texts(redis: Any, key: bytes) -> list[bytes]:
    """What a key holds, with what its tasks carry in Base64."""
    match redis.type(key):
        case b"list":
            rows = redis.lrange(key, 0, -1)
        case b"zset":
            rows = redis.zrange(key, 0, -1)
        case b"set":
            rows = list(redis.smembers(key))
        case b"hash":
            rows = list(redis.hgetall(key).values())
        case _:
            rows = [redis.get(key) or b""]
    bodies = [json.loads(row)["body"] for row in rows if b'"body"' in row]
    return [key, *rows, *(base64.b64decode(body) for body in bodies)]
