"""Changes that a customer wishes for: which one to propose, why one is not possible.

Proposing does nothing: the shop's code looks whether it may be done, and where it may
the customer gets a card. So a question ("can I still cancel?") is proposed as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from chatbot.llm.offline import care
from chatbot.llm.offline.seen import NO_ANSWER, Seen, text
from chatbot.llm.offline.target import Target
from chatbot.react.change_words import reason_words
from chatbot.understanding.amounts import Amount, refund_asked_for
from chatbot.understanding.needs import Language, Need, Question, Topic
from tools.contracts import (
    ActionKind,
    Json,
    Observation,
    ObservationStatus,
    OrderStatus,
)

# What is wished for, the narrower wish first.
_WISHES: Mapping[Need | Topic, ActionKind] = {
    Topic.EXCHANGE: ActionKind.EXCHANGE_ITEMS,
    Need.CANCEL: ActionKind.CANCEL_ORDER,
    Need.CHANGE_ADDRESS: ActionKind.CHANGE_ADDRESS,
    Topic.REFUND_REQUEST: ActionKind.REQUEST_REFUND,
    Need.RETURN: ActionKind.RETURN_ITEMS,
}
# What no need stands for: another way to pay, other goods in an order that waits.
_NAMED = (
    (
        ActionKind.CHANGE_PAYMENT,
        re.compile(
            r"\b(?:change|switch|update|use)\b[^.?!]{0,30}\b(?:payment|another card"
            r"|(?:different|other|new) card|card i pay)|\bpay\b[^.?!]{0,30}\b(?:another"
            r"|different|other) (?:card|way|method)"
            r"|(?:换|改|更换|修改)[^，。？！,?!]{0,8}(?:支付|付款|付钱|付账)",
            re.IGNORECASE,
        ),
    ),
    (
        ActionKind.CHANGE_ITEMS,
        re.compile(
            r"\b(?:change|swap|modify|edit)\b[^.?!]{0,30}\b(?:items?|colou?rs?|sizes?"
            r"|variants?|options?)\b"
            r"|(?:换|改)[^，。？！,?!]{0,8}(?:颜色|尺码|尺寸|规格|款式|型号|大小)"
            r"|(?:修改|更改|改)[^，。？！,?!]{0,8}(?:商品|里的东西)",
            re.IGNORECASE,
        ),
    ),
)
# Whoever tells of trouble does not yet ask for a return; whoever takes a wish back does
# not ask for it again.
_SAYS_SO = re.compile(
    r"退|换|\b(?:return|refund|money back|exchang|replac|swap|send (?:it|them) back)",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"(?:不|别|不用|不要|先不|不想)(?:再)?(?:取消|退货?|改|换)了|别取消|不要取消|不用取消"
    r"|\b(?:do not|dont|don't|no need to|rather not|not) (?:want to )?"
    r"(?:cancel|return|change|exchange)\b|\bkeep (?:it|the order)\b",
    re.IGNORECASE,
)
_NEEDS: Mapping[str, Need] = {
    ActionKind.CANCEL_ORDER: Need.CANCEL,
    ActionKind.CHANGE_ADDRESS: Need.CHANGE_ADDRESS,
    ActionKind.REQUEST_REFUND: Need.REFUND_STATUS,
}
_NOTE: Mapping[Language, str] = {
    "en": "the customer wishes for a change: see whether it is possible",
    "zh": "客户希望办理：先核对能否办理",
}
_NOT_POSSIBLE: Mapping[Language, Mapping[ActionKind, str]] = {
    "en": {
        ActionKind.CANCEL_ORDER: "Order {order} cannot be cancelled: {why}.",
        ActionKind.CHANGE_ADDRESS: "The address of order {order} cannot be changed: "
        "{why}.",
        ActionKind.RETURN_ITEMS: "Order {order} cannot be returned: {why}.",
        ActionKind.EXCHANGE_ITEMS: "Order {order} cannot be exchanged: {why}.",
        ActionKind.REQUEST_REFUND: "Order {order} cannot be refunded: {why}.",
        ActionKind.CHANGE_PAYMENT: "The payment of order {order} cannot be changed: "
        "{why}.",
        ActionKind.CHANGE_ITEMS: "The items of order {order} cannot be changed: {why}.",
    },
    "zh": {
        ActionKind.CANCEL_ORDER: "订单 {order} 不能取消：{why}。",
        ActionKind.CHANGE_ADDRESS: "订单 {order} 不能修改地址：{why}。",
        ActionKind.RETURN_ITEMS: "订单 {order} 不能退货：{why}。",
        ActionKind.EXCHANGE_ITEMS: "订单 {order} 不能换货：{why}。",
        ActionKind.REQUEST_REFUND: "订单 {order} 不能退款：{why}。",
        ActionKind.CHANGE_PAYMENT: "订单 {order} 不能更换付款方式：{why}。",
        ActionKind.CHANGE_ITEMS: "订单 {order} 不能修改商品：{why}。",
    },
}


def note(language: Language) -> str:
    """The public note of a step that proposes a change."""
    return _NOTE[language]


def wanted(
    question: Question, seen: Seen, target: Target, said: str
) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The change to propose, with its arguments; none where a rule is asked for.

    One order at a time: a card is about one.
    """
    if len(target.orders) != 1 or not _asks_for_a_change(question, said):
        return
    [order] = target.orders
    found = seen.get("get_order", order)
    if found is None or found.status is not ObservationStatus.OK:
        return
    amount = refund_asked_for(said)
    kind = _named(said) or _wished(question, order, amount)
    if kind is None:
        return
    # What has been delivered is exchanged; an order that waits is changed.
    delivered = text(found.fields, "status") == OrderStatus.DELIVERED
    if kind is ActionKind.CHANGE_ITEMS and delivered:
        kind = ActionKind.EXCHANGE_ITEMS
    arguments: dict[str, Json] = {"order_id": order}
    if kind is ActionKind.REQUEST_REFUND and amount is not None:
        arguments |= _sum(amount)
    yield kind.value, arguments
    before = seen.get(kind.value, order)
    if before and text(before.fields, "reason") == "cancel_instead":
        yield ActionKind.CANCEL_ORDER.value, {"order_id": order}


