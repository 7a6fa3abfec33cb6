"""Trouble with an order: facts first, then the rule that fits, then the options."""

from __future__ import annotations

from typing import Any

import pytest

from chatbot.react.types import HandOverMode, StopReason
from tests.llm.helpers import TOOLS, spec
from tests.llm.play import Conversation, Played, ask
from tests.llm.shop import Shop, parcel
from tools.contracts import ActionKind, Json, ObservationStatus

LONG_AGO = "2026-11-26T10:00:00+08:00"


def _stuck() -> Shop:
    shop = Shop()
    shop.shipments["N-88"] |= {
        "last_event_at": LONG_AGO,
        "estimated_delivery_at": "2026-11-29T18:00:00+08:00",
    }
    return shop


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "O-204 is late, the tracking has not moved for days",
            ("sorry", "26 November, 10:00, 5 days ago", "29 November, which has"),
        ),
        (
            "O-204 的物流好几天不更新了",
            ("抱歉", "停在 11月26日 10:00（5 天前）", "11月29日，现在已经过了"),
        ),
    ],
)
async def test_a_parcel_that_stands_still_is_told_with_since_when(
    text: str, words: tuple[str, ...]
) -> None:
    run = await ask(text, _stuck())
    assert run.reason is StopReason.ANSWERED
    assert not run.corrections
    for word in words:
        assert word in run.answer
    assert run.answer.index("N-88") < run.answer.index("/help/")


@pytest.mark.parametrize(
    ("status", "query"),
    [
        ("in_transit", "多久发货 配送时间"),
        ("delivery_failed", "派送失败"),
    ],
)
async def test_the_rule_is_the_one_for_how_late_it_is(status: str, query: str) -> None:
    shop = Shop()
    shop.shipments["N-88"]["status"] = status
    run = await ask("O-204 怎么还没送到，都好几天了", shop)
    assert run.calls[-1] == f"search_help {query}"
    stuck = await ask("O-204 怎么还没送到，都好几天了", _stuck())
    assert stuck.calls[-1] == "search_help 物流不更新"


async def test_what_the_shop_says_is_still_possible_is_told() -> None:
    class Checked(Shop):
        def _fields(self, call: Any) -> Any:
            if call.name != "check_action":
                return super()._fields(call)
            return {
                "kind": call.arguments["action"],
                "eligible": True,
                "order_id": call.arguments["order_id"],
            }

    tools = (*TOOLS, spec("check_action", "order_id", action={"type": "string"}))
    chat = Conversation(shop=Checked(), tools=tools)
    run = await chat.ask("O-205 怎么还没发货，都好几天了")
    assert "check_action O-205 cancel_order" in run.calls
    assert "订单 O-205 现在还可以申请取消" in run.answer
    assert not run.corrections


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("O-206 显示签收但是我没收到", ("很抱歉", "11月20日 15:30", "转人工")),
        (
            "I received the wrong item in order O-206",
            ("sorry", "delivered", "a person"),
        ),
    ],
)
async def test_trouble_gets_regret_facts_and_the_offer_of_a_person(
    text: str, words: tuple[str, ...]
) -> None:
    run = await ask(text)
    assert run.reason is StopReason.ANSWERED
    assert not run.corrections
    places = [run.answer.index(word) for word in words]
    assert places == sorted(places)


async def test_a_bare_number_still_answers_to_the_trouble_told_before() -> None:
    chat = Conversation()
    asked = await chat.ask("收到的东西碎了")
    assert asked.reason is StopReason.NEEDS_CUSTOMER
    assert asked.end.options
    run = await chat.ask("O-206")
    assert run.answer.startswith("很抱歉")
    assert "search_help 破损 坏了" in run.calls


async def test_a_carrier_that_is_away_is_admitted_also_beside_a_rule() -> None:
    shop = Shop(track_shipment=ObservationStatus.TIMEOUT)
    run = await ask("O-206 收到的时候碎了", shop)
    assert "没能查到" in run.answer
    assert "请过一会儿再问我" in run.answer


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("垃圾平台！O-204 到底到哪儿了", "很抱歉给您带来了不好的体验"),
        ("Where is O-204? I will call my lawyer and sue you", "sorry"),
    ],
)
async def test_the_facts_come_before_the_person(text: str, word: str) -> None:
    run = await ask(text)
    assert run.reason is StopReason.HANDED_OVER
    assert run.end.hand_over is HandOverMode.MADE
    assert run.answer.index(word) < run.answer.index("杭州转运中心")


async def test_danger_brings_a_person_and_what_to_do_first() -> None:
    run = await ask("The power bank exploded and burned my hand")
    assert run.reason is StopReason.HANDED_OVER
    assert "Your safety comes first" in run.answer
    assert not run.calls


async def test_a_return_without_any_article_is_said_to_have_none() -> None:
    shop = Shop()
    shop.articles = []
    run = await ask("How do I return an item?", shop)
    assert "no help article" in run.answer
    assert not run.corrections


async def test_parcels_without_numbers_are_counted() -> None:
    shop = Shop()
    shop.orders["O-204"]["parcels"] = [
        parcel("N-88", "in_transit"),
        parcel(None, "pending"),
    ]
    run: Played = await ask("Where is O-204?", shop)
    assert "travels in 2 parcels" in run.answer
    assert "no tracking number for 1 of them" in run.answer


async def test_last_week_is_no_last_order() -> None:
    run = await ask("I ordered it last week, where is my order?")
    assert run.reason is StopReason.NEEDS_CUSTOMER


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("请把 O-206 退我20块钱", {"amount": "20", "currency": "CNY"}),
        ("Please refund 20 of O-206", {"amount": "20"}),
        ("I want a refund for O-206", {}),
    ],
)
async def test_a_part_that_is_wanted_back_is_proposed_as_that_part(
    text: str, arguments: dict[str, str]
) -> None:
    shop = Shop()
    words: Json = {"type": "string"}
    refund = spec("request_refund", "order_id", amount=words, currency=words)
    await Conversation(shop=shop, tools=(*TOOLS, refund)).ask(text)
    [proposed] = [call for call in shop.calls if call.name == "request_refund"]
    assert proposed.arguments == {"order_id": "O-206", **arguments}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("我想换一种方式支付 O-205", "change_payment"),
        ("O-205 换一张卡付款", "change_payment"),
        ("Please change the payment method of O-205", "change_payment"),
        ("Can I pay O-205 with another card?", "change_payment"),
        ("Please change the items of O-205", "change_items"),
        ("O-205 想换个颜色", "change_items"),
        ("I'd like to swap the size in O-205", "change_items"),
        ("O-206 换个颜色可以吗", "exchange_items"),
        ("O-206 我想换货", "exchange_items"),
        ("Please cancel O-205", "cancel_order"),
    ],
)
async def test_what_is_to_be_changed_is_told_apart(text: str, kind: str) -> None:
    shop = Shop()
    kinds = (*ActionKind,)
    tools = (*TOOLS, *(spec(one.value, "order_id") for one in kinds))
    await Conversation(shop=shop, tools=tools).ask(text)
    assert [call.name for call in shop.calls if call.name in kinds] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Which payment methods do you take?",
        "可以用微信支付吗",
        "What sizes are there?",
        "O-205 付款成功了吗",
        "Has the payment for O-205 been received?",
    ],
)
async def test_a_question_about_payment_or_goods_changes_nothing(text: str) -> None:
    shop = Shop()
    tools = (*TOOLS, *(spec(one.value, "order_id") for one in ActionKind))
    await Conversation(shop=shop, tools=tools).ask(text)
    assert not [call for call in shop.calls if call.name in (*ActionKind,)]
