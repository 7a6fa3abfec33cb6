"""What axe-core finds on the pages: nothing that shuts people out."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.journeys.conftest import Visitor
from tests.journeys.pages import Visit
from tests.journeys.staff_pages import STAFF_PAGES, assert_fits, walk
from tests.servers.product import Product

# Two visits see each theme, language and width; 320 is 1280 at 400 %.
LOOKS = [
    pytest.param("en-GB", "dark", 1280, id="english-dark-wide"),
    pytest.param("zh-CN", "light", 320, id="chinese-light-narrow"),
]
looks = pytest.mark.parametrize(("locale", "scheme", "width"), LOOKS)

OPEN = ("/", "/accounts/login/", "/help/", "/help/cancel-order/", "/admin/login/")
CHECKS = {
    "resultTypes": ["violations"],
    # Axe leaves WCAG 2.2's size of what is pressed out unless asked.
    "rules": {"target-size": {"enabled": True}},
}
# Called moderate, but whoever hears a page finds their way in it by its headings.
ALSO = {"heading-order", "page-has-heading-one"}


def seen_in(locale: str, scheme: str, width: int) -> dict[str, Any]:
    return {
        "locale": locale,
        "color_scheme": scheme,
        "viewport": {"width": width, "height": 800},
        # The checker tries styles on pages whose own policy forbids them.
        "bypass_csp": True,
    }


def assert_open_to_all(page: Page, what: str) -> None:
    page.evaluate("document.fonts.ready")
    found = Axe().run(page, options=CHECKS).response
    grave = [
        f"{one['id']}: {node['target']}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"} or one["id"] in ALSO
        for node in one["nodes"]
    ]
    assert grave == [], what
    assert_fits(page, what)


@looks
def test_the_pages_of_visitors(
    product: Product, visitor: Visitor, locale: str, scheme: str, width: int
) -> None:
    visit = visitor(product, **seen_in(locale, scheme, width))
    for path in OPEN:
        visit.open(path)
        assert_open_to_all(visit.page, path)
    visit.open("/nothing/")
    assert_open_to_all(visit.page, "the page of what is not there")
    visit.complaints.clear()  # Chromium logs the 404 itself


@looks
def test_the_chat(
    product: Product, visitor: Visitor, locale: str, scheme: str, width: int
) -> None:
    visit = visitor(product, "lin", **seen_in(locale, scheme, width))
    chat = visit.chat.ready()
    assert_open_to_all(visit.page, "an empty conversation")
    chat.ask("Has order O-204 shipped, and where is it now?")
    chat.stops.first.locator("summary").click()
    assert_open_to_all(visit.page, "an answer with its steps")
    chip = chat.run.locator("button.chip").first
    chip.click()
    expect(visit.page.get_by_role("dialog")).to_be_visible()
    assert_open_to_all(visit.page, "the evidence")
    visit.page.keyboard.press("Escape")
    expect(chip).to_be_focused()
    chat.ask("Please cancel O-205")
    assert_open_to_all(visit.page, "a card")
    chat.ask("I want to talk to a person")
    assert_open_to_all(visit.page, "a hand-over")


@looks
@pytest.mark.parametrize("name", list(STAFF_PAGES))
def test_the_pages_of_staff(
    product: Product, visitor: Visitor, name: str, locale: str, scheme: str, width: int
) -> None:
    lin = visitor(product, "lin")
    lin.chat.ask("Please cancel O-205")
    lin.chat.ask("I want to talk to a person")
    staff = visitor(product, name, **seen_in(locale, scheme, width))
    for what in walk(staff, name):
        assert_open_to_all(staff.page, what)
    if name == "sam":
        take_over(staff, lin.chat.conversation())
        assert_open_to_all(staff.page, "a conversation taken over")


def take_over(staff: Visit, conversation: str) -> None:
    staff.open(f"/admin/chat/conversation/{conversation}/change/")
    staff.page.locator('button[value="take"]').click()
    expect(staff.page.locator('button[value="say"]')).to_be_visible()
