"""Whether a question is about an order at all, and whether it wants one changed.

Asked of visitors who are not signed in: a rule is told to everybody, an order is not.
"""

from __future__ import annotations

import re
from dataclasses import replace

from chatbot.understanding.kinds import PARCEL_TROUBLE, Need, Question, Topic
from chatbot.understanding.text import plain_text

_STANDING = frozenset(
    {Need.ORDER_STATUS, Need.SHIPPED, Need.LOCATION, Need.ETA, Need.TRACKING_ID}
)
_CHANGES = frozenset({Need.CANCEL, Need.CHANGE_ADDRESS, Need.REFUND_STATUS})
_CHANGE_TOPICS = frozenset({Topic.REFUND_REQUEST, Topic.EXCHANGE, Topic.REFUND_LATE})
_ORDER_TOPICS = PARCEL_TROUBLE | {Topic.MY_ORDERS, Topic.PAID_NO_ORDER}
# "How do I cancel an order?" asks everybody's rule, "how do I cancel mine?" does not.
_GENERAL = re.compile(
    r"怎么(?!还|没|不|这么|样了)|如何|多久|多长时间|几天|一般|通常|是否支持|能不能|可以.{0,8}吗"
    r"|\bhow (?:do|can|does|to|long|much|many|soon)\b|\bdo you\b"
    r"|\bwhat (?:is|are) your\b|\bis it possible\b|\busually\b|\bin general\b"
)
# "What if my parcel is lost?" asks before anything has happened.
_HYPOTHETICAL = re.compile(r"万一|如果|假如|要是|\bwhat if\b|\bwhat happens if\b")
_OWN = re.compile(
    r"我(?:的|那|买|下|收|订|刚|昨|前|上)|这(?:个|单|笔)|那(?:个|单|笔)|该订单|还没|一直没"
    r"|\b(?:my|mine|this|that|ours?|the (?:order|parcel|package|refund)|it|yet|still)\b"
)


def names_an_order(question: Question) -> bool:
    """Whether a number stands in it that may be an order's or a parcel's."""
    if question.order_numbers or question.tracking_numbers:
        return True
    alone = question.needs == (Need.NONE,) and not question.topics
    return bool(question.bare_numbers) and (alone or _asks_of_orders(question))


def is_about_an_order(question: Question) -> bool:
    """Whether nothing but somebody's order can answer it.

    "How long does delivery take?" and "what if it arrives broken?" ask for a rule.
    """
    return names_an_order(question) or (
        _asks_of_orders(question) and not asks_in_general(question)
    )


def needs_an_account(question: Question) -> bool:
    """Whether it wants what only the buyer may do or see: a change, money, a list of
    all orders. A rule about it, or where one order stands, is no such thing."""
    if asks_in_general(question):
        return False
    needs = frozenset(question.needs)
    if Topic.MY_ORDERS in question.topics and needs <= {Need.ORDER_STATUS, Need.NONE}:
        return True
    returns = Need.RETURN in needs and names_an_order(question)
    return bool(needs & _CHANGES or returns or question.topics & _CHANGE_TOPICS)


def asks_in_general(question: Question) -> bool:
    """Whether it asks what holds for every order."""
    if question.order_numbers or question.tracking_numbers:
        return False
    if Need.POLICY in question.needs:
        return True
    plain = plain_text(question.text)
    if _HYPOTHETICAL.search(plain):
        return True
    return bool(_GENERAL.search(plain)) and not _OWN.search(plain)


def as_a_rule(question: Question) -> Question:
    """A question about every order, read as one for the shop's rules."""
    if not (_asks_of_orders(question) and asks_in_general(question)):
        return question
    kept = [n for n in question.needs if n in (Need.HUMAN, Need.INVOICE)]
    needs = tuple(need for need in Need if need in (*kept, Need.POLICY))
    return replace(
        question, needs=needs, topics=question.topics - _ORDER_TOPICS - _CHANGE_TOPICS
    )


def _asks_of_orders(question: Question) -> bool:
    return bool(
        frozenset(question.needs) & (_STANDING | _CHANGES)
        or question.topics & (_ORDER_TOPICS | _CHANGE_TOPICS)
    )
