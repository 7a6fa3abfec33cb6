"""P20: each part is away for a while, and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import httpx2

from tests.assurance.deployment import Deployment, alive, deployment, quiet
from tests.assurance.report import Finding
from tests.servers.chat_client import ChatClient

MAX_SECONDS_TO_HEAL = 15


async def parts_go_away(*, seed: int, seconds: float) -> list[Finding]:
    """Model, Redis and database, one after the other, for ``seconds`` each."""
    findings = []
    async with deployment(seats=6, seed=seed, model_seconds=0.2) as place:
        clients = place.clients(seed)
        for name, away, back in (
            ("outage_redis", _stop_redis, _start_redis),
            ("outage_database", _stop_database, _start_database),
            ("outage_model", _stop_model, _start_model),
        ):
            findings.append(
                await _outage(place, clients, name, away, back, seed, seconds)
            )
    return findings


Step = Callable[[Deployment], Awaitable[None]]


async def _outage(
    place: Deployment,
    clients: list[ChatClient],
    name: str,
    away: Step,
    back: Step,
    seed: int,
    seconds: float,
) -> Finding:
    finding = Finding(name, seed)
    began = monotonic()
    async with alive(clients):
        await asyncio.gather(*(client.ask() for client in clients))
        acks_before = sum(_accepted(client) for client in clients)
        await away(place)
        left_at = monotonic()
        asking = [asyncio.create_task(_ask_through(client)) for client in clients]
        await asyncio.sleep(seconds / 2)
        ready = await _readiness(place)
        await asyncio.sleep(seconds / 2)
        acks_during = sum(_accepted(client) for client in clients) - acks_before
        answers_during = sum(task.done() for task in asking)
        await back(place)
        back_at = monotonic()
        outcomes = await asyncio.gather(*asking)
        calm = await quiet(place.records)
    stored = place.records.client_ids()
    accepted = [s for one in clients for s in one.said.values() if s.seq is not None]
    wrong = sum(stored[said.client_id] != 1 for said in accepted)
    healed = [at - back_at for at in outcomes if at > back_at]
    finding.faults = {"seconds away": int(back_at - left_at)}
    finding.wanted_faults = {"seconds away": int(seconds)}
    finding.figures = {
        "questions_during": len(clients),
        "accepted_during": acks_during,
        "answered_during": answers_during,
        "accepted_and_not_stored_once": wrong,
        "readyz_during": ready,
        "seconds_to_first_good_answer_after_return": (
            round(min(healed), 2) if healed else None
        ),
        "seconds_to_last_good_answer_after_return": (
            round(max(healed), 2) if healed else None
        ),
    }
    finding.must(wrong == 0, "a message was accepted and not stored once")
    finding.must(calm, "runs went on for two minutes after the return")
    finding.must(
        not healed or min(healed) <= MAX_SECONDS_TO_HEAL,
        "the first good answer came late",
    )
    if name == "outage_database":
        finding.must(acks_during == 0, "accepted without a database")
    finding.seconds = monotonic() - began
    return finding


def _accepted(client: ChatClient) -> int:
    return sum(said.seq is not None for said in client.said.values())


async def _ask_through(client: ChatClient) -> float:
    """Ask once, and wait for a good answer however often it is tried; when it came."""
    said = await client.mutter()
    await client.until(lambda: said.seq is not None, seconds=180)

    def answered() -> bool:
        return any(
            entry["type"] == "run.stopped" and entry["reason"] == "answered"
            for entry in client.log[(said.seq or 1) - 1 :]
        )

    await client.until(answered, seconds=180)
    return monotonic()


async def _readiness(place: Deployment) -> dict[str, Any]:
    async with httpx2.AsyncClient(timeout=20) as client:
        reply = await client.get(place.stack.product.url + "/readyz")
    return {"status": reply.status_code, **reply.json()}


async def _stop_redis(place: Deployment) -> None:
    await asyncio.to_thread(place.stack.redis.kill)


async def _start_redis(place: Deployment) -> None:
    await asyncio.to_thread(place.stack.redis.start)


async def _stop_database(place: Deployment) -> None:
    await asyncio.to_thread(place.stack.postgres.kill)


async def _start_database(place: Deployment) -> None:
    await asyncio.to_thread(place.stack.postgres.start)


async def _stop_model(place: Deployment) -> None:
    assert place.model is not None
    await asyncio.to_thread(place.model.leave)


async def _start_model(place: Deployment) -> None:
    assert place.model is not None
    await asyncio.to_thread(place.model.come_back)
