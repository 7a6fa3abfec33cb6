"""Staff pages on a phone: nothing runs out of the window."""

from __future__ import annotations

import pytest

from tests.journeys.conftest import Visitor
from tests.journeys.staff_pages import STAFF_PAGES, assert_fits, walk
from tests.servers.product import Product


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("name", list(STAFF_PAGES))
def test_no_staff_page_is_wider_than_a_phone(
    product: Product, visitor: Visitor, name: str, locale: str
) -> None:
    lin = visitor(product, "lin", locale=locale)
    lin.chat.ask("Please cancel O-205")
    lin.chat.ask("I want to talk to a person")
    staff = visitor(
        product, name, locale=locale, viewport={"width": 360, "height": 740}
    )
    for what in walk(staff, name):
        assert_fits(staff.page, what)
