"""What a container host asks, and what it is told."""

from __future__ import annotations

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import OperationalError
from pytest_django import Settings

from chatbot import health
from chatbot.asgi import application
from chatbot.chat.launch import launcher


async def asked(path: str) -> tuple[int, str]:
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        # As from inside a container: no host that the site answers for, no https.
        "headers": [(b"host", b"10.0.0.9:8000")],
    }
    browser = ApplicationCommunicator(application, scope)
    await browser.send_input({"type": "http.request", "body": b""})
    start = await browser.receive_output(5)
    body = await browser.receive_output(5)
    return start["status"], body["body"].decode()


async def test_a_process_that_answers_is_alive() -> None:
    assert await asked("/healthz") == (200, '{"alive":true}')


async def test_a_process_with_its_database_is_ready(transactional_db: None) -> None:
    status, said = await asked("/readyz")
    assert status == 200
    assert '"ready":true,"database":"ok"' in said


async def test_redis_that_is_away_is_named_and_not_fatal(
    transactional_db: None, settings: Settings
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    status, said = await asked("/readyz")
    assert (status, '"redis":"away"' in said) == (200, True)


async def test_a_process_without_its_database_is_not_ready(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(health, "_ask_database", away)
    status, said = await asked("/readyz")
    assert (status, '"database":"away"' in said) == (503, True)


async def test_a_draining_process_is_not_ready(transactional_db: None) -> None:
    await launcher().drain()
    status, said = await asked("/readyz")
    assert (status, '"draining":true' in said) == (503, True)
