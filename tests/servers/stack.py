"""All parts of a deployment on one machine, on free loopback ports, without Docker.

``python -m tests.servers.stack`` (``make stack``) runs the demo on them until Ctrl-C
and starts anew what dies; the tests of durability kill and restart the parts.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.parts import install, missing
from tests.servers import postgres, redis
from tests.servers.postgres import PostgresServer
from tests.servers.processes import Process, port_answers
from tests.servers.product import ROOT, Product
from tests.servers.redis import RedisServer

SECONDS_BETWEEN_LOOKS = 1
# A worker's log says so.
READY = " ready."


class Stack:
    """PostgreSQL, Redis, web processes, workers and beat of one installation.

    ``webs`` share database and Redis; the first is ``product``. ``start()`` makes the
    tables and the demo shop where they are not there yet.
    """

    def __init__(
        self,
        folder: Path,
        env: Mapping[str, str] | None = None,
        *,
        webs: int = 1,
        workers: int = 1,
        port: int | None = None,
        **postgres_settings: str,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.postgres = PostgresServer(folder / "postgres", **postgres_settings)
        self.redis = RedisServer(folder / "redis")
        self.env = {
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.redis.url,
            "WEB_PROCESSES": str(webs),
            "CELERY_WORKER_CONCURRENCY": "1",
            **(env or {}),
        }
        self.webs = [
            Product(folder / f"web{number}", {**self.env, "VAR_DIR": str(folder)})
            for number in range(webs)
        ]
        if port is not None:
            self.webs[0].listen_on(port)
        self.workers = [self._celery(f"worker{n}", n) for n in range(workers)]
        self.beat = self.product.process("beat", "celery", "-A", "chatbot", "beat")

    @property
    def product(self) -> Product:
        return self.webs[0]

    def start(self, *, beat: bool = True) -> None:
        self.prepare()
        processes = [web.web for web in self.webs] + self.workers
        if beat:
            processes.append(self.beat)
        # Each takes seconds of its own to load.
        with ThreadPoolExecutor(len(processes)) as together:
            for started in [together.submit(one.start) for one in processes]:
                started.result()

    def prepare(self) -> None:
        """Only the stores, with tables and shop: nobody serves or works yet."""
        self.postgres.start()
        self.redis.start()
        self.product.prepare()

    def stop(self) -> None:
        self.beat.stop()
        for worker in self.workers:
            worker.stop()
        for web in self.webs:
            web.stop()
        self.redis.stop()
        self.postgres.stop()

    def processes(self) -> Iterator[tuple[str, Process]]:
        """Every part that is to run, by name, in the order in which they start."""
        assert self.postgres.process is not None
        assert self.redis.process is not None
        yield "postgres", self.postgres.process
        yield "redis", self.redis.process
        for number, web in enumerate(self.webs):
            yield f"web{number}", web.web
        for number, worker in enumerate(self.workers):
            yield f"worker{number}", worker
        yield "beat", self.beat

    def _celery(self, name: str, number: int) -> Process:
        return self.product.process(
            name,
            "celery",
            *("-A", "chatbot", "worker", "--loglevel", "INFO"),
            *("--hostname", f"worker{number}@%h"),
            ready_when=READY,
        )


def bring_servers() -> bool:
    """See that PostgreSQL and Redis are here; else say what is missing."""
    wanted = (postgres.programs, redis.program)
    lacking = [(part, text) for part, text in missing() if part.find in wanted]
    if lacking and os.geteuid() == 0:
        install([part for part, _ in lacking])
        lacking = [(part, text) for part, text in missing() if part.find in wanted]
    for _, text in lacking:
        sys.stderr.write(f"{text}\n")
    return not lacking


def main() -> int:
    if not bring_servers():
        return 1
    folder = Path(os.environ.get("VAR_DIR", ROOT / "var")) / "stack"
    settings = {**os.environ, "CELERY_WORKER_CONCURRENCY": "2"}
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    port = int(os.environ.get("PORT", "8000"))
    if port_answers(port):
        sys.stderr.write(f"Port {port} is taken: make stack PORT={port + 1}\n")
        return 1
    # Here the data is somebody's: it has to survive the machine as well.
    stack = Stack(folder, settings, port=port, fsync="on")
    try:
        stack.start()
        sys.stdout.write(_hello(stack))
        sys.stdout.flush()
        while not stopping.wait(SECONDS_BETWEEN_LOOKS):
            for name, process in stack.processes():
                if not process.alive:
                    sys.stdout.write(f"{name} ended; starting it again\n")
                    sys.stdout.flush()
                    process.start()
    finally:
        sys.stdout.write("Stopping ...\n")
        stack.stop()
    return 0


def _hello(stack: Stack) -> str:
    lines = [f"  {name:<9} {process.log}" for name, process in stack.processes()]
    return (
        f"\n  Waybill   {stack.product.url}/   (log in as lin, mei, ada, sam, olga;"
        " password waybill-demo)\n"
        f"  Ready?    {stack.product.url}/readyz\n\n  Logs:\n"
        + "\n".join(lines)
        + "\n\n  Ctrl-C stops all of it; the data stays in "
        + f"{stack.postgres.folder.parent}.\n\n"
    )


if __name__ == "__main__":
    sys.exit(main())
