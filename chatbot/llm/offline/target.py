"""Which orders a question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chatbot.llm.offline.seen import Seen, text
from chatbot.react.types import RunState
from chatbot.understanding.needs import Need, Question, Topic
from chatbot.understanding.orders import is_about_an_order
from chatbot.understanding.references import (
    find_numbers,
    points_at_newest,
    points_elsewhere,
    resolve_orders,
)
from tools.contracts import Json, canonical_number

MAX_CHOICES = 8

# Needs that nothing but an order can answer.
_ABOUT_AN_ORDER = frozenset(
    {
        Need.ORDER_STATUS,
        Need.SHIPPED,
        Need.LOCATION,
        Need.ETA,
        Need.TRACKING_ID,
        Need.REFUND_STATUS,
        Need.CANCEL,
        Need.CHANGE_ADDRESS,
    }
)
_ORDER_TOPICS = frozenset(
    {
        Topic.LATE,
        Topic.NOT_RECEIVED,
        Topic.DELIVERED_NOT_RECEIVED,
        Topic.REFUND_LATE,
        Topic.MISSING_ITEM,
        Topic.WRONG_ITEM,
        Topic.DAMAGED,
    }
)
# Trouble with what has arrived.
_WITH_GOODS = frozenset({Topic.MISSING_ITEM, Topic.WRONG_ITEM, Topic.DAMAGED})
_LISTS = frozenset({Topic.MY_ORDERS, Topic.PAID_NO_ORDER})
_OPEN = frozenset({"unpaid", "paid", "packed", "shipped", "returning"})
_MONEY_BACK = frozenset({"returning", "returned", "refunded", "cancelled"})
_CHANGEABLE = frozenset({"unpaid", "paid", "packed"})
_PAID_FOR = frozenset({"paid", "packed", "shipped", "delivered"})
_ARRIVED = frozenset({"shipped", "delivered"})


@dataclass(frozen=True, slots=True)
class Target:
    """The orders meant, as written; or the ``choices`` to ask back with.

    ``chosen``: the customer named none and code took the only one that fits (or, with
    ``newest``, the newest), which the answer must say. ``must_list``: the customer's
    own orders are needed to decide. ``overview``: the list itself was asked for.
    """

    orders: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    chosen: bool = False
    newest: bool = False
    must_list: bool = False
    overview: bool = False


def find_target(state: RunState, seen: Seen) -> Target:
    question = state.question
    if question is None:
        return Target()
    if question.order_numbers:
        return Target(orders=question.order_numbers)
    if question.tracking_numbers:
        return Target()
    if state.background.guest is not None:
        # A visitor has no list: what they have proved is all that they may ask about.
        verified = state.background.guest.verified
        return Target(verified if is_about_an_order(question) else ())
    if _LISTS & question.topics:
        return Target(must_list=True, overview=True)
    if question.bare_numbers:
        return _from_list(question, seen, state)
    elsewhere = points_elsewhere(question.text)
    if not _needs_an_order(question) and not (question.refers_back and elsewhere):
        return Target(orders=_before(state) if question.refers_back else ())
    if points_at_newest(question.text) or elsewhere:
        return _from_list(question, seen, state)
    if carried := _before(state):
        return Target(orders=carried)
    return _from_list(question, seen, state)


def _needs_an_order(question: Question) -> bool:
    needs = set(question.needs)
    if needs & {Need.POLICY, Need.INVOICE} and not _ABOUT_AN_ORDER & needs:
        # "What if something arrives broken?" is a question about the rules.
        return False
    return bool(_ABOUT_AN_ORDER & needs or _ORDER_TOPICS & question.topics)


def _before(state: RunState) -> tuple[str, ...]:
    """The order that the conversation was about last."""
    known = state.background.known_numbers
    for turn in reversed(state.background.turns):
        found = find_numbers(turn.text).orders
        if turn.speaker == "customer" and found:
            return found
        # What an answer named counts where it named one: a list points at none.
        found = tuple(one for one in found if canonical_number(one) in known)
        if turn.speaker == "assistant" and found:
            if len(found) == 1:
                return found
            break
    question = state.question
    if question is None:
        return ()
    return resolve_orders(question, earlier=state.background.earlier_questions)


def _from_list(question: Question, seen: Seen, state: RunState) -> Target:
    if seen.listed is None:
        return Target(must_list=True)
    own = list(seen.own_orders)
    numbers = [text(one, "order_id") or "" for one in own]
    if question.bare_numbers:
        fitting = resolve_orders(question, own_orders=numbers)
        if fitting:
            return Target(orders=fitting, must_list=True)
    if not numbers:
        return Target(must_list=True)
    if points_at_newest(question.text):
        return Target(orders=(numbers[0],), must_list=True, chosen=True, newest=True)
    if points_elsewhere(question.text):
        mentioned = {canonical_number(number) for number in _before(state)}
        own = [one for one in own if _number(one) not in mentioned]
    rejected = {canonical_number(number) for number in question.rejected_numbers}
    own = [one for one in own if _number(one) not in rejected]
    return _only_one(question, own)


def _only_one(question: Question, own: Sequence[Mapping[str, Json]]) -> Target:
    fitting = [one for one in own if text(one, "status") in _fitting(question)]
    if len(fitting) == 1 or len(own) == 1:
        [one] = fitting if len(fitting) == 1 else own
        return Target((text(one, "order_id") or "",), must_list=True, chosen=True)
    offered = fitting or own
    choices = tuple(text(one, "order_id") or "" for one in offered)
    return Target(choices=choices[:MAX_CHOICES], must_list=True)


def _fitting(question: Question) -> frozenset[str]:
    """The states of the orders that such a question can be about."""
    needs = set(question.needs)
    if Topic.DELIVERED_NOT_RECEIVED in question.topics or _WITH_GOODS & question.topics:
        return _ARRIVED
    if needs & {Need.CANCEL, Need.CHANGE_ADDRESS}:
        return _CHANGEABLE
    if Topic.REFUND_REQUEST in question.topics or Need.RETURN in needs:
        return _PAID_FOR
    if Need.REFUND_STATUS in needs:
        # Whoever wants money back for what never came does not mean a refund of old.
        return _CHANGEABLE if Need.SHIPPED in needs else _MONEY_BACK
    return _OPEN


def _number(order: Mapping[str, Json]) -> str:
    return canonical_number(text(order, "order_id") or "")
