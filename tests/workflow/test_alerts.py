"""An alert is offered until its sink has taken it: known failure 40."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone
from pytest_django import Settings

from chatbot.workflow.alerts import deliver_alerts
from chatbot.workflow.models import Alert
from chatbot.workflow.outbox import raise_alert

pytestmark = pytest.mark.django_db(transaction=True)


class Sink:
    """A webhook that answers with ``status``; ``taken`` are the bodies it got."""

    def __init__(self) -> None:
        self.status = 200
        self.taken: list[dict[str, Any]] = []
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                sink.taken.append(json.loads(self.rfile.read(length)))
                self.send_response(sink.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """The suite reads what was taken."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"


@pytest.fixture
def sink(settings: Settings) -> Iterator[Sink]:
    made = Sink()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.05,))
    thread.start()
    settings.ALERT_WEBHOOK_URL = made.url
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def alert(key: str = "thing:1") -> None:
    raise_alert("thing", key=key, text="Look", ids={"thing": 1}, now=timezone.now())


def deliver() -> int:
    return asyncio.run(deliver_alerts())


def test_a_broken_sink_gets_the_alert_again_once_it_works(sink: Sink) -> None:
    sink.status = 500
    alert()
    assert [deliver(), deliver()] == [0, 0]
    assert Alert.objects.get().delivered_at is None
    sink.status = 200
    assert [deliver(), deliver()] == [1, 0]
    assert [one["text"] for one in sink.taken] == ["Look"] * 3


def test_a_sink_that_is_not_there_loses_nothing(settings: Settings) -> None:
    settings.ALERT_WEBHOOK_URL = "http://127.0.0.1:9/"
    alert()
    assert deliver() == 0
    assert Alert.objects.get().delivered_at is None


def test_the_same_thing_is_one_alert_and_each_sink_gets_it(
    sink: Sink, settings: Settings
) -> None:
    settings.ALERT_EMAIL = "staff@shop.example"
    alert()
    alert()
    assert deliver() == 1
    assert len(sink.taken) == len(mail.outbox) == 1
