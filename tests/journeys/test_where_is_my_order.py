"""The main job: one question in two parts, two look-ups, one proved answer."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import Visitor
from tests.journeys.shop import renumber_parcel
from tests.servers.product import Product

QUESTIONS = {
    "zh-CN": "订单 O-204 发货了吗？现在运到哪儿了？",
    "en-GB": "Has order O-204 shipped, and where is it now?",
}


@pytest.mark.parametrize("locale", QUESTIONS)
def test_the_two_step_question_is_answered_with_its_proof(
    locale: str, product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "lin", locale=locale)
    chat = visit.chat
    answer = chat.ask(QUESTIONS[locale])
    assert "N-88" in answer
    assert "O-204" in answer
    first, second = chat.steps()
    assert "O-204" in first
    assert "N-88" in second

    stop = chat.stops.last
    stop.locator("summary").click()
    expect(stop.get_by_text("track_shipment")).to_be_visible()

    chips = chat.run.locator("button.chip")
    expect(chips).to_have_count(2)
    chips.last.click()
    sheet = visit.page.get_by_role("dialog")
    expect(sheet).to_contain_text("N-88")
    visit.page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(chips.last).to_be_focused()


@pytest.mark.parametrize("locale", QUESTIONS)
def test_the_evidence_shows_the_time_of_the_look_as_it_was(
    locale: str, product: Product, visitor: Visitor
) -> None:
    visit = visitor(product, "lin", locale=locale)
    visit.chat.ask(QUESTIONS[locale])
    visit.chat.run.locator("button.chip").first.click()
    sheet = visit.page.get_by_role("dialog")
    looked_up = sheet.locator(".ticket dd").last.inner_text()
    name = {"zh-CN": "查询时间", "en-GB": "Seen at"}[locale]
    used = sheet.locator(".facts-used .fact").filter(has_text=name)
    expect(used.locator("dd")).to_have_text(looked_up)
    stacked = sheet.locator(".facts .facts .facts dd").first
    assert stacked.evaluate("cell => cell.clientWidth > 60")


def test_a_changed_tracking_number_changes_the_second_look_up(
    product: Product, visitor: Visitor
) -> None:
    renumber_parcel(product, "N-88", "N-91")
    try:
        chat = visitor(product, "lin").chat
        answer = chat.ask(QUESTIONS["en-GB"])
        assert "N-91" in answer
        assert "N-88" not in chat.everything()
        assert "N-91" in chat.steps()[-1]
    finally:
        renumber_parcel(product, "N-91", "N-88")


def test_an_order_without_a_tracking_number_is_told_as_it_is(
    product: Product, visitor: Visitor
) -> None:
    renumber_parcel(product, "N-88", "")
    try:
        visit = visitor(product, "lin")
        answer = visit.chat.ask(QUESTIONS["en-GB"])
        assert "O-204" in answer
        assert "N-88" not in visit.chat.everything()
        assert "tracking" in answer.lower()
    finally:
        with_number_again(product)


def with_number_again(product: Product) -> None:
    from tests.journeys.shop import tables

    with tables(product) as shop:
        shop.execute(
            "UPDATE store_parcel SET tracking_number = 'N-88', tracking_key = 'N88'"
            " WHERE tracking_number = '' AND order_id ="
            " (SELECT id FROM store_order WHERE number_key = 'O204')"
        )


def test_another_customers_order_is_as_good_as_none(
    product: Product, visitor: Visitor
) -> None:
    chat = visitor(product, "mei").chat
    about_lins = chat.ask(QUESTIONS["en-GB"])
    about_none = chat.ask("Has order O-999 shipped, and where is it now?")
    seen = chat.everything()
    for fact in ("N-88", "in transit", "In transit"):
        assert fact not in seen
    assert about_lins.replace("O-204", "") == about_none.replace("O-999", "")


def test_a_follow_up_needs_no_number(product: Product, visitor: Visitor) -> None:
    chat = visitor(product, "lin", locale="zh-CN").chat
    chat.ask("订单 O-204 发货了吗？")
    assert "N-88" in chat.ask("那它到哪儿了？")
