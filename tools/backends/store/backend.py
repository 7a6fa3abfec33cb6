"""The embedded shop as a backend: short queries, off the event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar
from zoneinfo import ZoneInfo

from django.db import DatabaseError
from django.db.models import Prefetch, QuerySet

from tools.backends import base
from tools.backends.store.models import Order, OrderLine, Parcel, Refund, TrackingEvent
from tools.contracts import OrderStatus, ParcelStatus, RefundStatus, canonical_number
from tools.database import in_database
from tools.errors import ToolUnavailable

P = ParamSpec("P")
T = TypeVar("T")


class StoreBackend:
    """Answers from this installation's own tables."""

    source = "shop"

    async def list_orders(
        self, customer_id: str, *, status: OrderStatus | None, limit: int
    ) -> base.OrderList:
        return await _read(_list_orders, customer_id, status, limit)

    async def get_order(self, customer_id: str, order_id: str) -> base.Order | None:
        return await _read(_get_order, customer_id, order_id)

    async def track(self, customer_id: str, tracking_id: str) -> base.Shipment | None:
        return await _read(_track, customer_id, tracking_id)

    async def refunds(
        self, customer_id: str, order_id: str
    ) -> Sequence[base.Refund] | None:
        return await _read(_refunds, customer_id, order_id)


async def _read(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return await in_database(fn, *args, **kwargs)
    except DatabaseError as error:
        raise ToolUnavailable(f"the shop's tables: {type(error).__name__}") from error


def _list_orders(
    customer_id: str, status: OrderStatus | None, limit: int
) -> base.OrderList:
    orders = _orders_of(customer_id).order_by("-placed_at", "-id")
    if status is not None:
        orders = orders.filter(status=status)
    rows = [_order(row) for row in orders[:limit]]
    return base.OrderList(rows, len(rows) if len(rows) < limit else orders.count())


def _get_order(customer_id: str, order_id: str) -> base.Order | None:
    key = canonical_number(order_id)
    row = _orders_of(customer_id).filter(number_key=key).first() if key else None
    return _order(row) if row else None


def _track(customer_id: str, tracking_id: str) -> base.Shipment | None:
    key = canonical_number(tracking_id)
    if not key:
        return None
    row = (
        Parcel.objects.filter(order__customer=customer_id, tracking_key=key)
        .select_related("order", "carrier")
        .prefetch_related(
            Prefetch("events", TrackingEvent.objects.order_by("-at", "-id"))
        )
        .first()
    )
    return _shipment(row) if row else None


def _refunds(customer_id: str, order_id: str) -> Sequence[base.Refund] | None:
    key = canonical_number(order_id)
    row = (
        Order.objects.filter(customer=customer_id, number_key=key)
        .prefetch_related(
            Prefetch(
                "refunds",
                Refund.objects.select_related("method").order_by("-requested_at"),
            )
        )
        .first()
    )
    return [_refund(one, row.currency) for one in row.refunds.all()] if row else None


def _orders_of(customer_id: str) -> QuerySet[Order]:
    """The only way to an order: whose it is comes first, its number second."""
    return Order.objects.filter(customer=customer_id).prefetch_related(
        Prefetch("lines", OrderLine.objects.order_by("id")),
        Prefetch(
            "parcels",
            Parcel.objects.order_by("id").prefetch_related("lines"),
        ),
    )


def _order(row: Order) -> base.Order:
    return base.Order(
        order_id=row.number,
        status=OrderStatus(row.status),
        placed_at=row.placed_at,
        paid_at=row.paid_at,
        shipped_at=row.shipped_at,
        delivered_at=row.delivered_at,
        cancelled_at=row.cancelled_at,
        total=base.Money(row.total, row.currency),
        items=[
            base.OrderItem(
                line.title,
                line.quantity,
                base.Money(line.price, row.currency),
                {str(key): str(value) for key, value in line.options.items()},
            )
            for line in row.lines.all()
        ],
        parcels=[
            base.Parcel(
                tracking_id=parcel.tracking_number or None,
                carrier=parcel.carrier_id,
                status=ParcelStatus(parcel.status),
                shipped_at=parcel.shipped_at,
                items=[line.title for line in parcel.lines.all()],
            )
            for parcel in row.parcels.all()
        ],
        ship_to=row.city,
        note=row.note,
    )


def _shipment(row: Parcel) -> base.Shipment:
    template = row.carrier.tracking_url
    return base.Shipment(
        tracking_id=row.tracking_number,
        order_id=row.order.number,
        carrier=row.carrier_id,
        carrier_name=row.carrier.name,
        status=ParcelStatus(row.status),
        events=[
            base.TrackingEvent(
                at=event.at.astimezone(ZoneInfo(event.time_zone)),
                status=ParcelStatus(event.status),
                place=event.place,
                text=event.text,
            )
            for event in row.events.all()
        ],
        estimated_delivery_at=row.estimated_delivery_at,
        delivered_at=row.delivered_at,
        tracking_url=template.replace("{number}", row.tracking_number) or None,
    )


def _refund(row: Refund, currency: str) -> base.Refund:
    return base.Refund(
        refund_id=row.number,
        status=RefundStatus(row.status),
        amount=base.Money(row.amount, currency),
        method=row.method.kind if row.method else "",
        requested_at=row.requested_at,
        settled_at=row.settled_at,
        expected_at=row.expected_at,
    )
