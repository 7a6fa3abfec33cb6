"""A real Chromium before a real server: pages that report what goes wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.journeys.pages import Visit
from tests.servers.browser import FLAGS, chromium
from tests.servers.processes import MissingPart
from tests.servers.product import Product

Visitor = Callable[..., Visit]


# Playwright keeps an event loop running in this thread: it must be gone before another
# package's asynchronous tests start.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    try:
        path = chromium()
    except MissingPart as missing:
        pytest.fail(str(missing), pytrace=False)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()


# One person plays every customer here, within a minute.
UNHURRIED = {
    "CHAT_MESSAGES_PER_MINUTE": "1000",
    "CHAT_MESSAGES_BURST": "1000",
    "CHAT_MAX_SOCKETS": "100",
    "CHAT_NEW_SOCKETS_PER_MINUTE": "10000",
    "CHAT_LOOKUP_FAILURES": "1000",
    "GUEST_NEW_PER_HOUR": "1000",
    "GUEST_ADDRESS_MESSAGES_PER_MINUTE": "1000",
}


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The demo as `make run` gives it, but for the limits on one customer's pace."""
    installed = Product(tmp_path_factory.mktemp("journeys"), UNHURRIED)
    installed.prepare()
    installed.start()
    yield installed
    installed.stop()


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    """Opens a fresh browser profile on a product; no page may complain to the end.

    ``visitor(product, "lin")`` signs in by the landing page's button; without a name
    one stays outside. Further names go to Playwright's ``new_context``.
    """
    visits: list[Visit] = []

    def visit(product: Product, name: str = "", **context: object) -> Visit:
        options = {"locale": "en-GB", "reduced_motion": "reduce", **context}
        opened = Visit(browser.new_context(**options), product.url)  # type: ignore[arg-type]
        visits.append(opened)
        if name:
            opened.try_as(name)
        return opened

    yield visit
    complaints = [complaint for one in visits for complaint in one.complaints]
    for one in visits:
        one.context.close()
    assert not complaints
