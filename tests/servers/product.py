"""Waybill itself as operators run it: its own processes, server and database."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2

from tests.servers.processes import Process, free_port

ROOT = Path(__file__).resolve().parent.parent.parent
# As the Makefile starts it.
UVICORN = [
    *("--loop", "uvloop", "--http", "httptools", "--ws", "websockets-sansio"),
    *("--ws-max-size", "65536", "--ws-per-message-deflate", "false"),
    *("--lifespan", "on", "--timeout-graceful-shutdown", "5", "--no-server-header"),
]
# What a product process gets of the environment it is started in, and no more.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH")


class Product:
    """One installation in ``folder``; ``env`` are its settings, as an operator's.

    ``prepare()`` makes the tables and the demo shop; ``start()`` runs the web process.
    """

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = {
            **{name: os.environ[name] for name in INHERITED if name in os.environ},
            "VAR_DIR": str(folder / "var"),
            "PORT": str(self.port),
            "DJANGO_SETTINGS_MODULE": "chatbot.settings",
            "PYTHONUNBUFFERED": "1",
            **(env or {}),
        }
        self.web = self._web()

    def listen_on(self, port: int) -> None:
        """Take this port instead of a free one; before the start."""
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.env["PORT"] = str(port)
        self.web = self._web()

    def _web(self) -> Process:
        return self.process(
            "web",
            "uvicorn",
            *("chatbot.asgi:application", "--host", "127.0.0.1"),
            *("--port", str(self.port), *UVICORN),
            ready=self._answers,
        )

    def prepare(self) -> None:
        self.manage("bootstrap")

    def start(self) -> None:
        self.web.start()

    def stop(self) -> None:
        self.web.stop()

    def kill(self) -> None:
        self.web.kill()

    def manage(
        self, *arguments: str, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run one ``manage.py`` command to its end; the result holds its output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if check and done.returncode:
            raise RuntimeError(f"manage.py {arguments[0]} failed:\n{done.stderr}")
        return done

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """One page, as through the proxy of a production: its host, over https."""
        if self.env.get("ENVIRONMENT") == "production":
            host = self.env["ALLOWED_HOSTS"].split(",")[0]
            headers = {"Host": host, "X-Forwarded-Proto": "https", **headers}
        return httpx2.get(self.url + path, headers=headers)

    def process(
        self,
        name: str,
        module: str,
        *arguments: str,
        ready: object = None,
        ready_when: str = "",
    ) -> Process:
        """Another process of this installation, such as a Celery worker.

        It is started when ``ready`` says so, or its log has a new ``ready_when``.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        process = Process(
            [sys.executable, "-m", module, *arguments],
            log=self.folder / f"{name}.log",
            ready=ready if callable(ready) else lambda: True,
            env=self.env,
            cwd=ROOT,
        )
        if ready_when:
            process.ready = lambda: ready_when in process.output_of_this_start
        return process

    def _answers(self) -> bool:
        try:
            return self.get("/admin/login/").status_code == 200
        except httpx2.TransportError:
            return False
