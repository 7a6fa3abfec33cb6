"""A PostgreSQL of the tests' own, in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path

import psycopg

from tests.servers.processes import MissingPart, Process, find_program, free_port

BRING = "apt-get install -y postgresql (or your system's PostgreSQL server package)"


class PostgresServer:
    """Started by ``start()``; ``url`` is then a ``DATABASE_URL``.

    ``settings`` are extra server settings, such as ``max_connections``.
    """

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.settings = {"max_connections": "100", **settings}
        self.process: Process | None = None

    @property
    def url(self) -> str:
        return f"postgres://waybill:waybill@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        data = self.folder / "data"
        if not data.exists():
            self._make(data)
        command = [_program("postgres"), "-D", str(data), "-p", str(self.port)]
        defaults = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            # A killed process loses nothing by this; only a killed machine would.
            "fsync": "off",
        }
        for name, value in {**defaults, **self.settings}.items():
            command += ["-c", f"{name}={value}"]
        self.process = Process(
            command, log=self.folder / "log", ready=self._answers, user=_user()
        )
        for tries_left in reversed(range(5)):
            try:
                return self.process.start()
            except RuntimeError:
                # After a crash its memory is held until the last backend has noticed.
                if not tries_left or "still in use" not in self.process.output:
                    raise
                time.sleep(0.5)

    def stop(self) -> None:
        if self.process:
            self.process.stop()

    def kill(self) -> None:
        if self.process:
            self.process.kill()

    def _make(self, data: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        user = _user()
        if user:
            # PostgreSQL does not run as root: the folder goes to a lesser user, and so
            # must the way to it.
            shutil.chown(self.folder, user)
        password = self.folder / "password"
        password.write_text("waybill")
        password.chmod(0o644)
        subprocess.run(
            [
                _program("initdb"),
                *("-D", str(data), "-U", "waybill", "--pwfile", str(password)),
                *("-A", "scram-sha-256", "-E", "UTF8", "--locale", "C", "--no-sync"),
            ],
            check=True,
            capture_output=True,
            user=user,
            cwd=self.folder,
        )

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url, connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False


def programs() -> tuple[str, str]:
    return _program("initdb"), _program("postgres")


def _program(name: str) -> str:
    folders = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    return find_program(name, folders, bring=BRING)


def _user() -> str | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise MissingPart("no user to run PostgreSQL as. Bring one with: " + BRING)
