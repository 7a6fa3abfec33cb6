"""The offline model's sentences, in Chinese and English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chatbot.understanding.needs import Language, Need, Topic

# The public note of a step, by the tool that it calls.
NOTES: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "list_my_orders": "no order is named: look at the customer's own orders",
        "get_order": "look up the order first",
        "track_shipment": "the order has a tracking number: ask the carrier",
        "get_refund": "look up the refunds of the order",
        "search_help": "look for the rule in the help centre",
    },
    "zh": {
        "list_my_orders": "没有写明订单：先看客户自己的订单",
        "get_order": "先查订单",
        "track_shipment": "订单有运单号：向承运商查询",
        "get_refund": "查询该订单的退款",
        "search_help": "在帮助中心查找相关规则",
    },
}
# What the help centre is searched for, by the wish; the first that fits.
HELP_QUERIES: Mapping[Language, Mapping[Need | Topic, str]] = {
    "en": {
        Topic.DAMAGED: "damaged or faulty item",
        Topic.WRONG_ITEM: "wrong item received",
        Topic.MISSING_ITEM: "missing item in the parcel",
        Topic.EXCHANGE: "exchange an item",
        Topic.REFUND_REQUEST: "how to get a refund",
        Need.INVOICE: "invoice",
        Need.RETURN: "how to return an item",
    },
    "zh": {
        Topic.DAMAGED: "商品损坏",
        Topic.WRONG_ITEM: "收到错误的商品",
        Topic.MISSING_ITEM: "少发商品",
        Topic.EXCHANGE: "换货",
        Topic.REFUND_REQUEST: "怎么退款",
        Need.INVOICE: "发票",
        Need.RETURN: "怎么退货",
    },
}


@dataclass(frozen=True, slots=True)
class Phrases:
    # conversation
    greeting: str
    thanks: str
    small_talk: str
    capabilities: str
    out_of_scope: str
    not_understood: str
    which_order: str
    offer_person: str
    sorry_late: str
    sorry_trouble: str
    # orders
    chosen: str
    newest: str
    newest_orders: str
    no_orders: str
    list_unknown: str
    order_missing: str
    order_unknown: str
    order_states: Mapping[str, str]
    order_states_at: Mapping[str, str]
    no_tracking: str
    several_parcels: str
    tracking_is: str
    no_tracking_yet: str
    # parcels
    parcel: str
    parcel_at_place: str
    parcel_states: Mapping[str, str]
    parcel_missing: str
    parcel_unknown: str
    no_place: str
    expected: str
    no_estimate: str
    delivered_not_received: str
    # refunds
    refund: str
    refund_states: Mapping[str, str]
    refund_expected: str
    no_refund: str
    refund_unknown: str
    # what cannot be done, and the help centre
    cannot: Mapping[Need | Topic, str]
    article: str
    no_article: str
    help_unknown: str
    as_of: str


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
    sorry_late="I am sorry that you have had to wait.",
    sorry_trouble="I am sorry about the trouble.",
    chosen="You did not name an order, so I looked at {order}.",
    newest="Your most recent order is {order}.",
    newest_orders="Your most recent orders:",
    no_orders="I find no order in your account.",
    list_unknown="I could not look up your orders just now. Please try again in a "
    "moment.",
    order_missing="I find no order {order} in your account. Please check the number.",
    order_unknown="I could not check order {order} just now, so I cannot say how it "
    "stands. Please try again in a moment.",
    order_states={
        "unpaid": "Order {order} has not been paid yet.",
        "paid": "Order {order} is paid and has not shipped yet.",
        "packed": "Order {order} is packed and has not shipped yet.",
        "shipped": "Order {order} has shipped.",
        "delivered": "Order {order} has been delivered.",
        "returning": "Order {order} is being returned.",
        "returned": "Order {order} has been returned.",
        "refunded": "Order {order} has been refunded.",
        "cancelled": "Order {order} is cancelled.",
    },
    order_states_at={
        "shipped": "Order {order} shipped on {at}.",
        "delivered": "Order {order} was delivered on {at}.",
        "cancelled": "Order {order} was cancelled on {at}.",
    },
    no_tracking="The shop's record holds no tracking number for {order}, so I cannot "
    "see where it is.",
    several_parcels="Order {order} travels in {count} parcels.",
    tracking_is="The tracking number of {order} is {tracking}.",
    no_tracking_yet="Order {order} has no tracking number yet.",
    parcel="Parcel {tracking}{carrier} {state}.",
    parcel_at_place="Parcel {tracking}{carrier} {state}; its latest place is "
    "{place}{at}.",
    parcel_states={
        "pending": "has not been picked up yet",
        "picked_up": "has been picked up by the carrier",
        "in_transit": "is in transit",
        "out_for_delivery": "is out for delivery",
        "delivered": "was delivered",
        "delivery_failed": "had a failed delivery attempt",
        "returning": "is being returned",
        "returned": "has been returned",
    },
    parcel_missing="The carrier does not know tracking number {tracking} yet.",
    parcel_unknown="I could not check parcel {tracking} with the carrier just now, so "
    "I do not know where it is.",
    no_place="The carrier names no place for parcel {tracking}.",
    expected="The estimated delivery is {at}.",
    no_estimate="There is no estimated delivery date for {order} so far.",
    delivered_not_received="If it has not reached you, a person can look into it: "
    'reply "a person".',
    refund="For order {order} there is a refund of {amount}, requested on {at}: "
    "{state}.",
    refund_states={
        "requested": "it has been requested and is waiting for a decision",
        "approved": "it has been approved",
        "processing": "it is being processed",
        "settled": "it has been paid out",
        "declined": "it has been declined",
    },
    refund_expected="Expected date of the refund: {at}.",
    no_refund="There is no refund on record for order {order}.",
    refund_unknown="I could not check the refunds of order {order} just now. Please "
    "try again in a moment.",
    cannot={
        Need.CANCEL: "I cannot cancel an order myself.",
        Need.CHANGE_ADDRESS: "I cannot change an address myself.",
        Need.RETURN: "I cannot start a return myself.",
        Topic.REFUND_REQUEST: "I cannot start a refund myself.",
        Topic.EXCHANGE: "I cannot arrange an exchange myself.",
    },
    article="From the help centre, “{title}”: {excerpt} ({url})",
    no_article="I find no help article on that.",
    help_unknown="I could not look into the help centre just now.",
    as_of="(Checked on {at}.)",
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
    sorry_late="抱歉让您久等了。",
    sorry_trouble="很抱歉给您带来麻烦。",
    chosen="您没有写订单号，我查的是 {order}。",
    newest="您最近的订单是 {order}。",
    newest_orders="您最近的订单：",
    no_orders="您的账户里没有订单。",
    list_unknown="暂时无法查到您的订单，请过一会儿再问我。",
    order_missing="您的账户里没有找到订单 {order}，请核对订单号。",
    order_unknown="暂时无法查到订单 {order}，所以还不知道它的状态，请过一会儿再问我。",
    order_states={
        "unpaid": "订单 {order} 还没有付款。",
        "paid": "订单 {order} 已付款，还没有发货。",
        "packed": "订单 {order} 已打包，还没有发货。",
        "shipped": "订单 {order} 已发货。",
        "delivered": "订单 {order} 已送达。",
        "returning": "订单 {order} 正在退回。",
        "returned": "订单 {order} 已退回。",
        "refunded": "订单 {order} 已退款。",
        "cancelled": "订单 {order} 已取消。",
    },
    order_states_at={
        "shipped": "订单 {order} 已于 {at} 发货。",
        "delivered": "订单 {order} 已于 {at} 送达。",
        "cancelled": "订单 {order} 已于 {at} 取消。",
    },
    no_tracking="店铺的记录里没有 {order} 的运单号，所以查不到它的位置。",
    several_parcels="订单 {order} 分 {count} 个包裹。",
    tracking_is="{order} 的运单号是 {tracking}。",
    no_tracking_yet="订单 {order} 还没有运单号。",
    parcel="包裹 {tracking}{carrier}{state}。",
    parcel_at_place="包裹 {tracking}{carrier}{state}，最新位置是{place}{at}。",
    parcel_states={
        "pending": "还没有被揽收",
        "picked_up": "已被揽收",
        "in_transit": "正在运输中",
        "out_for_delivery": "正在派送",
        "delivered": "已送达",
        "delivery_failed": "派送未成功",
        "returning": "正在退回",
        "returned": "已退回",
    },
    parcel_missing="承运商那里还查不到运单号 {tracking}。",
    parcel_unknown="暂时无法向承运商查到包裹 {tracking}，所以不知道它现在的位置。",
    no_place="承运商没有给出包裹 {tracking} 的位置。",
    expected="预计送达时间：{at}。",
    no_estimate="{order} 目前没有预计送达时间。",
    delivered_not_received="如果您没有收到，可以由同事来核实：请回复“转人工”。",
    refund="订单 {order} 有一笔 {amount} 的退款，申请时间 {at}：{state}。",
    refund_states={
        "requested": "已申请，等待审核",
        "approved": "退款已批准",
        "processing": "退款处理中",
        "settled": "退款已到账",
        "declined": "退款被拒绝",
    },
    refund_expected="退款预计到账时间：{at}。",
    no_refund="订单 {order} 没有退款记录。",
    refund_unknown="暂时无法查到订单 {order} 的退款，请过一会儿再问我。",
    cannot={
        Need.CANCEL: "我不能代您取消订单。",
        Need.CHANGE_ADDRESS: "我不能代您修改地址。",
        Need.RETURN: "我不能代您办理退货。",
        Topic.REFUND_REQUEST: "我不能代您发起退款。",
        Topic.EXCHANGE: "我不能代您办理换货。",
    },
    article="帮助中心《{title}》：{excerpt}（{url}）",
    no_article="帮助中心里没有这方面的文章。",
    help_unknown="暂时无法查阅帮助中心。",
    as_of="（以上信息查询于 {at}。）",
)
_PHRASES: Mapping[Language, Phrases] = {"en": _EN, "zh": _ZH}


def phrases_for(language: Language) -> Phrases:
    return _PHRASES[language]
