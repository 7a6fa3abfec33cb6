"""Real servers for tests: started on free loopback ports, stopped by their own id."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

START_SECONDS = 60
STOP_SECONDS = 20


class MissingPart(Exception):
    """A program that the suite needs is not here; the message says how to bring it."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find_program(name: str, folders: Sequence[str] = (), *, bring: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], *folders]))
    if not found:
        raise MissingPart(f"{name} is missing. Bring it with: {bring}")
    return found


class Process:
    """One server process. ``kill()`` is a crash; ``stop()`` asks first."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        ready: Callable[[], bool],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        user: str | None = None,
    ) -> None:
        self.command = list(command)
        self.log = log
        self.ready = ready
        self.env = None if env is None else dict(env)
        self.cwd = cwd
        self.user = user
        self._popen: subprocess.Popen[bytes] | None = None
        self._log_began = 0
        self._gone = False

    @property
    def pid(self) -> int:
        assert self._popen is not None, "the server was not started"
        return self._popen.pid

    @property
    def alive(self) -> bool:
        return self._popen is not None and self._popen.poll() is None

    @property
    def output(self) -> str:
        return self.log.read_text("utf-8", "replace") if self.log.exists() else ""

    @property
    def output_of_this_start(self) -> str:
        with self.log.open("rb") as log:
            log.seek(self._log_began)
            return log.read().decode("utf-8", "replace")

    def start(self) -> None:
        """Start, and return when ``ready`` says so; fail with the log otherwise."""
        with self.log.open("ab") as sink:
            self._log_began = sink.tell()
            self._gone = False
            # A group of its own, so that what it starts ends with it.
            self._popen = subprocess.Popen(
                self.command,
                stdout=sink,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self.env,
                cwd=self.cwd,
                user=self.user,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.ready():
            if not self.alive or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"{self.command[0]} did not start:\n{self.output}")
            time.sleep(0.05)

    def wait_for_end(self) -> int:
        """The exit code of a process that ends by itself."""
        assert self._popen is not None
        return self._popen.wait(STOP_SECONDS)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        # Once ended, the group's number may be somebody else's.
        if self._popen is None or self._gone:
            return
        self._gone = True
        try:
            os.killpg(self._popen.pid, number)
            self._popen.wait(STOP_SECONDS)
        except ProcessLookupError:
            self._popen.wait()
        except subprocess.TimeoutExpired:
            os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()


def port_answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
