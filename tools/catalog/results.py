"""The declared results of the tools: whatever is not declared here never gets out.

Text that other people wrote (titles, notes, what a carrier said) is cut and cleaned,
and stays text: no status, time or number is ever read from it.
"""

from __future__ import annotations

import unicodedata
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
)

from tools.backends.base import Money as MoneyRecord
from tools.contracts import OrderStatus, ParcelStatus, RefundStatus

_CONTROLS = {"Cc", "Cf", "Cs", "Co", "Cn"}
# Characters of a help article that an observation holds.
EXCERPT = 900
# ISO 4217: currencies without a minor unit; all others that we meet have two digits.
_WHOLE = frozenset({"JPY", "KRW", "VND", "CLP"})


def clean(text: str) -> str:
    """One line without control, format or bidirectional override characters."""
    kept = (
        " " if character in "\r\n\t" else character
        for character in text
        if character in "\r\n\t" or unicodedata.category(character) not in _CONTROLS
    )
    return " ".join("".join(kept).split())


def _cut(length: int) -> BeforeValidator:
    """Cleans before the field's own checks, so that they see what is left."""
    return BeforeValidator(
        lambda value: clean(value)[:length] if isinstance(value, str) else value
    )


Number = Annotated[str, _cut(64), Field(min_length=1)]
Name = Annotated[str, _cut(120)]
# What anyone may have written: shown to a model as data, never read by code.
FreeText = Annotated[str, _cut(300)]
Count = Annotated[int, Field(ge=0, strict=True)]
Time = Annotated[
    AwareDatetime,
    PlainSerializer(lambda at: at.isoformat(timespec="seconds"), return_type=str),
]


Link = Annotated[str, Field(max_length=300)]


class Result(BaseModel):
    """Drops what is undeclared; a ``total_*`` counts the rows that were cut off too."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Money(Result):
    amount: Annotated[str, Field(pattern=r"^\d{1,12}(\.\d{2})?$")]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]


class Item(Result):
    title: Name
    quantity: Annotated[int, Field(ge=1, le=100_000, strict=True)]
    price: Money
    options: dict[Name, Name] = {}


class OrderParcel(Result):
    tracking_id: Number | None
    carrier: Name
    status: ParcelStatus
    shipped_at: Time | None = None
    items: list[Name] = []


class OrderResult(Result):
    order_id: Number
    status: OrderStatus
    placed_at: Time
    paid_at: Time | None = None
    shipped_at: Time | None = None
    delivered_at: Time | None = None
    cancelled_at: Time | None = None
    total: Money
    shipping_fee: Money | None = None
    items: list[Item] = []
    total_items: Count = 0
    parcels: list[OrderParcel] = []
    total_parcels: Count = 0
    ship_to: Name = ""
    note: FreeText = ""


class GuestParcel(Result):
    tracking_id: Number | None
    carrier: Name
    status: ParcelStatus
    shipped_at: Time | None = None


class GuestOrderResult(Result):
    """Where an order stands: not what is in it, where it goes or what it cost."""

    order_id: Number
    status: OrderStatus
    placed_at: Time
    paid_at: Time | None = None
    shipped_at: Time | None = None
    delivered_at: Time | None = None
    cancelled_at: Time | None = None
    parcels: list[GuestParcel] = []
    total_parcels: Count = 0


class ListedParcel(Result):
    tracking_id: Number | None
    status: ParcelStatus


class ListedOrder(Result):
    order_id: Number
    status: OrderStatus
    placed_at: Time
    total: Money
    summary: Name = ""
    parcels: list[ListedParcel] = []
    total_parcels: Count = 0


class OrderListResult(Result):
    orders: list[ListedOrder]
    total_orders: Count


class Event(Result):
    at: Time
    place: Name = ""
    status: ParcelStatus
    text: FreeText = ""


class ShipmentResult(Result):
    tracking_id: Number
    order_id: Number
    carrier: Name
    carrier_name: Name
    status: ParcelStatus
    place: Name | None = None
    last_event_at: Time | None = None
    last_event: FreeText | None = None
    estimated_delivery_at: Time | None = None
    delivered_at: Time | None = None
    events: list[Event] = []
    total_events: Count = 0
    tracking_url: Link | None = None


class GuestShipmentResult(Result):
    """How far a parcel is, without the places it was at."""

    tracking_id: Number
    order_id: Number
    carrier: Name
    carrier_name: Name
    status: ParcelStatus
    last_event_at: Time | None = None
    estimated_delivery_at: Time | None = None
    delivered_at: Time | None = None
    tracking_url: Link | None = None


class RefundRow(Result):
    refund_id: Number
    status: RefundStatus
    amount: Money
    requested_at: Time
    settled_at: Time | None = None
    expected_at: Time | None = None
    method: Name = ""


class RefundResult(Result):
    order_id: Number
    refunds: list[RefundRow] = []
    total_refunds: Count = 0


class Article(Result):
    slug: Name
    title: Name
    excerpt: Annotated[str, _cut(EXCERPT)]
    url: Annotated[str, Field(pattern=r"^/help/[a-z0-9-]+/$")]
    language: Annotated[str, Field(pattern=r"^(zh|en)$")]


class HelpResult(Result):
    articles: list[Article] = []


def money(value: MoneyRecord) -> dict[str, Any]:
    """``minor`` units as a decimal string: never a float on the way."""
    digits = 0 if value.currency in _WHOLE else 2
    amount = Decimal(value.minor).scaleb(-digits)
    return {"amount": f"{amount:.{digits}f}", "currency": value.currency}


def iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
