"""What one person of a case has open: sockets that keep every byte, and pages."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from chatbot.chat import guests

ANSWER_SECONDS = 90
# A page comes back by itself after these; see docs/protocol.md.
_COME_BACK = frozenset({1001, 1006, 1012})
_CSRF = "c" * 32


@dataclass(slots=True)
class Socket:
    """One socket of a page; ``frames`` are the texts that it was sent."""

    frames: list[str] = field(default_factory=list)
    code: int | None = None
    last_seq: int = 0
    gaps: int = 0
    duplicates: int = 0
    _connection: ClientConnection | None = None
    _reader: threading.Thread | None = None

    @property
    def is_open(self) -> bool:
        return self._connection is not None and self.code is None

    def listen(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._reader = threading.Thread(
            target=self._read, args=(connection,), daemon=True
        )
        self._reader.start()

    def _read(self, connection: ClientConnection) -> None:
        try:
            for message in connection:
                text = message if isinstance(message, str) else message.decode("utf-8")
                self._note(text)
                self.frames.append(text)
        except ConnectionClosed:
            pass
        closed = connection.close_code
        self.code = 1006 if closed is None else closed

    def _note(self, text: str) -> None:
        frame = json.loads(text)
        seq = frame.get("seq")
        if seq is None or frame["type"] == "message.accepted":
            return
        if seq <= self.last_seq:
            self.duplicates += 1
            return
        self.gaps += seq > self.last_seq + 1
        self.last_seq = seq

    def send(self, data: str | bytes) -> None:
        if self._connection is not None:
            with contextlib.suppress(ConnectionClosed):
                self._connection.send(data)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._reader is not None:
            self._reader.join(5)

    def read(self, *types: str) -> Iterator[dict[str, Any]]:
        for text in tuple(self.frames):
            frame = json.loads(text)
            if frame["type"] in types:
                yield frame


@dataclass(frozen=True, slots=True)
class Response:
    """``page`` is its logical name, "" for a handshake that was refused."""

    page: str
    status: int
    body: str


def _session_of(user: User) -> str:
    """The key of a session in which somebody has logged in, or is a visitor."""
    client = Client()
    if hasattr(user, "guest"):
        session = client.session
        session[guests.SESSION_KEY] = user.pk
        session.save()
        return str(session.session_key)
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


class Visitor:
    """A signed-in person: their cookies, sockets and pages.

    Each has an address of their own, since some limits count by address.
    """

    def __init__(self, name: str, url: str, number: int) -> None:
        self.name = name
        self.url = url
        # Only Linux has the whole of 127.0.0.0/8.
        address = f"127.0.0.{number + 2}" if sys.platform == "linux" else ""
        self.address = (address, 0) if address else None
        self.sockets: list[Socket] = []
        self.responses: list[Response] = []
        self.session = _session_of(User.objects.get(username=name))
        self.conversation = ""
        # How many words on a message, by its client id, came before it was sent again.
        self.forgotten: dict[str, int] = {}

    # ---- sockets

    @property
    def is_connected(self) -> bool:
        return bool(self.sockets) and self.sockets[-1].is_open

    @property
    def was_sent_away(self) -> bool:
        """Whether the server closed the page's socket for good."""
        return (
            bool(self.sockets)
            and not self.sockets[-1].is_open
            and self.sockets[-1].code not in _COME_BACK
        )

    def forget(self, client_id: str) -> None:
        told = self.frames("message.accepted", "error")
        own = [one for one in told if one.get("client_id") == client_id]
        self.forgotten[client_id] = len(own)

    @property
    def socket(self) -> Socket:
        """The page's own socket; opened, or opened again, when it is needed."""
        if not self.sockets:
            self._open()
        newest = self.sockets[-1]
        if not newest.is_open and newest.code in _COME_BACK:
            # A page that comes back asks for what it has not seen.
            self._open(last=newest.last_seq)
        return self.sockets[-1]

    def _open(self, *, last: int = 0) -> None:
        deadline = time.monotonic() + ANSWER_SECONDS
        while not self.connect(last=last) and time.monotonic() < deadline:
            time.sleep(0.2)

    def connect(
        self, *, origin: str | None = "own", cookie: bool = True, last: int = 0
    ) -> bool:
        """Try one handshake; whether it was answered. A refusal is kept."""
        address = f"/ws/chat/{self.conversation}/?last={last}"
        headers = {"Cookie": self._cookie()} if cookie else {}
        socket = Socket(last_seq=last)
        try:
            opened = connect(
                self.url.replace("http", "ws", 1) + address,
                origin=self.url if origin == "own" else origin,  # type: ignore[arg-type]
                additional_headers=headers,
                compression=None,
                proxy=None,
                max_size=2**24,
                open_timeout=20,
                source_address=self.address,
            )
        except InvalidStatus as refused:
            status = refused.response.status_code
            self.responses.append(Response("", status, ""))
            return False
        except (OSError, InvalidHandshake, TimeoutError):
            return False
        self.sockets.append(socket)
        socket.listen(opened)
        return True

    def _cookie(self) -> str:
        return f"{settings.SESSION_COOKIE_NAME}={self.session}"

    def frames(self, *types: str) -> list[dict[str, Any]]:
        return [frame for socket in self.sockets for frame in socket.read(*types)]

    # ---- pages

    def fetch(self, page: str, method: str, path: str, body: Any) -> Response:
        """One request for a page, kept under its logical name."""
        sent: Mapping[str, Any] = {}
        if body is not None:
            sent = {"data": body} if isinstance(body, dict) else {"content": str(body)}
        reply = httpx2.request(
            method,
            self.url + path,
            headers={
                "Cookie": f"{self._cookie()}; {settings.CSRF_COOKIE_NAME}={_CSRF}",
                "X-CSRFToken": _CSRF,
                "Accept-Language": "zh",
            },
            timeout=30,
            **sent,
        )
        response = Response(page, reply.status_code, reply.text)
        self.responses.append(response)
        return response

    def leave(self) -> None:
        for socket in self.sockets:
            socket.close()
