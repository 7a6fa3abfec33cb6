"""Staff read a run after the fact, each role what it may."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.journeys.conftest import Visitor
from tests.servers.product import Product

QUESTION = "Has order O-204 shipped, and where is it now?"


def test_each_role_reads_what_it_may(product: Product, visitor: Visitor) -> None:
    lin = visitor(product, "lin")
    answer = lin.chat.ask(QUESTION)
    conversation = lin.chat.conversation()
    mei = visitor(product, "mei")
    mei.chat.ask("I want to talk to a person")
    handed_over = mei.chat.conversation()

    sam = visitor(product, "sam")
    sam.open(f"/admin/chat/run/?q={conversation}")
    sam.page.locator("#result_list tbody th a").first.click()
    timeline = sam.page.locator(".timeline")
    expect(sam.page.locator(".audit-question")).to_have_text(QUESTION)
    for part in ("get_order", "track_shipment", "N-88"):
        expect(timeline).to_contain_text(part)
    expect(timeline.locator(".event-stopped")).to_contain_text("answered")
    expect(timeline.locator(".event-stopped")).to_contain_text(answer.splitlines()[0])
    expect(sam.page.locator(".audit-card").first).to_contain_text("filled")

    ada = visitor(product, "ada")
    ada.open(f"/admin/chat/run/?q={conversation}")
    expect(ada.page.locator("#result_list")).to_have_count(0)
    ada.open("/admin/chat/handover/")
    expect(ada.page.locator("#result_list tbody tr").first).to_contain_text("Open")
    ada.open(f"/admin/chat/conversation/{handed_over}/change/")
    expect(ada.page.locator(".said")).to_contain_text("I want to talk to a person")

    olga = visitor(product, "olga")
    olga.open(f"/admin/chat/run/?q={conversation}")
    olga.page.locator("#result_list tbody th a").first.click()
    expect(olga.page.locator(".timeline")).to_contain_text("track_shipment")
    assert QUESTION not in olga.page.content()
    assert answer.splitlines()[0] not in olga.page.content()


def test_a_customer_finds_no_staff_pages(product: Product, visitor: Visitor) -> None:
    lin = visitor(product, "lin")
    answer = lin.page.goto(f"{product.url}/admin/chat/run/")
    assert answer is not None
    assert answer.status == 404
    lin.complaints.clear()  # Chromium logs the 404 itself
