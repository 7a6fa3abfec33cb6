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
class Owner:
    """Whose things may be read: all of one customer's, or only some proved orders.

    ``orders`` are canonical numbers and count where there is no customer. An owner of
    nothing owns nothing.
    """

    customer_id: str | None = None
    orders: frozenset[str] = frozenset()


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
    shipping_fee: Money | None = None
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
    carrier_name_zh: str
    status: ParcelStatus
    events: Sequence[TrackingEvent]
    estimated_delivery_at: datetime | None = None
    delivered_at: datetime | None = None
    tracking_url: str | None = None


@dataclass(frozen=True, slots=True)
class Refund:
    """``method`` is the kind of the payment method that gets the money."""

    refund_id: str
    status: RefundStatus
    amount: Money
    method: str
    requested_at: datetime
    settled_at: datetime | None = None
    expected_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OrderRefunds:
    """The refunds of one order, newest first; often none."""

    order_id: str
    refunds: Sequence[Refund]


class OrderBackend(Protocol):
    """A shop system, asked on behalf of one owner.

    What is not the owner's is None, exactly as what is not there, at the same cost.
    Numbers may come in any spelling; ``canonical_number`` decides what is equal. Raises
    ``ToolUnavailable``, ``ToolTimeout`` or ``BadResult``, of all failures that can be
    expected. ``tests/tools/backend_contract.py`` holds every backend to this.
    """

    source: str

    async def list_orders(
        self, owner: Owner, *, status: OrderStatus | None, limit: int
    ) -> OrderList: ...

    async def get_order(self, owner: Owner, order_id: str) -> Order | None: ...

    async def track(self, owner: Owner, tracking_id: str) -> Shipment | None: ...

    async def refunds(self, owner: Owner, order_id: str) -> OrderRefunds | None: ...
