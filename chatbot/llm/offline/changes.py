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
from tools.contracts import ActionKind, Json, Observation, ObservationStatus

# What is wished for, the narrower wish first.
_WISHES: Mapping[Need | Topic, ActionKind] = {
    Topic.EXCHANGE: ActionKind.EXCHANGE_ITEMS,
    Need.CANCEL: ActionKind.CANCEL_ORDER,
    Need.CHANGE_ADDRESS: ActionKind.CHANGE_ADDRESS,
    Topic.REFUND_REQUEST: ActionKind.REQUEST_REFUND,
    Need.RETURN: ActionKind.RETURN_ITEMS,
}
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
    },
    "zh": {
        ActionKind.CANCEL_ORDER: "订单 {order} 不能取消：{why}。",
        ActionKind.CHANGE_ADDRESS: "订单 {order} 不能修改地址：{why}。",
        ActionKind.RETURN_ITEMS: "订单 {order} 不能退货：{why}。",
        ActionKind.EXCHANGE_ITEMS: "订单 {order} 不能换货：{why}。",
        ActionKind.REQUEST_REFUND: "订单 {order} 不能退款：{why}。",
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
    if len(target.orders) != 1 or Need.POLICY in question.needs:
        return
    if takes_back(said):
        return
    if question.topics & care.TROUBLE and not _SAYS_SO.search(said):
        return
    [order] = target.orders
    found = seen.get("get_order", order)
    if found is None or found.status is not ObservationStatus.OK:
        return
    wishes = frozenset(question.needs_of(order)) | question.topics
    amount = refund_asked_for(said)
    if amount is not None:
        wishes |= {Topic.REFUND_REQUEST}
    for wish, kind in _WISHES.items():
        if wish in wishes:
            arguments: dict[str, Json] = {"order_id": order}
            if kind is ActionKind.REQUEST_REFUND and amount is not None:
                arguments |= _sum(amount)
            yield kind.value, arguments
            before = seen.get(kind.value, order)
            if before and text(before.fields, "reason") == "cancel_instead":
                yield ActionKind.CANCEL_ORDER.value, {"order_id": order}
            return


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
