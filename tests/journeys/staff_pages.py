"""Every page that staff have, opened one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Page, expect

from tests.journeys.pages import Visit

STAFF_PAGES = {
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
    "olga": ("workflow/changepolicy/", "tools/helparticle/", "tools/helparticle/add/"),
}


def walk(staff: Visit, name: str) -> Iterator[str]:
    """Open each page of ``name`` and a row of each list; yields what is open now."""
    for path in STAFF_PAGES[name]:
        staff.open(f"/admin/{path}")
        yield path
        rows = staff.page.locator('#result_list a[href*="/change/"]')
        if rows.count():
            rows.first.click()
            expect(staff.page.locator("#content h1").first).to_be_visible()
            yield f"a row of {path}"


def assert_fits(page: Page, what: str) -> None:
    beyond = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert beyond <= 0, f"{what} is wider than its window"
