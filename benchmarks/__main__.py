"""Measures Waybill beside the bare loop and its peers. See docs/performance.md.

    python -m benchmarks [--rounds 5] [--at-once 1 10 50] [--only NAME ...]
                         [--peers PYTHON] [--streamed] [--history] [--memory]
                         [--idle 1000]

Everything runs on loopback ports of its own, PostgreSQL with fsync on. In each round
all contestants have their turn, in shuffled order; ratios are taken round by round.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psycopg
import uvloop

from benchmarks import contestants, report
from benchmarks.contestants import Contestant
from benchmarks.load import Open, Times, Visit, ask_product, enter, leave, visit
from benchmarks.measure import cpu_seconds, resident_kb
from tests.servers.postgres import PostgresServer
from tests.servers.processes import Process, free_port, port_answers
from tests.servers.product import ROOT
from tests.servers.redis import RedisServer

FLOOR = "openai client, bare websocket"
EACH = {1: 40, 10: 8, 50: 4}
SEATS = 50
SLOW = "fake:ttft=300,tok=5"
VERY_SLOW = "fake:ttft=6000"
IDLE_SOCKETS = 1000
ACTIVE_RUNS = 200
TURNS = (20, 200)
PEERS = {
    "LangGraph, PostgreSQL checkpointer": "langgraph_pg",
    "pydantic-ai, nothing stored": "pydantic_agent",
}


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Bench:
    """Starts what is measured and ends it again."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.folder = folder
        self.options = options
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self.postgres = PostgresServer(folder / "pg", fsync="on")
        self.redis = RedisServer(folder / "redis")
        self._running: list[Process] = []
        self.stores: list[int] = []

    def __enter__(self) -> Bench:
        model = Process(
            [sys.executable, "-m", "benchmarks.model_server", str(self.port)],
            log=self.folder / "model.log",
            ready=lambda: port_answers(self.port),
            cwd=ROOT,
        )
        model.start()
        self._running.append(model)
        self.postgres.start()
        self.redis.start()
        started = (self.postgres.process, self.redis.process)
        self.stores = [process.pid for process in started if process]
        return self

    def __exit__(self, *problem: object) -> None:
        for process in reversed(self._running):
            process.stop()
        self.redis.stop()
        self.postgres.stop()

    def model(self, name: str = "fake", *, stream: bool = False) -> dict[str, str]:
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_API_KEY": "k",
            "LLM_MODEL": name,
            "LLM_STREAM": str(int(stream)),
            "LLM_MAX_CONNECTIONS": "1000",
        }

    def database(self, name: str) -> dict[str, str]:
        """A database of its own on the shared server."""
        with psycopg.connect(self.postgres.url, autocommit=True) as admin:
            admin.execute(f'CREATE DATABASE "{name}"'.encode())
        url = self.postgres.url.rpartition("/")[0] + f"/{name}"
        return {"DATABASE_URL": url, "REDIS_URL": self.redis.url}

    def start(self, names: Sequence[str], env: dict[str, str]) -> list[Contestant]:
        made = []
        for name in names:
            folder = self.folder / f"{len(self._running)}"
            made.append(self._make(name, folder, env))
            self._running.append(made[-1].process)
        return made

    def _make(self, name: str, folder: Path, env: dict[str, str]) -> Contestant:
        tag = f"bench{len(self._running)}"
        counts = self._conversations()
        if name == FLOOR:
            return contestants.bare(name, "openai_client", folder, env)
        if name in PEERS:
            url = self.database(tag)["DATABASE_URL"]
            more = {**env, "PEER_DATABASE_URL": url}
            python = self.options.peers
            return contestants.bare(name, PEERS[name], folder, more, python=python)
        if "loop alone" in name:
            more = {**env, "VAR_DIR": str(folder)}
            return contestants.bare(name, "product", folder, more)
        if "PostgreSQL" in name:
            env = {**env, **self.database(tag)}
        return contestants.product(name, folder, env, conversations=counts)

    def _conversations(self) -> list[int]:
        """How many conversations each seat needs for all rounds, and to spare."""
        needs = [self.options.idle // SEATS + 4] * SEATS
        for at_once in {*self.options.at_once, SEATS}:
            for seat in range(min(at_once, SEATS)):
                needs[seat] += (self.options.rounds + 1) * EACH.get(at_once, 4)
        return needs


OURS = (
    "Waybill's loop alone, tools in memory",
    "Waybill, SQLite",
    "Waybill, PostgreSQL and Redis",
)


async def compare(
    bench: Bench, made: Sequence[Contestant], at_once: int, each: int
) -> None:
    rounds: dict[str, list[Visit]] = {one.name: [] for one in made}
    for number in range(bench.options.rounds):
        order = list(made)
        random.shuffle(order)
        for one in order:
            got = await visit(one, at_once=at_once, each=each, stores=bench.stores)
            rounds[one.name].append(got)
            say(f"  round {number + 1}: {one.name}: {got.cpu_ms:.2f} ms CPU a run")
    say(f"\n### {at_once} at once, {each} runs each, {bench.options.rounds} rounds\n")
    say(report.table(rounds, floor=FLOOR) + "\n")


async def speed(bench: Bench, *, model: str = "fake", stream: bool = False) -> None:
    names = [FLOOR, *OURS, *(PEERS if bench.options.peers else ())]
    if bench.options.only:
        wanted = bench.options.only
        names = [n for n in names if n == FLOOR or any(w in n for w in wanted)]
    made = bench.start(names, bench.model(model, stream=stream))
    for one in made:  # warm: imports, plans, connections
        await visit(one, at_once=SEATS, each=1)
    say(f"\n## model {model}{', streamed' if stream else ''}\n")
    for at_once in bench.options.at_once:
        await compare(bench, made, at_once, EACH.get(at_once, 4))


async def history(bench: Bench) -> None:
    """What a run costs after so many turns of the same conversation."""
    [one] = bench.start([OURS[2]], bench.model())
    await visit(one, at_once=SEATS, each=1)
    rows = [("turns before", "CPU ms a run", "done p50")]
    for turns in (0, *TURNS):
        limit = asyncio.Semaphore(1)
        askers = [await enter(one.doors(seat, 1)[0], limit) for seat in range(10)]
        for _ in range(turns // 2):
            await _everybody_once(askers, Times())
        visits = [await _timed(one, askers) for _ in range(3)]
        cpu = report.spread((got for got, _ in visits), digits=2)
        done = sorted(ms for _, times in visits for ms in times.done)
        rows.append((str(turns), cpu, f"{done[len(done) // 2]:.0f} ms"))
        await leave([socket for socket, _ in askers])
    say("\n## the same conversation, longer and longer (10 at once)\n")
    say(report.markdown(rows) + "\n")


async def _everybody_once(askers: Sequence[Open], times: Times) -> None:
    await asyncio.gather(*(ask_product(socket, door, times) for socket, door in askers))


async def _timed(one: Contestant, askers: Sequence[Open]) -> tuple[float, Times]:
    times = Times()
    before = cpu_seconds(one.pids)
    await _everybody_once(askers, times)
    return (cpu_seconds(one.pids) - before) * 1000 / len(askers), times


async def memory(bench: Bench) -> None:
    """Of a process at rest, of an idle socket, of a run that waits for its model."""
    [one] = bench.start([OURS[2]], bench.model(VERY_SLOW, stream=True))
    limit = asyncio.Semaphore(20)

    async def opened(count: int) -> list[Open]:
        doors = [one.doors(n % SEATS, 1)[0] for n in range(count)]
        return list(await asyncio.gather(*(enter(door, limit) for door in doors)))

    await leave([socket for socket, _ in await opened(SEATS)])
    rest = resident_kb(one.pids)
    count = bench.options.idle
    idle = await opened(count)
    await asyncio.sleep(6)  # past one look at all sockets
    sockets = resident_kb(one.pids)
    times = Times()
    runs = [
        asyncio.create_task(ask_product(socket, door, times))
        for socket, door in idle[:ACTIVE_RUNS]
    ]
    await asyncio.sleep(5)
    active = resident_kb(one.pids)
    await asyncio.gather(*runs)
    rows = [
        ("what", "memory"),
        ("the web process at rest", f"{rest / 1024:.0f} MiB"),
        (
            f"an idle socket, at {count}",
            f"{(sockets - rest) / count:.1f} kB",
        ),
        (
            f"a run that waits for its model, at {ACTIVE_RUNS}",
            f"{(active - sockets) / ACTIVE_RUNS:.0f} kB",
        ),
    ]
    say("\n## memory (PostgreSQL and Redis)\n")
    say(report.markdown(rows) + "\n")
    await leave([socket for socket, _ in idle])


async def measure(bench: Bench) -> None:
    options = bench.options
    one_part = options.streamed or options.history or options.memory
    if not one_part:
        await speed(bench)
    if options.streamed or not (one_part or options.only):
        await speed(bench, model=SLOW, stream=True)
    if options.history or not (one_part or options.only):
        await history(bench)
    if options.memory or not (one_part or options.only):
        await memory(bench)


def main() -> None:
    reader = argparse.ArgumentParser(prog="python -m benchmarks")
    reader.add_argument("--rounds", type=int, default=5)
    reader.add_argument("--at-once", type=int, nargs="+", default=[1, 10, 50])
    reader.add_argument("--only", nargs="+", help="parts of names; the floor always")
    reader.add_argument("--peers", help="the Python that has benchmarks/peers.txt")
    reader.add_argument(
        "--idle", type=int, default=IDLE_SOCKETS, help="idle sockets, up to 5000"
    )
    for part in ("streamed", "history", "memory"):
        reader.add_argument(f"--{part}", action="store_true", help="only this part")
    options = reader.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="waybill-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with Bench(folder, options) as bench:
            uvloop.run(measure(bench))


if __name__ == "__main__":
    main()
