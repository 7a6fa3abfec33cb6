from __future__ import annotations

import pytest

from chatbot.understanding.needs import Need, Topic, read_question

CANONICAL = [
    ("订单 O-204 发货了吗？现在运到哪儿了？", {Need.SHIPPED, Need.LOCATION}),
    ("Has O-204 shipped, and where is it now?", {Need.SHIPPED, Need.LOCATION}),
    ("where is my order", {Need.LOCATION}),
    ("那它到哪儿了？", {Need.LOCATION}),
    ("Cancel O-205", {Need.CANCEL}),
    ("转人工", {Need.HUMAN}),
    ("什么时候到", {Need.ETA}),
    ("运单号多少", {Need.TRACKING_ID}),
    ("退款到账了吗", {Need.REFUND_STATUS}),
    ("怎么退货", {Need.RETURN}),
    ("你好", {Need.NONE}),
    ("我有哪些订单？", {Need.ORDER_STATUS}),
]


@pytest.mark.parametrize(("text", "needs"), CANONICAL)
def test_the_plain_way_to_ask_is_understood(text: str, needs: set[Need]) -> None:
    assert set(read_question(text).needs) == needs


def test_an_order_number_is_kept_as_it_was_written() -> None:
    assert read_question("＃O-204 到哪了").order_numbers == ("＃O-204",)


def test_a_fragment_asks_again_what_was_asked_before() -> None:
    first = read_question("Has O-204 shipped?")
    assert read_question("and O-205?", earlier=[first]).needs == (Need.SHIPPED,)
    again = read_question("那它呢？", earlier=[first])
    assert again.needs == (Need.SHIPPED,)
    assert again.refers_back


def test_a_wish_for_all_orders_is_told_apart() -> None:
    assert Topic.MY_ORDERS in read_question("我有哪些订单？").topics
