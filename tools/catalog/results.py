"""The declared results of the tools: whatever is not declared here never gets out.

Text that other people wrote (titles, notes, what a carrier said) is cut and cleaned,
and stays text: no status, time or number is ever read from it.
"""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
)

from tools.backends.base import Money as MoneyRecord
from tools.contracts import OrderStatus, ParcelStatus, RefundStatus

_CONTROLS = {"Cc", "Cf", "Cs", "Co", "Cn"}
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


def _cut(length: int) -> AfterValidator:
    return AfterValidator(lambda text: clean(text)[:length])


Number = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(clean)]
Name = Annotated[str, _cut(120)]
FreeText = Annotated[str, _cut(300)]
Time = Annotated[
    AwareDatetime,
    PlainSerializer(lambda at: at.isoformat(timespec="seconds"), return_type=str),
]


class Result(BaseModel):
    """Undeclared fields are dropped; declared ones are never converted in kind."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Money(Result):
    amount: Annotated[str, Field(pattern=r"^-?\d{1,12}(\.\d{2})?$")]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]


class Item(Result):
    title: Name
    quantity: Annotated[int, Field(ge=1, le=100_000)]
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
    items: list[Item] = []
    parcels: list[OrderParcel] = []
    ship_to: Name = ""
    note: FreeText = ""


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


class OrderListResult(Result):
    orders: list[ListedOrder]
    total_orders: Annotated[int, Field(ge=0)]


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
    tracking_url: Annotated[str, Field(max_length=300)] | None = None


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


class Article(Result):
    slug: Name
    title: Name
    excerpt: Annotated[str, _cut(700)]
    url: Annotated[str, Field(pattern=r"^/help/[a-z0-9-]+/$")]
    language: Annotated[str, Field(pattern=r"^(zh|en)$")]


class HelpResult(Result):
    articles: list[Article] = []


def money(value: MoneyRecord) -> dict[str, Any]:
    digits = 0 if value.currency in _WHOLE else 2
    amount = Decimal(value.minor).scaleb(-digits)
    return {"amount": f"{amount:.{digits}f}", "currency": value.currency}


def iso(at: datetime | None) -> str | None:
    return at.astimezone(at.tzinfo or UTC).isoformat() if at else None
