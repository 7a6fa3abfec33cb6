"""The words of this room: needs, topics, and what one message asks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from tools.contracts import canonical_number

Language: TypeAlias = Literal["zh", "en"]


class Need(StrEnum):
    """A thing that a customer can want from an order desk."""

    ORDER_STATUS = "order_status"
    SHIPPED = "shipped"
    LOCATION = "location"
    ETA = "eta"
    TRACKING_ID = "tracking_id"
    CANCEL = "cancel"
    RETURN = "return"
    REFUND_STATUS = "refund_status"
    CHANGE_ADDRESS = "change_address"
    INVOICE = "invoice"
    HUMAN = "human"
    POLICY = "policy"
    NONE = "none"


class Topic(StrEnum):
    """What colours a question: it decides the path and the tone, not the needs."""

    GREETING = "greeting"
    THANKS = "thanks"
    SMALL_TALK = "small_talk"
    ANGRY = "angry"
    LEGAL_THREAT = "legal_threat"
    SAFETY = "safety"
    LATE = "late"
    NOT_RECEIVED = "not_received"
    DELIVERED_NOT_RECEIVED = "delivered_not_received"
    DAMAGED = "damaged"
    MISSING_ITEM = "missing_item"
    WRONG_ITEM = "wrong_item"
    PAID_NO_ORDER = "paid_no_order"
    REFUND_REQUEST = "refund_request"
    REFUND_LATE = "refund_late"
    EXCHANGE = "exchange"
    CORRECTION = "correction"
    MY_ORDERS = "my_orders"
    CAPABILITIES = "capabilities"


# What goes wrong with a parcel.
PARCEL_TROUBLE = frozenset(
    {
        Topic.LATE,
        Topic.NOT_RECEIVED,
        Topic.DELIVERED_NOT_RECEIVED,
        Topic.DAMAGED,
        Topic.MISSING_ITEM,
        Topic.WRONG_ITEM,
    }
)


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked of one order, where a message asks different things of several."""

    order: str
    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What a message asks, before anything is looked up.

    ``needs`` is never empty: ``(Need.NONE,)`` where nothing is asked. Numbers are kept
    as the customer wrote them, once each, in the order of the text. ``refers_back``
    says that the text points at an order without naming it ("那它到哪儿了", "my last
    order"). ``rejected_numbers`` are those that the text says are not meant ("不是
    O-204"). ``bare_numbers`` are digits that may or may not be an order's ("and 205?").
    ``fragment`` says that the text asks nothing of its own and lives on what was asked
    before. ``asks`` parts the needs among the orders; where it is empty, everything is
    asked of every order.
    """

    text: str
    language: Language
    needs: tuple[Need, ...]
    out_of_scope: bool = False
    topics: frozenset[Topic] = frozenset()
    order_numbers: tuple[str, ...] = ()
    tracking_numbers: tuple[str, ...] = ()
    refers_back: bool = False
    rejected_numbers: tuple[str, ...] = ()
    bare_numbers: tuple[str, ...] = ()
    fragment: bool = False
    asks: tuple[Ask, ...] = ()

    def needs_of(self, order: str) -> tuple[Need, ...]:
        """What is asked of this order, as anyone writes its number."""
        key = canonical_number(order)
        for ask in self.asks:
            if canonical_number(ask.order) == key:
                return ask.needs
        return self.needs
