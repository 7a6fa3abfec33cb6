"""Changes in words, in Chinese and English: what is asked for, what came of it, why.

The codes are those of ``tools``; one that is not known here is told as "not possible
now", never made up.
"""

from __future__ import annotations

from collections.abc import Mapping

from chatbot.understanding.needs import Language

_NOT_NOW: Mapping[Language, str] = {
    "en": "it is not possible at the moment",
    "zh": "目前无法办理",
}

# A clause that can follow "because": no capital letter, no full stop.
REASONS: Mapping[str, Mapping[Language, str]] = {
    "not_found": {
        "en": "there is no such order in your account",
        "zh": "您的账户里没有这个订单",
    },
    "actions_off": {
        "en": "changes are paused for now; nothing was done",
        "zh": "目前暂停办理变更，未做任何操作",
    },
    "already_cancelled": {
        "en": "the order is cancelled already",
        "zh": "订单已取消",
    },
    "already_packed": {
        "en": "the order is packed already",
        "zh": "订单已打包",
    },
    "already_shipped": {
        "en": "the order has shipped already",
        "zh": "订单已发货",
    },
    "items_already_changed": {
        "en": "its items were changed once already",
        "zh": "订单商品已经修改过一次",
    },
    "reason_not_accepted": {
        "en": "the shop does not take that reason",
        "zh": "店铺不接受这个理由",
    },
    "payment_not_changeable": {
        "en": "its payment is not one single payment that could be moved",
        "zh": "该订单的付款方式不能更换",
    },
    "same_payment_method": {
        "en": "it is paid with that method already",
        "zh": "订单已经使用这种付款方式",
    },
    "no_other_payment_method": {
        "en": "there is no other payment method in your account",
        "zh": "您的账户里没有其他付款方式",
    },
    "no_such_payment_method": {
        "en": "that payment method is not one of yours",
        "zh": "您没有这种付款方式",
    },
    "gift_card_balance_too_low": {
        "en": "the gift card does not hold enough",
        "zh": "礼品卡余额不足",
    },
    "no_such_item": {
        "en": "that item is not in the order",
        "zh": "订单里没有这件商品",
    },
    "another_product": {
        "en": "that is another product, not another option of the same one",
        "zh": "那是另一件商品，不是同一商品的其他规格",
    },
    "not_available": {
        "en": "that option is not in stock",
        "zh": "该规格没有库存",
    },
    "same_item": {
        "en": "that is the option it already has",
        "zh": "已经是这个规格",
    },
    "not_delivered": {
        "en": "the order was not delivered yet",
        "zh": "订单还没有送达",
    },
    "already_returned": {
        "en": "a return or exchange of it exists already",
        "zh": "该订单已经办过退换货",
    },
    "return_window_over": {
        "en": "the time for returning it is over",
        "zh": "已经过了可以退货的期限",
    },
    "refund_only_to_original_or_gift_card": {
        "en": "money goes back to what was paid with, or to a gift card",
        "zh": "退款只能退回原付款方式或礼品卡",
    },
    "nothing_to_refund": {
        "en": "nothing that was paid is left to refund",
        "zh": "没有可以退的款项",
    },
    "cancel_instead": {
        "en": "it has not shipped, so it can be cancelled instead",
        "zh": "订单还没有发货，可以直接取消",
    },
    "more_than_was_paid": {
        "en": "that is more than what is left of what was paid",
        "zh": "超过了可退的金额",
    },
    "other_currency": {
        "en": "it was paid in another currency",
        "zh": "订单是用另一种货币支付的",
    },
    "amount_not_readable": {
        "en": "the amount could not be read",
        "zh": "金额无法识别",
    },
    "not_offered": {
        "en": "the shop does not offer this at the moment",
        "zh": "店铺目前不提供这项办理",
    },
    "above_the_limit": {
        "en": "the amount is above what can be done here",
        "zh": "金额超过这里可以办理的上限",
    },
    "too_many_open": {
        "en": "three other requests of yours are still open",
        "zh": "您还有三项申请没有办完",
    },
    "too_many_today": {
        "en": "there were too many requests of this kind today",
        "zh": "今天这类申请已经太多",
    },
    "already_open": {
        "en": "a request for exactly this is open already",
        "zh": "同样的申请正在处理中",
    },
    "changed_since_shown": {
        "en": "the details have changed since they were shown",
        "zh": "内容在显示之后有了变化",
    },
    "arguments_changed": {
        "en": "the request is not the one that was agreed to",
        "zh": "申请内容与确认时不一致",
    },
    "approval_no_longer_valid": {
        "en": "the approval is no longer valid",
        "zh": "审批已失效",
    },
    "stale_approval": {
        "en": "the order has changed since it was approved",
        "zh": "审批之后订单有了变化",
    },
    "expired": {
        "en": "it was not confirmed or approved in time",
        "zh": "没有在期限内确认或审批",
    },
    "incomplete": {
        "en": "something is still missing",
        "zh": "内容还不完整",
    },
    "not_allowed": {
        "en": "it is not possible for this account",
        "zh": "该账户不能办理",
    },
}

