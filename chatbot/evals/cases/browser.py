"""A real browser for what only a browser can tell: what ran, and what was asked for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chatbot.evals.cases.format import NotSupported

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Request

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update"),
    # Whatever a page asks for, only this machine answers.
    *("--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
]
# Scripts that are not files of this site, handlers in attributes, script addresses.
_COUNT_SCRIPTS = """() => {
  const own = (script) => script.src && new URL(script.src).origin === location.origin;
  const data = (script) => script.type && !/javascript|module|^$/.test(script.type);
  const scripts = [...document.scripts].filter((one) => !own(one) && !data(one));
  const all = [...document.querySelectorAll("*")];
  const handlers = all.flatMap((one) =>
    [...one.attributes].filter((attribute) => /^on/i.test(attribute.name)));
  const links = all.filter((one) =>
    ["href", "src", "action", "formaction"].some((name) =>
      /^\\s*javascript:/i.test(one.getAttribute?.(name) ?? "")));
  return scripts.length + handlers.length + links.length;
}"""


@dataclass(slots=True)
class Sight:
    """One page as the browser had it; ``scripts`` and ``foreign`` are counts."""

    html: str = ""
    scripts: int = 0
    foreign: list[str] = field(default_factory=list)


class Eyes:
    """A Chromium in a thread of its own, started when it is first needed.

    In this thread its event loop would stand between us and the database.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="browser")
        self._open = ExitStack()
        self._browser: Browser | None = None

    def look(self, url: str, cookie: dict[str, Any], *, live: bool) -> Sight:
        """Open one page as the owner of the cookie; a ``live`` one until its log is in.

        ``NotSupported`` where the package or the program is not there.
        """
        return self._thread.submit(self._look, url, cookie, live).result()

    def close(self) -> None:
        self._thread.submit(self._open.close).result()
        self._thread.shutdown()

    def _look(self, url: str, cookie: dict[str, Any], live: bool) -> Sight:
        if self._browser is None:
            self._browser = self._open.enter_context(_browser())
        return _look(self._browser, url, cookie, live=live)


@contextmanager
def _browser() -> Iterator[Browser]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise NotSupported("the playwright package, for a browser") from None
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, _NAMES)), "")
        path = found or playwright.chromium.executable_path
        if not Path(path).exists():
            raise NotSupported("a Chromium")
        opened = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        try:
            yield opened
        finally:
            opened.close()


def _look(opened: Browser, url: str, cookie: dict[str, Any], *, live: bool) -> Sight:
    seen = Sight()
    own = urlsplit(url).netloc
    context = opened.new_context(locale="zh-CN")
    context.add_cookies([cookie])  # type: ignore[list-item]

    def requested(request: Request) -> None:
        target = urlsplit(request.url)
        if target.scheme in {"http", "https", "ws", "wss"} and target.netloc != own:
            seen.foreign.append(request.url)

    def asked(dialog: Dialog) -> None:
        seen.scripts += 1
        dialog.dismiss()

    context.on("request", requested)
    page = context.new_page()
    page.on("dialog", asked)
    try:
        page.goto(url)
        if live:
            page.wait_for_selector('[data-log][aria-busy="false"]', state="attached")
        # What a page does by itself a moment after it is there.
        page.wait_for_timeout(500)
        seen.html = page.content()
        seen.scripts += page.evaluate(_COUNT_SCRIPTS)
    finally:
        context.close()
    return seen
