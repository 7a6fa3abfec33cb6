"""A Redis of the tests' own."""

from __future__ import annotations

from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from tests.servers.processes import Process, find_program, free_port

BRING = "apt-get install -y redis-server (or your system's Redis package)"


def program() -> str:
    return find_program("redis-server", bring=BRING)


class RedisServer:
    """Started by ``start()``; ``url`` is then a ``REDIS_URL``. It writes no file."""

    def __init__(self, folder: Path, *, maxmemory_policy: str = "noeviction") -> None:
        self.folder = folder
        self.port = free_port()
        self.maxmemory_policy = maxmemory_policy
        self.process: Process | None = None

    @property
    def url(self) -> str:
        return f"redis://:waybill@127.0.0.1:{self.port}/0"

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process = Process(
            [
                program(),
                *("--port", str(self.port), "--bind", "127.0.0.1"),
                *("--requirepass", "waybill", "--save", "", "--appendonly", "no"),
                *("--maxmemory-policy", self.maxmemory_policy),
                *("--dir", str(self.folder)),
            ],
            log=self.folder / "log",
            ready=self._answers,
        )
        self.process.start()

    def stop(self) -> None:
        if self.process:
            self.process.stop()

    def kill(self) -> None:
        if self.process:
            self.process.kill()

    def client(self) -> Redis:
        return Redis.from_url(self.url, socket_timeout=5)

    def _answers(self) -> bool:
        try:
            with self.client() as client:
                return bool(client.ping())
        except RedisError:
            return False
