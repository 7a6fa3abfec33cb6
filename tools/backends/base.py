"""What every shop system looks like to the catalogue.

Records hold typed values only. A backend is asked for one customer's things and never
returns another's: "not yours" and "no such" are both None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from tools.contracts import OrderStatus, ParcelStatus, RefundStatus


@dataclass(frozen=True, slots=True)
class Money:
    """``minor`` units of ``currency`` (ISO 4217): 19900 CNY is ¥199.00."""

    minor: int
    currency: str


@dataclass(frozen=True, slots=True)
class OrderItem:
    title: str
    quantity: int
    price: Money
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Parcel:
    """``tracking_id`` is None where the shop holds none, shipped or not."""

    tracking_id: str | None
    carrier: str
    status: ParcelStatus
    shipped_at: datetime | None
    items: Sequence[str]


@dataclass(frozen=True, slots=True)
class Order:
    order_id: str
    status: OrderStatus
    placed_at: datetime
    total: Money
    items: Sequence[OrderItem]
    parcels: Sequence[Parcel]
    paid_at: datetime | None = None
    shipped_at: datetime | None = None
    delivered_at: datetime | None = None
    cancelled_at: datetime | None = None
    # The city alone: neither the model nor the trace ever holds a whole address.
    ship_to: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class OrderList:
    """The newest orders first; ``total`` counts those that were cut off too."""

    orders: Sequence[Order]
    total: int


@dataclass(frozen=True, slots=True)
class TrackingEvent:
    at: datetime
    status: ParcelStatus
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Shipment:
    """``events``: newest first. ``carrier`` is a code, the name is for people."""

    tracking_id: str
    order_id: str
    carrier: str
    carrier_name: str
    status: ParcelStatus
    events: Sequence[TrackingEvent]
    estimated_delivery_at: datetime | None = None
    delivered_at: datetime | None = None
    tracking_url: str | None = None


@dataclass(frozen=True, slots=True)
class Refund:
    refund_id: str
    status: RefundStatus
    amount: Money
    method: str
    requested_at: datetime
    settled_at: datetime | None = None
    expected_at: datetime | None = None


class OrderBackend(Protocol):
    """A shop system, asked for one customer.

    ``customer_id`` is the shop's own id of the customer. Numbers may come in any
    spelling; ``canonical_number`` decides what is equal. Raises ``ToolUnavailable``,
    ``ToolTimeout`` or ``BadResult`` and nothing else.
    """

    source: str

    async def list_orders(
        self, customer_id: str, *, status: OrderStatus | None, limit: int
    ) -> OrderList: ...

    async def get_order(self, customer_id: str, order_id: str) -> Order | None: ...

    async def track(self, customer_id: str, tracking_id: str) -> Shipment | None: ...

    async def refunds(
        self, customer_id: str, order_id: str
    ) -> Sequence[Refund] | None: ...
