"""Staff pages on a phone: nothing runs out of the window."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import Visitor
from tests.servers.product import Product

PAGES = {
    "sam": (
        "",
        "chat/run/",
        "chat/conversation/",
        "chat/handover/",
        "chat/feedback/",
        "workflow/changerequest/?state=all",
        "workflow/delivery/",
        "workflow/alert/",
        "workflow/auditentry/",
        "workflow/switch/",
        "workflow/switch/model/change/",
    ),
    "olga": ("workflow/changepolicy/", "tools/helparticle/"),
}


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("name", list(PAGES))
def test_no_staff_page_is_wider_than_a_phone(
    product: Product, visitor: Visitor, name: str, locale: str
) -> None:
    lin = visitor(product, "lin", locale=locale)
    lin.chat.ask("Please cancel O-205")
    lin.chat.ask("I want to talk to a person")
    staff = visitor(
        product, name, locale=locale, viewport={"width": 360, "height": 740}
    )
    for path in PAGES[name]:
        staff.open(f"/admin/{path}")
        assert_fits(staff.page, path)
        rows = staff.page.locator('#result_list a[href*="/change/"]')
        if rows.count():
            rows.first.click()
            expect(staff.page.locator("#content h1").first).to_be_visible()
            assert_fits(staff.page, f"a row of {path}")


def assert_fits(page: Page, what: str) -> None:
    width = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert width <= 0, what