def _asks_for_a_change(question: Question, said: str) -> bool:
    if takes_back(said):
        return False
    # "The payment method of O-205" is no question about rules, whatever it is read as.
    about_this_order = bool(_named(said) and question.order_numbers)
    if Need.POLICY in question.needs and not about_this_order:
        return False
    return not question.topics & care.TROUBLE or bool(_SAYS_SO.search(said))


def _wished(question: Question, order: str, amount: Amount | None) -> ActionKind | None:
    wishes = frozenset(question.needs_of(order)) | question.topics
    if amount is not None:
        wishes |= {Topic.REFUND_REQUEST}
    return next((kind for wish, kind in _WISHES.items() if wish in wishes), None)


def _named(said: str) -> ActionKind | None:
    return next((kind for kind, words in _NAMED if words.search(said)), None)


def _sum(amount: Amount) -> Mapping[str, Json]:
    named = {"currency": amount.currency} if amount.currency else {}
    return {"amount": f"{amount.value:f}", **named}


def refusals(seen: Seen, target: Target, language: Language) -> Iterator[str]:
    """Why what was wished for is not possible, as the shop says it."""
    for order in target.orders:
        for kind, sentence in _NOT_POSSIBLE[language].items():
            found = seen.get(kind.value, order)
            if found is not None and _is_refused(found):
                code = text(found.fields, "reason") or ""
                why = reason_words(code, language)
                yield sentence.format(order=order, why=why)


def takes_back(said: str) -> bool:
    """Whether a wish for a change is taken back ("do not cancel it")."""
    return bool(_TAKES_BACK.search(said))


def need_of(kind: str) -> Need:
    """What a look whether a change is possible was to find out."""
    return _NEEDS.get(kind, Need.RETURN)


def not_known(seen: Seen, target: Target) -> Iterator[tuple[Need, Observation, str]]:
    """The looks whether a change is possible that brought no answer."""
    for order in target.orders:
        for kind in _NOT_POSSIBLE["en"]:
            found = seen.get(kind.value, order)
            if found is not None and found.status in NO_ANSWER:
                yield need_of(kind.value), found, order


def were_looked_at(seen: Seen, target: Target) -> bool:
    """Whether the shop was asked for a change, whatever it said."""
    kinds = [kind.value for kind in ActionKind]
    return any(seen.tried(kind, order) for order in target.orders for kind in kinds)


def _is_refused(found: Observation) -> bool:
    refused = found.fields.get("eligible") is False
    return found.status is ObservationStatus.OK and refused
