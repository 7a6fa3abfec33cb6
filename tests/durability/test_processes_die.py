"""SIGKILL and SIGTERM in the middle of runs: each ends once, and nothing is redone."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any

from chatbot.evals.model_server import ModelServer
from tests.durability.conftest import page, started
from tests.servers.chat_client import ChatClient
from tests.servers.crowd import Seat
from tests.servers.records import Records, differences
from tests.servers.stack import Stack

WHOLE = [
    "message",
    "run.started",
    "step.action",
    "step.observation",
    "step.action",
    "step.observation",
    "message",
    "run.stopped",
]


def types(client: ChatClient) -> list[str]:
    return [entry["type"] for entry in client.log]


def has(client: ChatClient, type_: str) -> Callable[[], bool]:
    return lambda: type_ in types(client)


def check_whole(client: ChatClient, records: Records, end: dict[str, Any]) -> None:
    """One whole run, seen once and in order, as it is stored; no read made twice."""
    assert end["reason"] == "answered"
    assert types(client) == WHOLE
    assert client.troubles == {}
    assert differences(client.log, records.log(client.seat.conversation)) == 0
    assert records.calls_completed_twice() == 0
    assert records.runs_with_two_ends() == 0


async def test_a_worker_finishes_what_a_killed_web_process_began(
    stack: Stack, seat: Seat, records: Records, model: ModelServer
) -> None:
    web, other = stack.webs
    await started(web.web, *stack.workers)
    async with page(seat, stack) as client:
        said = await client.say()
        await client.until(has(client, "step.observation"))
        asked = len(model.requests)
        await asyncio.to_thread(web.kill)
        async with asyncio.timeout(60):
            while records.unfinished_runs():  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        # At the moment of the kill one call may have been on its way: it is made again.
        assert len(model.requests) - asked <= 2 + 1
        await started(other.web)
        check_whole(client, records, await client.answered(said))
    assert records.crashes_survived() >= 1


async def test_the_other_web_process_adopts_a_run_without_any_worker(
    stack: Stack, seat: Seat, records: Records
) -> None:
    await started(*(web.web for web in stack.webs))
    async with page(seat, stack) as client:
        said = await client.say()
        await client.until(has(client, "step.observation"))
        for web in stack.webs:
            owner = records.rows(
                "SELECT lease_owner FROM chat_run WHERE phase = 'running'"
            )
            if owner and f":{web.web.pid}:" in owner[0][0]:
                await asyncio.to_thread(web.kill)
        check_whole(client, records, await client.answered(said))
    assert sum(not web.web.alive for web in stack.webs) == 1


async def test_sigterm_sends_the_pages_on_and_the_runs_end_elsewhere(
    stack: Stack, seat: Seat, records: Records
) -> None:
    web = stack.product
    await started(web.web, *stack.workers)
    async with page(seat, stack) as client:
        said = await client.say()
        await client.until(has(client, "step.observation"))
        os.kill(web.web.pid, signal.SIGTERM)
        await asyncio.to_thread(web.web.wait_for_end)
        await started(stack.webs[1].web)
        check_whole(client, records, await client.answered(said))
    assert client.closes[1012] == 1
    # It was given back, not torn away.
    run = client.log[-1]["run"]
    assert records.number("SELECT crashes FROM chat_run WHERE id = %s", run) == 0


async def test_a_killed_worker_s_run_goes_on_in_the_web_process(
    stack: Stack, seat: Seat, records: Records
) -> None:
    """A worker alone begins it, for no web process is there to take it up again."""
    await started(stack.product.web, *stack.workers)
    async with page(seat, stack) as client:
        await client.until(lambda: client.caught_up >= 0)
        said = await client.say()
        await client.until(has(client, "step.observation"))
        await asyncio.to_thread(stack.product.kill)
        async with asyncio.timeout(30):
            while not _held_by_a_worker(records, stack):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await asyncio.to_thread(stack.workers[0].kill)
        assert records.unfinished_runs() == 1
        await started(stack.webs[1].web)
        check_whole(client, records, await client.answered(said))
    run = client.log[-1]["run"]
    # Three had it in turn. Deaths are counted anew once a run has got on, and whether
    # the worker stored a step before it died is the machine's affair.
    assert records.number("SELECT fence FROM chat_run WHERE id = %s", run) == 3
    assert records.number("SELECT crashes FROM chat_run WHERE id = %s", run) in (1, 2)


def _held_by_a_worker(records: Records, stack: Stack) -> bool:
    held = "SELECT lease_owner FROM chat_run WHERE phase = 'running'"
    web = f":{stack.product.web.pid}:"
    return any(owner and web not in owner for (owner,) in records.rows(held))
