"""P1, P8 and P12: messages while everything is killed again and again.

Three records are held against each other in the end: what each page saw, what the
database holds, and what the model server was asked.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from time import monotonic
from typing import Any

from tests.assurance.deployment import Deployment, alive, deployment, quiet
from tests.assurance.report import Finding, percentile
from tests.servers.chat_client import ChatClient
from tests.servers.records import differences


@dataclass(frozen=True, slots=True)
class Size:
    messages: int = 2_000
    clients: int = 20
    kills: int = 50
    wipes: int = 5
    model_seconds: float = 0.6
    # Between a kill and the next; and until what was killed is started again.
    pause: tuple[float, float] = (2.0, 8.0)
    down: tuple[float, float] = (0.1, 2.0)
    web_processes: int = 2
    # The default lease; shorter where a scenario has no time to wait for it.
    lease_seconds: int = 15


class Killer:
    """Kills one part after the other, as its seed has it, and starts it again."""

    def __init__(self, place: Deployment, size: Size, seed: int) -> None:
        self.place = place
        self.size = size
        self.rng = random.Random(seed)
        self.kills: Counter[str] = Counter()
        self.wipes = 0
        self.events: list[tuple[float, str]] = []
        self._began = monotonic()
        self._down: set[str] = set()

    @property
    def done(self) -> bool:
        enough = sum(self.kills.values()) >= self.size.kills
        return enough and self.wipes >= self.size.wipes

    async def run(self) -> None:
        rounds = 0
        restarts: list[asyncio.Task[None]] = []
        while not self.done:
            await asyncio.sleep(self.rng.uniform(*self.size.pause))
            rounds += 1
            wipe_every = max(1, self.size.kills // self.size.wipes)
            if rounds % wipe_every == 0 or sum(self.kills.values()) >= self.size.kills:
                await asyncio.to_thread(self._wipe)
            self._kill_one(restarts)
        await asyncio.gather(*restarts)

    def _wipe(self) -> None:
        with self.place.stack.redis.client() as redis:
            redis.flushall()
        self.wipes += 1
        self._note("redis emptied")

    def _kill_one(self, restarts: list[asyncio.Task[None]]) -> None:
        """Kill a part that is up; it is started again beside, while others die."""
        up = [name for name in self._parts() if name not in self._down]
        if not up:
            return
        # Processes are many and stores are one each: all kinds get their share.
        part = self.rng.choice(up)
        self._down.add(part)
        down = self.rng.uniform(*self.size.down)
        restarts.append(asyncio.create_task(self._cycle(part, down)))

    def _parts(self) -> list[str]:
        stack = self.place.stack
        webs = [f"web{number}" for number in range(len(stack.webs))]
        workers = [f"worker{number}" for number in range(len(stack.workers))]
        return [*webs, *workers, "redis", "postgres"]

    async def _cycle(self, part: str, down: float) -> None:
        await asyncio.to_thread(self._kill, part)
        await asyncio.sleep(down)
        while True:
            try:
                await asyncio.to_thread(self._start, part)
                break
            except RuntimeError:
                # It was started into the outage of another part.
                self._note(f"{part} had to be started again")
        self._down.discard(part)

    def _kill(self, part: str) -> None:
        process = dict(self.place.stack.processes())[part]
        if process.alive:
            process.kill()
            self.kills[part] += 1
            self._note(f"{part} killed")

    def _start(self, part: str) -> None:
        stack = self.place.stack
        if part == "postgres":
            stack.postgres.start()
        else:
            dict(stack.processes())[part].start()

    def _note(self, what: str) -> None:
        self.events.append((round(monotonic() - self._began, 1), what))


async def survive_kills(*, seed: int, size: Size) -> Finding:
    finding = Finding("kills", seed)
    began = monotonic()
    async with deployment(
        seats=size.clients,
        seed=seed,
        model_seconds=size.model_seconds,
        webs=size.web_processes,
        env={"RUN_LEASE_SECONDS": str(size.lease_seconds)},
    ) as place:
        clients = place.clients(seed)
        killer = Killer(place, size, seed)
        async with alive(clients):
            killing = asyncio.create_task(killer.run())
            each = -(-size.messages // size.clients)
            await asyncio.gather(*(_talk(one, each, killer) for one in clients))
            await killing
            calm = await quiet(place.records)
            for client in clients:
                await client.hang_up()
            ends = {
                seat.conversation: _end(place, seat.conversation)
                for seat in place.seats
            }
            await asyncio.gather(
                *(
                    _caught_up(client, ends[client.seat.conversation])
                    for client in clients
                )
            )
        _judge(finding, place, clients, killer, calm)
    finding.seconds = monotonic() - began
    return finding


async def _talk(client: ChatClient, messages: int, killer: Killer) -> None:
    """Ask, read the answer, ask again: until enough is said and enough was killed."""
    while len(client.said) < messages or not killer.done:
        said = await client.say(seconds=300)
        # Now and then a second message comes while the first is worked on.
        if client.rng.random() < 0.1:
            said = await client.say(seconds=300)
        await client.answered(said, seconds=300)


def _end(place: Deployment, conversation: str) -> int:
    return place.records.number(
        "SELECT last_seq FROM chat_conversation WHERE id = %s", conversation
    )


async def _caught_up(client: ChatClient, last: int) -> None:
    await client.until(lambda: client.last >= last, seconds=60)


def _judge(
    finding: Finding,
    place: Deployment,
    clients: list[ChatClient],
    killer: Killer,
    calm: bool,
) -> None:
    records, size = place.records, killer.size
    stored = records.client_ids()
    accepted = [said for one in clients for said in one.said.values() if said.seq]
    lost = [said for said in accepted if stored[said.client_id] == 0]
    doubled = [client_id for client_id, times in stored.items() if times > 1]
    troubles = sum((client.troubles for client in clients), Counter[str]())
    unlike = sum(
        differences(client.log, records.log(client.seat.conversation))
        for client in clients
    )
    waits = [said.accepted_at - said.at for said in accepted]
    finding.faults = {
        "kills": sum(killer.kills.values()),
        "Redis wipes": killer.wipes,
        "runs adopted after a death": records.crashes_survived(),
        "reconnects": sum(client.connects - 1 for client in clients),
    }
    finding.wanted_faults = {
        "kills": size.kills,
        "Redis wipes": size.wipes,
        "runs adopted after a death": 1,
        "reconnects": 1,
    }
    sent_again = sum(max(0, s.sent - 1) for one in clients for s in one.said.values())
    finding.figures = {
        "clients": len(clients),
        "lease_seconds": size.lease_seconds,
        "messages_accepted": len(accepted),
        "messages_lost": len(lost),
        "messages_stored_twice": len(doubled),
        "messages_sent_again": sent_again,
        "log_gaps": troubles["gap"],
        "log_duplicates": troubles["duplicate"],
        "log_inversions": troubles["inversion"],
        "pages_unlike_the_database": unlike,
        "runs": records.number("SELECT count(*) FROM chat_run"),
        "runs_without_stop_reason": records.unfinished_runs(),
        "runs_with_two_ends": records.runs_with_two_ends(),
        "runs_over_a_limit": records.runs_over_a_limit(),
        "completed_calls_made_again": records.calls_completed_twice(),
        "stop_reasons": records.stop_reasons(),
        "kills": dict(sorted(killer.kills.items())),
        "seconds_to_acceptance": _spread(waits),
        "kill_log": killer.events,
    }
    for name in (
        "messages_lost",
        "messages_stored_twice",
        "log_gaps",
        "log_duplicates",
        "log_inversions",
        "pages_unlike_the_database",
        "runs_without_stop_reason",
        "runs_with_two_ends",
        "runs_over_a_limit",
        "completed_calls_made_again",
    ):
        finding.must(finding.figures[name] == 0, name)
    finding.must(calm, "runs went on for two minutes after the last kill")
    finding.must(len(accepted) >= size.messages, "too few messages")


def _spread(values: list[float]) -> dict[str, Any]:
    return {
        "median": percentile(values, 0.5),
        "p95": percentile(values, 0.95),
        "most": percentile(values, 1),
    }