# What is asked for, as a noun: "The cancellation of order O-205".
NAMES: Mapping[str, Mapping[Language, str]] = {
    "cancel_order": {
        "en": "the cancellation of order {order}",
        "zh": "取消订单 {order}",
    },
    "change_address": {
        "en": "the new address for order {order}",
        "zh": "修改订单 {order} 的收货地址",
    },
    "change_payment": {
        "en": "the new payment method for order {order}",
        "zh": "更换订单 {order} 的付款方式",
    },
    "change_items": {
        "en": "the new options for order {order}",
        "zh": "修改订单 {order} 的商品规格",
    },
    "return_items": {"en": "the return from order {order}", "zh": "订单 {order} 退货"},
    "exchange_items": {
        "en": "the exchange from order {order}",
        "zh": "订单 {order} 换货",
    },
    "request_refund": {
        "en": "the refund for order {order}",
        "zh": "订单 {order} 退款",
    },
    "change_profile_address": {
        "en": "your new default address",
        "zh": "修改您的默认地址",
    },
}
# Said only where the shop's own record says that it was done.
DONE: Mapping[str, Mapping[Language, str]] = {
    "cancel_order": {
        "en": "Order {order} has been cancelled.",
        "zh": "订单 {order} 已取消。",
    },
    "change_address": {
        "en": "The delivery address of order {order} has been changed.",
        "zh": "订单 {order} 的收货地址已修改。",
    },
    "change_payment": {
        "en": "The payment method of order {order} has been changed.",
        "zh": "订单 {order} 的付款方式已更换。",
    },
    "change_items": {
        "en": "The options in order {order} have been changed.",
        "zh": "订单 {order} 的商品规格已修改。",
    },
    "return_items": {
        "en": "The return from order {order} has been registered.",
        "zh": "订单 {order} 的退货已登记。",
    },
    "exchange_items": {
        "en": "The exchange from order {order} has been registered.",
        "zh": "订单 {order} 的换货已登记。",
    },
    "request_refund": {
        "en": "The refund for order {order} has been booked.",
        "zh": "订单 {order} 的退款已办理。",
    },
    "change_profile_address": {
        "en": "Your default address has been changed.",
        "zh": "您的默认地址已修改。",
    },
}
_MONEY: Mapping[str, Mapping[Language, str]] = {
    "refund": {
        "en": "{amount} goes back to you.",
        "zh": "将退还 {amount}。",
    },
    "charge": {
        "en": "{amount} was charged.",
        "zh": "已收取 {amount}。",
    },
}
# Of a return the money follows once the goods are back: nothing was moved yet.
_MONEY_LATER = frozenset({"return_items", "exchange_items"})


def reason_words(code: str, language: Language) -> str:
    """Why something can't be done, as a clause."""
    return REASONS.get(code, _NOT_NOW)[language]


def name_words(kind: str, order: str, language: Language) -> str:
    return NAMES[kind][language].format(order=order)


def done_words(
    kind: str, order: str, language: Language, *, amount: str, direction: str
) -> str:
    """That it was done, and what became of the money where some moved."""
    said = DONE[kind][language].format(order=order)
    if not amount or kind in _MONEY_LATER or direction not in _MONEY:
        return said
    gap = " " if language == "en" else ""
    return said + gap + _MONEY[direction][language].format(amount=amount)
