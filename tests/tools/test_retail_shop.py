"""The benchmark's shop: what is loaded comes back as it was, changes as it expects."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from django.utils import timezone

from tools.backends.changes import ChangeResult
from tools.backends.store.changing import execute, preview
from tools.backends.store.retail import differences, load, load_customer, photograph
from tools.contracts import ActionKind, Json

pytestmark = pytest.mark.django_db

HOME = {
    "address1": "1 Elm Street",
    "address2": "",
    "city": "Denver",
    "state": "CO",
    "zip": "80279",
    "country": "USA",
}


def item(variant: str, price: float, colour: str) -> dict[str, Any]:
    return {
        "name": "Cup",
        "product_id": "1",
        "item_id": variant,
        "price": price,
        "options": {"colour": colour},
    }


def order(number: str, status: str, paid: float, *items: dict[str, Any]) -> Any:
    sent = [{"tracking_id": ["5"], "item_ids": [i["item_id"] for i in items]}]
    return {
        "order_id": number,
        "user_id": "kim",
        "address": HOME,
        "items": list(items),
        "status": status,
        "fulfillments": sent if status == "delivered" else [],
        "payment_history": [
            {
                "transaction_type": "payment",
                "amount": paid,
                "payment_method_id": "gift_card_1",
            }
        ],
    }


VARIANTS = {
    key: {
        "item_id": key,
        "options": {"colour": colour},
        "available": available,
        "price": price,
    }
    for key, colour, price, available in (
        ("11", "red", 10.5, True),
        ("12", "blue", 12.0, True),
        ("13", "gold", 99.0, False),
    )
}
DATABASE: dict[str, Any] = {
    "products": {"1": {"name": "Cup", "product_id": "1", "variants": VARIANTS}},
    "users": {
        "kim": {
            "user_id": "kim",
            "name": {"first_name": "Kim", "last_name": "Lee"},
            "address": HOME,
            "email": "kim@example.com",
            "payment_methods": {
                "gift_card_1": {
                    "source": "gift_card",
                    "id": "gift_card_1",
                    "balance": 2.0,
                },
                "paypal_1": {"source": "paypal", "id": "paypal_1"},
            },
            "orders": ["#W1", "#W2"],
        }
    },
    "orders": {
        "#W1": order("#W1", "pending", 10.5, item("11", 10.5, "red")),
        "#W2": order(
            "#W2", "delivered", 21.0, item("11", 10.5, "red"), item("11", 10.5, "red")
        ),
    },
}


@pytest.fixture(autouse=True)
def shop() -> None:
    load(DATABASE, now=timezone.now())


def executed(kind: ActionKind, arguments: Mapping[str, Json], key: str) -> ChangeResult:
    agreed = preview("kim", kind, arguments).terms
    return execute("kim", kind, arguments, key, agreed)


def after(kind: ActionKind, **arguments: Json) -> dict[str, Any]:
    result = executed(kind, arguments, "key")
    assert result.succeeded, result.reason
    return photograph("kim")


def expected(**changes: Any) -> dict[str, Any]:
    state = {
        "users": deepcopy(DATABASE["users"]),
        "orders": deepcopy(DATABASE["orders"]),
    }
    for number, change in changes.items():
        state["orders"][f"#{number}"] |= change
    return state


def test_what_was_loaded_comes_back_as_it_was() -> None:
    assert differences(expected(), photograph("kim")) == []


def test_a_customer_can_be_set_back() -> None:
    after(ActionKind.CANCEL_ORDER, order_id="#W1", reason="no longer needed")
    load_customer(DATABASE, "kim", now=timezone.now())
    assert differences(expected(), photograph("kim")) == []


def paid(*rows: tuple[str, float, str]) -> list[dict[str, Any]]:
    return [
        {"transaction_type": kind, "amount": amount, "payment_method_id": method}
        for kind, amount, method in rows
    ]


def test_a_cancelled_order_gives_the_gift_card_its_money_back() -> None:
    state = expected(
        W1={
            "status": "cancelled",
            "cancel_reason": "no longer needed",
            "payment_history": paid(
                ("payment", 10.5, "gift_card_1"), ("refund", 10.5, "gift_card_1")
            ),
        }
    )
    state["users"]["kim"]["payment_methods"]["gift_card_1"]["balance"] = 12.5
    found = after(ActionKind.CANCEL_ORDER, order_id="#W1", reason="no longer needed")
    assert differences(state, found) == []


def test_an_item_becomes_another_and_the_difference_is_paid() -> None:
    found = after(
        ActionKind.CHANGE_ITEMS,
        order_id="#W1",
        items=["11"],
        new_items=["12"],
        payment_method="gift_card_1",
    )
    changed = found["orders"]["#W1"]
    assert changed["items"] == [item("12", 12.0, "blue")]
    assert changed["status"] == "pending (item modified)"
    assert changed["payment_history"][1:] == paid(("payment", 1.5, "gift_card_1"))
    card = found["users"]["kim"]["payment_methods"]["gift_card_1"]
    assert card["balance"] == 0.5


@pytest.mark.parametrize(
    ("kind", "arguments", "reason"),
    [
        (ActionKind.CHANGE_ITEMS, {"new_items": ["13"]}, "not_available"),
        (ActionKind.CHANGE_ITEMS, {"new_items": ["99"]}, "no_such_item"),
        (ActionKind.CHANGE_ITEMS, {"items": ["12"]}, "no_such_item"),
    ],
)
def test_an_item_change_that_is_not_allowed_changes_nothing(
    kind: ActionKind, arguments: dict[str, Json], reason: str
) -> None:
    known: dict[str, Json] = {
        "order_id": "#W1",
        "items": ["11"],
        "new_items": ["12"],
        "payment_method": "paypal_1",
        **arguments,
    }
    result = executed(kind, known, "key")
    assert (result.succeeded, result.reason) == (False, reason)
    assert differences(expected(), photograph("kim")) == []


def test_an_item_may_be_named_that_stays_as_it_is() -> None:
    found = after(
        ActionKind.CHANGE_ITEMS,
        order_id="#W1",
        items=["11"],
        new_items=["11"],
        payment_method="paypal_1",
    )
    order = found["orders"]["#W1"]
    assert order["payment_history"][1:] == paid(("refund", 0.0, "paypal_1"))


def test_a_payment_moves_to_another_method() -> None:
    found = after(ActionKind.CHANGE_PAYMENT, order_id="#W1", payment_method="paypal_1")
    assert found["orders"]["#W1"]["payment_history"] == paid(
        ("payment", 10.5, "gift_card_1"),
        ("payment", 10.5, "paypal_1"),
        ("refund", 10.5, "gift_card_1"),
    )


def test_both_of_two_equal_items_can_be_returned() -> None:
    found = after(
        ActionKind.RETURN_ITEMS,
        order_id="#W2",
        items=["11", "11"],
        payment_method="gift_card_1",
    )
    state = expected(
        W2={
            "status": "return requested",
            "return_items": ["11", "11"],
            "return_payment_method_id": "gift_card_1",
        }
    )
    assert differences(state, found) == []


def test_an_exchange_keeps_its_difference_until_the_goods_are_back() -> None:
    found = after(
        ActionKind.EXCHANGE_ITEMS,
        order_id="#W2",
        items=["11"],
        new_items=["12"],
        payment_method="paypal_1",
    )
    state = expected(
        W2={
            "status": "exchange requested",
            "exchange_items": ["11"],
            "exchange_new_items": ["12"],
            "exchange_payment_method_id": "paypal_1",
            "exchange_price_difference": 1.5,
        }
    )
    assert differences(state, found) == []


def test_the_profile_and_the_order_have_addresses_of_their_own() -> None:
    new = {**HOME, "address1": "2 Oak Street"}
    found = after(ActionKind.CHANGE_PROFILE_ADDRESS, **new)
    assert found["users"]["kim"]["address"] == new
    assert found["orders"]["#W1"]["address"] == HOME
    result = executed(ActionKind.CHANGE_ADDRESS, {"order_id": "#W1", **new}, "another")
    assert result.succeeded
    assert photograph("kim")["orders"]["#W1"]["address"] == new
