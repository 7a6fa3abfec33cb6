"""What people see and press on the product's pages, by the names that people use."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Locator,
    Page,
    Request,
    WebSocketRoute,
    expect,
)

PATIENCE = 15_000  # ms; a loaded machine is slow, and no test measures time
expect.set_options(timeout=PATIENCE)

# What Chromium logs when a server goes away or a page does; not the page's fault.
_HARMLESS = (
    "net::ERR_CONNECTION",
    "net::ERR_INTERNET",
    "WebSocket connection to",
    "favicon",
)


@dataclass
class Visit:
    """One browser profile on one product; ``complaints`` is all that went wrong."""

    context: BrowserContext
    url: str
    complaints: list[str] = field(default_factory=list)
    page: Page = field(init=False)

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE)
        self.context.on("request", self._requested)
        self.context.on("console", self._logged)
        self.context.on("weberror", lambda error: self._complain(f"{error.error}"))
        self.context.on("dialog", self._asked)
        self.page = self.context.new_page()

    def _complain(self, what: str) -> None:
        self.complaints.append(what)

    def _requested(self, request: Request) -> None:
        target, own = urlsplit(request.url), urlsplit(self.url)
        if target.scheme in {"http", "https", "ws", "wss"} and (
            target.netloc != own.netloc
        ):
            self._complain(f"a request to {request.url}")

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not any(
            harmless in message.text for harmless in _HARMLESS
        ):
            self._complain(f"{message.page and message.page.url}: {message.text}")

    def _asked(self, dialog: Dialog) -> None:
        self._complain(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)

    def try_as(self, name: str) -> None:
        self.open("/")
        self.page.locator(f'form[action="/try/{name}/"] button').click()
        self.page.wait_for_url(lambda url: urlsplit(url).path != "/")
        if urlsplit(self.page.url).path.startswith("/chat/"):
            self.begin()

    def begin(self) -> None:
        """Start a conversation of one's own, as the button in the list does."""
        form = self.page.locator('form[action="/chat/new/"]')
        with self.page.expect_navigation():
            form.evaluate("form => form.submit()")

    @property
    def chat(self) -> Chat:
        return Chat(self.page)


@dataclass
class Chat:
    """The conversation that a page shows."""

    page: Page

    @property
    def box(self) -> Locator:
        return self.page.locator("#text")

    @property
    def run(self) -> Locator:
        """The newest run."""
        return self.page.locator(".run").last

    @property
    def answers(self) -> Locator:
        return self.page.locator(".answer-text:visible")

    @property
    def said(self) -> Locator:
        return self.page.locator(".message-customer .message-text")

    @property
    def stops(self) -> Locator:
        """The steps of the newest run."""
        return self.run.locator(".stop")

    def ready(self) -> Chat:
        expect(self.page.locator('[data-connection="open"]')).to_be_visible()
        expect(self.page.locator('[data-log][aria-busy="false"]')).to_be_attached()
        return self

    def say(self, text: str) -> None:
        self.box.fill(text)
        self.box.press("Enter")

    def ask(self, text: str) -> str:
        """Say ``text`` and wait for the answer to it."""
        self.ready()
        before = self.answers.count()
        self.say(text)
        expect(self.answers).to_have_count(before + 1)
        expect(self.page.locator(".run-is-live")).to_have_count(0)
        return self.answers.last.inner_text()

    def steps(self) -> list[str]:
        """The newest run's steps as one reads them, call and outcome."""
        rows = self.stops.all()
        return [" ".join(row.inner_text().split()) for row in rows]

    def everything(self) -> str:
        return self.page.locator("main").inner_text()

    def conversation(self) -> str:
        return urlsplit(self.page.url).path.split("/")[2]


@dataclass
class Wire:
    """Every socket that a page opens, with hands on the wire.

    ``drop`` are frame types from the server that are lost once each, as if the network
    had swallowed them.
    """

    page: Page
    sockets: list[WebSocketRoute] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    received: list[dict[str, Any]] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    twice: bool = False

    def __post_init__(self) -> None:
        self.page.route_web_socket("**/ws/**", self._opened)

    def _opened(self, socket: WebSocketRoute) -> None:
        self.sockets.append(socket)
        server = socket.connect_to_server()

        def from_page(message: str | bytes) -> None:
            self.sent.append(json.loads(message))
            server.send(message)

        def from_server(message: str | bytes) -> None:
            frame = json.loads(message)
            self.received.append(frame)
            if frame["type"] in self.drop:
                self.drop.remove(frame["type"])
                return
            socket.send(message)
            if self.twice:
                socket.send(message)

        socket.on_message(from_page)
        server.on_message(from_server)

    def cut(self, code: int = 1001) -> None:
        """End the newest connection, as a restarting server or a lost network does."""
        self.sockets[-1].close(code=code)

    def frames(self, kind: str) -> list[dict[str, Any]]:
        return [frame for frame in self.sent if frame["type"] == kind]
