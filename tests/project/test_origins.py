from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from django.conf import settings

from chatbot.asgi import sockets
from chatbot.origins import SameOrigin

# A refusal lets old connections go, also those that earlier tests have opened.
pytestmark = pytest.mark.django_db

HOST = "127.0.0.1:8123"


async def lets_in(origin: str | None, *, host: str = HOST, scheme: str = "ws") -> bool:
    """Whether a page of ``origin`` reaches the application behind the check."""
    reached = False

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal reached
        reached = True

    came = iter(["websocket.connect", "websocket.disconnect"])

    async def receive() -> dict[str, Any]:
        return {"type": next(came), "code": 1000}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", host.encode())]
    if origin is not None:
        headers.append((b"origin", origin.encode()))
    scope = {"type": "websocket", "scheme": scheme, "path": "/", "headers": headers}
    await SameOrigin(app)(scope, receive, send)
    assert reached or sent[0]["type"] == "websocket.close"
    return reached


async def test_in_demo_a_page_of_this_very_host_is_let_in() -> None:
    assert await lets_in("http://127.0.0.1:8123")
    assert await lets_in("http://localhost:8123", host="localhost:8123")
    assert await lets_in("http://[::1]:8123", host="[::1]:8123")


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "",
        "null",
        "http://127.0.0.1",
        "http://127.0.0.1:8124",
        "https://127.0.0.1:8123",
        "http://localhost:8123",
        "http://evil.example:8123",
        "http://127.0.0.1.evil.example:8123",
        "http://127.0.0.1:8123@evil.example",
        "http://127.0.0.1:99999",
        "127.0.0.1:8123",
        "file://",
    ],
)
async def test_any_other_page_is_refused(origin: str | None) -> None:
    assert not await lets_in(origin)


async def test_a_host_that_this_site_does_not_answer_for_makes_no_origin() -> None:
    assert not await lets_in("http://evil.example", host="evil.example")


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("https://help.shop.example", True),
        ("https://help.shop.example:443", True),
        ("https://help.shop.example:8443", False),
        ("http://help.shop.example", False),
        ("https://shop.example", False),
        ("https://a.help.shop.example", False),
        ("http://127.0.0.1:8123", False),
        (None, False),
    ],
)
async def test_in_production_only_the_listed_origins_are_let_in(
    origin: str | None, expected: bool
) -> None:
    listed = ["https://help.shop.example"]
    with (
        patch.object(settings, "PRODUCTION", True),
        patch.object(settings, "ALLOWED_ORIGINS", listed),
    ):
        assert await lets_in(origin, scheme="wss") is expected


@pytest.mark.parametrize("path", ["/", "/ws/chat/x/", "/ws/chat/../admin/", "/ws/%00"])
async def test_an_address_of_no_socket_is_refused_and_no_error(path: str) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await sockets({"type": "websocket", "path": path}, receive, send)
    assert [one["type"] for one in sent] == ["websocket.close"]
