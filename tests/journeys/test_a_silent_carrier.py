"""A carrier that does not reply: what is unknown is said to be unknown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import UNHURRIED, Visitor
from tests.servers.product import Product


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    product = Product(
        tmp_path_factory.mktemp("silent"),
        {
            **UNHURRIED,
            "DJANGO_SETTINGS_MODULE": "tests.journeys.silent_carrier_settings",
            "TOOL_TIMEOUT_SECONDS": "0.5",
        },
    )
    product.prepare()
    product.start()
    yield product
    product.stop()


def test_no_reply_in_time_is_never_told_as_not_shipped(
    silent: Product, visitor: Visitor
) -> None:
    chat = visitor(silent, "lin").chat
    answer = chat.ask("Has order O-204 shipped, and where is it now?")
    expect(chat.stops.last).to_contain_text("No reply in time")
    lowered = answer.lower()
    assert "o-204" in lowered
    assert "not shipped" not in lowered
    assert "武汉" not in answer
    assert "in transit" not in lowered
    expect(chat.run.locator(".route-end")).not_to_have_text("Answered")
    expect(chat.run.get_by_role("button", name="Ask for a person")).to_be_visible()
