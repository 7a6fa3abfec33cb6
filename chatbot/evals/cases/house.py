"""The product as operators run it, for one case: its own processes and database."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx2
from django.conf import settings
from django.db import connection, connections

from chatbot.assistant.wiring import instructions
from chatbot.evals.cases.faults import Fault
from chatbot.evals.cases.format import NotSupported
from chatbot.evals.cases.world import MODEL_KEY, SYSTEM_PROMPT_CANARY
from chatbot.evals.scratch import end_other_connections

START_SECONDS = 90
STOP_SECONDS = 10
# As the Makefile starts it.
_UVICORN = (
    *("--loop", "uvloop", "--http", "httptools", "--ws", "websockets-sansio"),
    *("--ws-max-size", "65536", "--ws-per-message-deflate", "false"),
    *("--lifespan", "on", "--timeout-graceful-shutdown", "5", "--no-server-header"),
)
# What a process gets of this one's environment, and no more.
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "SYSTEMROOT")


# ---- a database of its own


@contextmanager
def case_database(number: int) -> Iterator[str]:
    """A copy of the migrated scratch database, in use while inside; gives its URL."""
    creation, suffix = connection.creation, f"case{number}"
    _let_go()
    creation.clone_test_db(suffix, verbosity=0, autoclobber=True)
    own = creation.get_test_db_clone_settings(suffix)["NAME"]
    before = connection.settings_dict["NAME"]
    # Threads that connect from now on share these settings.
    connection.settings_dict["NAME"] = own
    try:
        yield _address(own)
    finally:
        _let_go()
        connection.settings_dict["NAME"] = before
        creation.destroy_test_db(suffix=suffix, verbosity=0, old_database_name=before)


def _let_go() -> None:
    """Close every connection: a database that is copied or dropped may have none."""
    end_other_connections()
    if connection.vendor == "sqlite":
        # The copy is of the file alone: what was committed has to stand in it.
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connections.close_all()


def _address(name: str) -> str:
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    parts = urlsplit(settings.DATABASE_URL)
    return urlunsplit(parts._replace(path=f"/{name}"))


# ---- its processes


class Process:
    """One process of the product; its log is kept over its restarts."""

    def __init__(self, name: str, command: list[str], house: House) -> None:
        self.name = name
        self.command = command
        self.log = house.folder / f"{name}.log"
        self._env = house.env
        self._popen: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        if self._popen is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._popen.pid

    @property
    def alive(self) -> bool:
        return self._popen is not None and self._popen.poll() is None

    @property
    def output(self) -> str:
        return self.log.read_text("utf-8", "replace") if self.log.exists() else ""

    def start(self) -> None:
        with self.log.open("ab") as sink:
            self._popen = subprocess.Popen(  # noqa: S603 - our own command
                self.command,
                stdout=sink,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self._env,
                cwd=settings.BASE_DIR,
                # A group of its own, so that what it starts ends with it.
                start_new_session=True,
            )

    def end(self, number: signal.Signals) -> None:
        if self._popen is None:
            return
        for one in (number, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._popen.pid, one)
            try:
                self._popen.wait(STOP_SECONDS)
                return
            except subprocess.TimeoutExpired:
                continue


class House:
    """A web process, and a worker where runs are to be carried by one.

    Without Redis there is no Celery worker: the web process carries the runs, and is
    what a case kills when it kills the worker.
    """

    def __init__(
        self,
        folder: Path,
        *,
        database_url: str,
        model_url: str,
        fault: Fault | None,
        with_worker: bool,
    ) -> None:
        self.folder = folder
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = _environment(folder, self.port, database_url, model_url, fault)
        python = sys.executable
        web = [python, "-m", "uvicorn", "chatbot.asgi:application"]
        address = ["--host", "127.0.0.1", "--port", str(self.port)]
        self.web = Process("web", [*web, *address, *_UVICORN], self)
        self.worker: Process | None = None
        if with_worker and settings.REDIS_URL:
            self.env["RUN_IN"] = "worker"
            celery = [python, "-m", "celery", "-A", "chatbot", "worker"]
            options = ["--concurrency", "1", "--loglevel", "INFO"]
            self.worker = Process("worker", [*celery, *options], self)

    @property
    def processes(self) -> list[Process]:
        return [self.web] if self.worker is None else [self.web, self.worker]

    def start(self) -> None:
        for process in self.processes:
            process.start()

    def wait_until_up(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline or not self.web.alive:
                raise RuntimeError(f"the product did not start:\n{self.web.output}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            reply = httpx2.get(f"{self.url}/accounts/login/", timeout=5)
        except httpx2.HTTPError:
            return False
        return reply.status_code == 200

    def kill(self, name: str) -> None:
        """SIGKILL, and a new process in its place, as a supervisor does."""
        match name:
            case "worker" | "runner":
                victim = self.worker or self.web
            case "web" | "server":
                victim = self.web
            case _:
                raise NotSupported(f"a process named {name!r}")
        victim.end(signal.SIGKILL)
        victim.start()
        if victim is self.web:
            self.wait_until_up()

    def stop(self) -> None:
        for process in self.processes:
            process.end(signal.SIGTERM)

    @property
    def logs(self) -> str:
        return "\n".join(process.output for process in self.processes)

    def memory_mb(self) -> float:
        """Resident memory of the web process; NotSupported where there is no /proc."""
        try:
            pages = Path(f"/proc/{self.web.pid}/statm").read_text("ascii").split()[1]
        except (OSError, IndexError):
            raise NotSupported("the memory of a process on this system") from None
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _environment(
    folder: Path, port: int, database_url: str, model_url: str, fault: Fault | None
) -> dict[str, str]:
    own = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {
        **own,
        "DJANGO_SETTINGS_MODULE": "chatbot.evals.cases.settings",
        "PYTHONUNBUFFERED": "1",
        "VAR_DIR": str(folder / "var"),
        "PORT": str(port),
        "DATABASE_URL": database_url,
        "REDIS_URL": settings.REDIS_URL,
        # The log-ins of the people of a case are signed here and read there.
        "SECRET_KEY": settings.SECRET_KEY,
        "AUDIT_KEY": settings.AUDIT_KEY,
        "OPENAI_API_KEY": MODEL_KEY,
        "OPENAI_BASE_URL": model_url,
        "LLM_MODEL": "scripted",
        "LLM_INSTRUCTIONS_FILE": str(_instructions_with_canary(folder)),
        "CASES_FAULT": json.dumps(asdict(fault)) if fault else "",
        "CASES_FOLDER": str(folder),
        "CASES_QUEUE": f"cases-{os.getpid()}",
        # All the people of all cases come from this machine's one address.
        "CHAT_NEW_SOCKETS_PER_MINUTE": "1000",
    }


def _instructions_with_canary(folder: Path) -> Path:
    def part(language: str, text: str) -> str:
        return f"# {language}\n\n{text}\n\n{SYSTEM_PROMPT_CANARY}\n\n"

    file = folder / "instructions.md"
    own: Mapping[str, str] = {str(name): text for name, text in instructions().items()}
    file.write_text(part("en", own["en"]) + part("zh", own["zh"]), "utf-8")
    return file


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
