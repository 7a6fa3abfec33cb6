"""What a visitor may be told without proof: rules are everybody's, orders are not."""

from __future__ import annotations

import pytest

from chatbot.understanding.needs import Need, read_question
from chatbot.understanding.orders import (
    as_a_rule,
    is_about_an_order,
    needs_an_account,
)

ORDERS = [
    "订单 O-204 到哪了",
    "我的快递到哪了",
    "我最近的订单到哪儿了？",
    "O-404 发货了吗",
    "204",
    "包裹 N-88 在哪",
    "我收到的东西坏了怎么办",
    "怎么还没发货",
    "where is O-204",
    "Where is my order?",
    "Has it shipped yet?",
    "When will my order arrive?",
    "my parcel is damaged",
    "track N-88",
]
ACCOUNT = [
    "我要取消订单",
    "帮我取消 O-205",
    "我想退款",
    "我的退款什么时候到账？",
    "把地址改成上海",
    "我有哪些订单？",
    "I want to cancel O-204",
    "please change the address of my order",
    "where is my refund",
    "show me all my orders",
    "I want to return O-204",
]
RULES = [
    "怎么退货？",
    "多久能送到？",
    "运费多少",
    "怎么取消订单？",
    "退款多久到账",
    "能开发票吗",
    "快递丢了怎么办",
    "How do I return something?",
    "How long does shipping take?",
    "What if something arrives broken?",
    "Do you ship to Germany?",
    "what is your return window",
    "how do I cancel an order",
    "what if my parcel is lost?",
    "如果我的快递丢了怎么办",
]


@pytest.mark.parametrize("text", ORDERS)
def test_an_order_is_asked_for(text: str) -> None:
    question = read_question(text)
    assert is_about_an_order(question)
    assert not needs_an_account(question)
    assert as_a_rule(question) == question


@pytest.mark.parametrize("text", ACCOUNT)
def test_a_change_money_or_the_list_of_orders_is_the_buyers(text: str) -> None:
    assert needs_an_account(read_question(text))


@pytest.mark.parametrize("text", RULES)
def test_a_rule_is_no_order(text: str) -> None:
    question = read_question(text)
    assert not is_about_an_order(question)
    assert not needs_an_account(question)
    asked = as_a_rule(question).needs
    assert set(asked) <= {Need.POLICY, Need.RETURN, Need.INVOICE}
    assert asked


@pytest.mark.parametrize("text", ["你好", "thanks", "hi", "转人工", "a person please"])
def test_small_talk_and_a_wish_for_a_person_are_neither(text: str) -> None:
    question = read_question(text)
    assert not is_about_an_order(question)
    assert not needs_an_account(question)
    assert as_a_rule(question) == question


@pytest.mark.parametrize("number", ["O-204", "o 204", "Ｏ－２０４", "＃O-204"])
def test_a_number_makes_a_rule_a_question_about_that_order(number: str) -> None:
    assert is_about_an_order(read_question(f"怎么查订单 {number} 的物流"))
    assert needs_an_account(read_question(f"how do I cancel {number}?"))
