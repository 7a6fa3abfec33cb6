"""What the offline model says beside the facts, in Chinese and English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from chatbot.understanding.needs import Language, Need, Topic

# The public note of a step, by the tool that it calls.
NOTES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "list_my_orders": "no order is named: look at the customer's own orders",
        "get_order": "look up the order first",
        "track_shipment": "the order has a tracking number: ask the carrier",
        "get_refund": "look up the refunds of the order",
        "search_help": "look for the rule in the help centre",
        "check_action": "see what can still be done with the order",
    },
    "zh": {
        "list_my_orders": "没有写明订单：先看客户自己的订单",
        "get_order": "先查订单",
        "track_shipment": "订单有运单号：向承运商查询",
        "get_refund": "查询该订单的退款",
        "search_help": "在帮助中心查找相关规则",
        "check_action": "查看这个订单现在还能办理什么",
    },
}
# What the help centre is searched for, by the wish; the first that fits.
HELP_QUERIES: Mapping[Language, Mapping[Need | Topic, str]] = {
    "en": {
        Topic.DELIVERED_NOT_RECEIVED: "marked as delivered but not received",
        Topic.PAID_NO_ORDER: "paid but no order, money deducted",
        Topic.DAMAGED: "arrived damaged",
        Topic.WRONG_ITEM: "received the wrong item",
        Topic.MISSING_ITEM: "item missing in the box",
        Topic.REFUND_LATE: "when a refund arrives, refund time",
        Topic.EXCHANGE: "exchange an item",
        Topic.REFUND_REQUEST: "how to return an item for a refund",
        Need.INVOICE: "get an invoice, copy of the bill",
        Need.RETURN: "how to return an item",
    },
    "zh": {
        Topic.DELIVERED_NOT_RECEIVED: "显示签收没收到",
        Topic.PAID_NO_ORDER: "扣款没有订单",
        Topic.DAMAGED: "破损 坏了",
        Topic.WRONG_ITEM: "发错货",
        Topic.MISSING_ITEM: "少发 漏发",
        Topic.REFUND_LATE: "退款多久到账",
        Topic.EXCHANGE: "换货",
        Topic.REFUND_REQUEST: "怎么退货退款",
        Need.INVOICE: "开发票",
        Need.RETURN: "怎么退货",
    },
}
# For a parcel or an order that is late, by what was found out about it.
LATE_QUERIES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "stuck": "tracking has not moved",
        "failed": "delivery attempt failed",
        "waiting": "dispatch, delivery times",
    },
    "zh": {
        "stuck": "物流不更新",
        "failed": "派送失败",
        "waiting": "多久发货 配送时间",
    },
}


@dataclass(frozen=True, slots=True)
class Phrases:
    """What the offline model says of itself; facts are worded in ``react``."""

    greeting: str
    thanks: str
    small_talk: str
    capabilities: str
    out_of_scope: str
    not_understood: str
    which_order: str
    offer_person: str
    offer_enquiry: str
    try_again: str
    sorry_late: str
    sorry_trouble: str
    chosen: str
    newest: str
    cannot: Mapping[Need | Topic, str]


_EN = Phrases(
    greeting="Hello! I can look up your orders, parcels and refunds and find the "
    "shop's rules. What would you like to know?",
    thanks="You're welcome. Is there anything else I can look up for you?",
    small_talk="I am a shop assistant, so I am best at orders and deliveries. What can "
    "I look up for you?",
    capabilities="I can tell you how an order stands, where its parcel is, and how a "
    "refund is going, and I can look up the shop's rules. For anything else I can "
    "bring in a person.",
    out_of_scope="I cannot help with that. I can look up orders, parcels, refunds and "
    "the shop's rules; is there something of that kind?",
    not_understood="I did not quite understand. You can ask me how an order stands, "
    "where a parcel is, or about refunds and returns; an order number helps.",
    which_order="Which order do you mean?",
    offer_person='If you would like a person to look at it, reply "a person".',
    offer_enquiry="If it still has not turned up, a person can look into it: reply "
    '"a person".',
    try_again="Please ask me again in a moment, or ask for a person.",
    sorry_late="I am sorry that you have had to wait.",
    sorry_trouble="I am sorry about the trouble.",
    chosen="You did not name an order, so I looked at {order}; if you mean another "
    "one, tell me its number.",
    newest="Your most recent order is {order}.",
    cannot={
        Need.CANCEL: "I cannot cancel an order myself.",
        Need.CHANGE_ADDRESS: "I cannot change an address myself.",
        Need.RETURN: "I cannot start a return myself.",
        Topic.REFUND_REQUEST: "I cannot start a refund myself.",
        Topic.EXCHANGE: "I cannot arrange an exchange myself.",
    },
)
_ZH = Phrases(
    greeting="您好！我可以查询您的订单、包裹和退款，也可以查找店铺规则。请问想了解什么？",
    thanks="不客气。还需要我查询什么吗？",
    small_talk="我是店铺的订单助手，最擅长查询订单和物流。请问需要查什么？",
    capabilities="我可以查询订单状态、包裹位置和退款进度，也可以查找店铺规则。其他事情可以"
    "为您转人工。",
    out_of_scope="这方面我帮不上忙。我可以查询订单、包裹、退款和店铺规则，请问有这类问题吗？",
    not_understood="抱歉，我没有完全明白。您可以问我订单状态、包裹位置、退款或退货；"
    "附上订单号会更快。",
    which_order="请问您说的是哪个订单？",
    offer_person="如果希望由同事来处理，请回复“转人工”。",
    offer_enquiry="如果还是没有找到，可以由同事来核实：请回复“转人工”。",
    try_again="请过一会儿再问我，也可以回复“转人工”。",
    sorry_late="抱歉让您久等了。",
    sorry_trouble="很抱歉给您带来麻烦。",
    chosen="您没有写订单号，我查的是 {order}；如果是别的订单，请告诉我订单号。",
    newest="您最近的订单是 {order}。",
    cannot={
        Need.CANCEL: "我不能代您取消订单。",
        Need.CHANGE_ADDRESS: "我不能代您修改地址。",
        Need.RETURN: "我不能代您办理退货。",
        Topic.REFUND_REQUEST: "我不能代您发起退款。",
        Topic.EXCHANGE: "我不能代您办理换货。",
    },
)
_PHRASES: Mapping[Language, Phrases] = {"en": _EN, "zh": _ZH}
# Whoever is not signed in is not promised what they would then be refused.
_FOR_GUESTS: Mapping[Language, Phrases] = {
    "en": replace(
        _EN,
        greeting="Hello! I know the shop's rules on delivery, returns and payment, and "
        "can tell you how an order stands once it is known to be yours. What would you "
        "like to know?",
        capabilities="I can look up the shop's rules and, once an order is known to be "
        "yours, tell you how it stands. Changes and refunds need a log-in; for "
        "anything else I can bring in a person.",
        out_of_scope="I cannot help with that. I can look up the shop's rules, and how "
        "an order stands once it is known to be yours; is there something of that "
        "kind?",
        not_understood="I did not quite understand. You can ask me about delivery, "
        "returns and payment, or how an order stands; its number helps.",
    ),
    "zh": replace(
        _ZH,
        greeting="您好！我可以查找店铺规则；确认订单是您本人的之后，也可以查询它的状态。"
        "请问想了解什么？",
        capabilities="我可以查找店铺规则；确认订单是您本人的之后，可以查询它的状态。"
        "修改订单和退款需要登录，其他事情可以为您转人工。",
        out_of_scope="这方面我帮不上忙。我可以查找店铺规则；确认订单是您本人的之后，"
        "也可以查询它的状态。请问有这类问题吗？",
        not_understood="抱歉，我没有完全明白。您可以问我店铺规则，或者订单状态；"
        "附上订单号会更快。",
    ),
}


def phrases_for(language: Language, *, guest: bool = False) -> Phrases:
    return (_FOR_GUESTS if guest else _PHRASES)[language]
