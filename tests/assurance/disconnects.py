"""P8: lines that break at random, a burst, and two pages of one conversation."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from time import monotonic

import psycopg

from tests.assurance.deployment import Deployment, alive, deployment, quiet
from tests.assurance.report import Finding
from tests.servers.chat_client import ChatClient
from tests.servers.records import differences

BURST = 300


async def lose_the_line(*, seed: int, disconnects: int, clients: int) -> Finding:
    """Pages that lose their line again and again, and Redis that restarts twice."""
    finding = Finding("disconnects", seed)
    began = monotonic()
    async with deployment(seats=clients, seed=seed, model_seconds=0.3) as place:
        first = place.clients(seed)
        # A second page of every other customer, on whichever process it meets.
        second = place.clients(seed + 1)[: clients // 2]
        pages = [*first, *second]
        async with alive(pages):
            breaking = asyncio.create_task(_break_lines(pages, seed, disconnects))
            restarting = asyncio.create_task(_restart_redis(place))
            while not breaking.done():
                await asyncio.gather(*(one.ask(seconds=120) for one in first))
            broken = await breaking
            restarts = await restarting
            await quiet(place.records)
            await asyncio.gather(*(_whole(page, place) for page in pages))
        _judge(finding, place, pages)
        finding.faults = {"lines broken": broken, "Redis restarts": restarts}
        finding.wanted_faults = {"lines broken": disconnects, "Redis restarts": 2}
    finding.seconds = monotonic() - began
    return finding


async def _break_lines(pages: list[ChatClient], seed: int, wanted: int) -> int:
    rng = random.Random(seed)
    broken = 0
    while broken < wanted:
        await asyncio.sleep(rng.uniform(0, 0.1))
        broken += await rng.choice(pages).hang_up()
    return broken


async def _restart_redis(place: Deployment) -> int:
    for _ in range(2):
        await asyncio.sleep(3)
        await asyncio.to_thread(place.stack.redis.kill)
        await asyncio.sleep(1)
        await asyncio.to_thread(place.stack.redis.start)
    return 2


async def burst(*, seed: int) -> Finding:
    """300 entries at once in a log that two pages show, one of them by wake-ups alone.

    They are written past the product's processes, in one transaction, as a worker's
    would come: the pages hear one wake-up at most, and have to read the rest.
    """
    finding = Finding("burst", seed)
    began = monotonic()
    async with deployment(seats=1, seed=seed, model_seconds=0, workers=0) as place:
        pages = [
            ChatClient(place.seats[0], [web], random.Random(seed))
            for web in place.stack.webs
        ]
        async with alive(pages):
            await pages[0].ask()
            await asyncio.to_thread(_write_burst, place)
            await asyncio.gather(*(_whole(page, place) for page in pages))
        _judge(finding, place, pages)
        finding.faults = {"entries at once": BURST}
        finding.wanted_faults = {"entries at once": BURST}
    finding.seconds = monotonic() - began
    return finding


def _write_burst(place: Deployment) -> None:
    conversation = place.seats[0].conversation
    with psycopg.connect(place.records.url) as connection:
        connection.execute(
            "SELECT 1 FROM chat_conversation WHERE id = %s FOR UPDATE", [conversation]
        )
        connection.execute(
            "INSERT INTO chat_message"
            " (conversation_id, seq, speaker, text, extras, created_at)"
            " SELECT id, last_seq + n, 'notice', 'entry ' || n, '{}', now()"
            " FROM chat_conversation, generate_series(1, %s) n WHERE id = %s",
            [BURST, conversation],
        )
        connection.execute(
            "UPDATE chat_conversation SET last_seq = last_seq + %s WHERE id = %s",
            [BURST, conversation],
        )


async def _whole(page: ChatClient, place: Deployment) -> None:
    last = await asyncio.to_thread(
        place.records.number,
        "SELECT last_seq FROM chat_conversation WHERE id = %s",
        page.seat.conversation,
    )
    await page.until(lambda: page.last >= last, seconds=60)


def _judge(finding: Finding, place: Deployment, pages: list[ChatClient]) -> None:
    troubles = sum((page.troubles for page in pages), Counter[str]())
    finding.figures = {
        "pages": len(pages),
        "entries_shown": sum(len(page.log) for page in pages),
        "gaps": troubles["gap"],
        "duplicates": troubles["duplicate"],
        "inversions": troubles["inversion"],
        "pages_unlike_the_database": sum(
            differences(page.log, place.records.log(page.seat.conversation))
            for page in pages
        ),
    }
    for name in ("gaps", "duplicates", "inversions", "pages_unlike_the_database"):
        finding.must(finding.figures[name] == 0, name)
