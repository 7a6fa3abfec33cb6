"""What people change: proposed, confirmed on a card, approved, done once, told."""

from __future__ import annotations

import pytest
from playwright.sync_api import FloatRect, Locator, expect

from tests.journeys.conftest import Visitor
from tests.journeys.pages import Visit
from tests.journeys.shop import tables
from tests.servers.product import Product

CANCEL = "Please cancel order O-205"


@pytest.fixture(autouse=True)
def untouched(product: Product) -> None:
    """Lin's orders as the demo has them, and nothing asked for."""
    with tables(product) as shop:
        for table in (
            "tools_approval",
            "tools_actionrequest",
            "store_storeeffect",
            "workflow_delivery",
            "workflow_event",
        ):
            shop.execute(f"DELETE FROM {table}")
        for number, status in (("O204", "shipped"), ("O205", "paid")):
            [key] = shop.execute(
                "SELECT id FROM store_order WHERE number_key = ?", (number,)
            ).fetchone()
            shop.execute("DELETE FROM store_refund WHERE order_id = ?", (key,))
            shop.execute(
                "DELETE FROM store_payment WHERE order_id = ? AND direction = 'refund'",
                (key,),
            )
            shop.execute(
                "UPDATE store_order SET status = ?, cancelled_at = NULL WHERE id = ?",
                (status, key),
            )


def effects(product: Product) -> list[str]:
    with tables(product) as shop:
        return [kind for (kind,) in shop.execute("SELECT kind FROM store_storeeffect")]


def card_of(visit: Visit) -> Locator:
    return visit.page.locator(".card:visible").last


def propose(visit: Visit, text: str) -> Locator:
    visit.chat.ask(text)
    card = card_of(visit)
    expect(card).to_be_visible()
    return card


def test_an_order_is_cancelled_on_a_card_and_only_there(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "lin")
    card = propose(visit, CANCEL)
    expect(card).to_contain_text("Goes back to you")
    visit.chat.ask("yes")
    visit.chat.ask("Yes, do it, I confirm")
    assert effects(product) == []
    card = visit.page.locator(".card:visible").first
    card.locator("select").select_option("no longer needed")
    card.get_by_role("button", name="Confirm").click()
    expect(visit.page.get_by_text("Order O-205 has been cancelled.")).to_be_visible()
    expect(card).to_contain_text("Done.")
    assert effects(product) == ["cancel_order"]
    visit.page.reload()
    expect(visit.page.get_by_text("Order O-205 has been cancelled.")).to_be_visible()
    answer = visit.chat.ask("Has O-205 been cancelled?")
    assert "cancelled" in answer


def test_not_now_changes_nothing(product: Product, visitor: Visitor) -> None:
    visit = visitor(product, "lin")
    card = propose(visit, CANCEL)
    card.get_by_role("button", name="Not now").click()
    expect(card).to_contain_text("Nothing was changed")
    expect(card.get_by_role("button")).to_have_count(0)
    assert effects(product) == []


def test_a_card_that_is_not_filled_in_does_nothing(
    product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "lin")
    card = propose(visit, CANCEL)
    card.get_by_role("button", name="Confirm").click()
    expect(card.locator("select:invalid")).to_be_focused()
    assert effects(product) == []


def test_a_double_click_is_one_change(product: Product, visitor: Visitor) -> None:
    visit = visitor(product, "lin")
    card = propose(visit, CANCEL)
    card.locator("select").select_option("ordered by mistake")
    card.get_by_role("button", name="Confirm").dblclick()
    expect(visit.page.get_by_text("Order O-205 has been cancelled.")).to_be_visible()
    assert effects(product) == ["cancel_order"]


def test_an_address_is_written_on_the_card(product: Product, visitor: Visitor) -> None:
    visit = visitor(product, "lin")
    card = propose(visit, "Please change the delivery address of order O-205")
    for name, value in {
        "address1": "8 Harbour Street",
        "city": "Xiamen",
        "zip": "361000",
        "country": "China",
    }.items():
        card.locator(f'[name="{name}"]').fill(value)
    card.get_by_role("button", name="Confirm").click()
    expect(card).to_contain_text("Done.")
    assert effects(product) == ["change_address"]


def test_a_refund_waits_for_a_supervisor_and_is_then_made_once(
    product: Product, visitor: Visitor
) -> None:
    lin = visitor(product, "lin")
    card = propose(lin, "I want a refund for order O-204")
    card.get_by_role("button", name="Confirm").click()
    expect(card).to_contain_text("Waiting for approval")
    assert effects(product) == []

    sam = visitor(product, "sam")
    sam.open("/admin/workflow/changerequest/")
    sam.page.locator("#result_list tbody th a").first.click()
    expect(sam.page.locator(".desk-arguments")).to_contain_text("O-204")
    sam.page.get_by_label("Reason").fill("the parcel is lost")
    sam.page.get_by_role("button", name="Approve").click()
    expect(sam.page.get_by_text("Noted.")).to_be_visible()

    expect(
        lin.page.get_by_text("The refund for order O-204 has been booked.")
    ).to_be_visible()
    expect(card).to_contain_text("Done.")
    assert effects(product) == ["request_refund"]
    assert "lost" not in lin.chat.everything()


def test_what_is_declined_is_said_and_not_done(
    product: Product, visitor: Visitor
) -> None:
    lin = visitor(product, "lin")
    card = propose(lin, "I want a refund for order O-204")
    card.get_by_role("button", name="Confirm").click()
    expect(card).to_contain_text("Waiting for approval")
    sam = visitor(product, "sam")
    sam.open("/admin/workflow/changerequest/")
    sam.page.locator("#result_list tbody th a").first.click()
    sam.page.get_by_label("Reason").fill("delivered yesterday")
    sam.page.get_by_role("button", name="Decline").click()
    expect(card).to_contain_text("Not approved")
    assert effects(product) == []


def test_a_card_fits_on_a_phone(product: Product, visitor: Visitor) -> None:
    phone = {"width": 360, "height": 740}
    visit = visitor(product, "lin", viewport=phone, has_touch=True)
    propose(visit, "Please change the delivery address of order O-205")
    width = visit.page.evaluate("document.documentElement.scrollWidth")
    assert width <= phone["width"]


@pytest.mark.parametrize("width", [360, 1280])
def test_a_card_is_short_and_its_buttons_are_no_small_targets(
    product: Product, visitor: Visitor, width: int
) -> None:
    visit = visitor(product, "lin", viewport={"width": width, "height": 740})
    card = propose(visit, "Please change the delivery address of order O-205")

    def box(name: str) -> FloatRect:
        found = card.locator(f'[name="{name}"]').bounding_box()
        assert found
        return found

    for left, right in (("recipient", "phone"), ("city", "state"), ("zip", "country")):
        assert box(left)["y"] == box(right)["y"]
        assert box(left)["x"] + box(left)["width"] < box(right)["x"]
    for name in ("Confirm", "Not now"):
        button = card.get_by_role("button", name=name).bounding_box()
        assert button
        assert button["height"] >= 44
