"""The embedded shop as a backend: short queries, off the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import DatabaseError
from django.db.models import Prefetch, Q, QuerySet

from tools.backends import base
from tools.backends.base import Owner
from tools.backends.carriers import tracking_link
from tools.backends.store.fields import zone_or_utc
from tools.backends.store.models import Order, OrderLine, Parcel, Refund, TrackingEvent
from tools.contracts import OrderStatus, ParcelStatus, RefundStatus, canonical_number
from tools.database import read_from_database
from tools.errors import BadResult, ToolUnavailable

P = ParamSpec("P")
T = TypeVar("T")


class StoreBackend:
    """Answers from this installation's own tables."""

    source = "shop"

    async def list_orders(
        self, owner: Owner, *, status: OrderStatus | None, limit: int
    ) -> base.OrderList:
        return await _read(_list_orders, owner, status, limit)

    async def get_order(self, owner: Owner, order_id: str) -> base.Order | None:
        return await _read(_get_order, owner, order_id)

    async def track(self, owner: Owner, tracking_id: str) -> base.Shipment | None:
        return await _read(_track, owner, tracking_id)

    async def refunds(self, owner: Owner, order_id: str) -> base.OrderRefunds | None:
        return await _read(_refunds, owner, order_id)


async def _read(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return await read_from_database(fn, *args, **kwargs)
    except DatabaseError as error:
        raise ToolUnavailable(f"the shop's tables: {type(error).__name__}") from error


def _list_orders(
    owner: Owner, status: OrderStatus | None, limit: int
) -> base.OrderList:
    orders = _orders_of(owner).order_by("-placed_at", "-id")
    if status is not None:
        orders = orders.filter(status=status)
    rows = [_order(row) for row in orders[:limit]]
    return base.OrderList(rows, len(rows) if len(rows) < limit else orders.count())


def _get_order(owner: Owner, order_id: str) -> base.Order | None:
    row = _orders_of(owner).filter(number_key=canonical_number(order_id)).first()
    return _order(row) if row else None


def _track(owner: Owner, tracking_id: str) -> base.Shipment | None:
    key = canonical_number(tracking_id)
    # Parcels that have no number yet share the empty key.
    parcels = Parcel.objects.filter(tracking_key=key).exclude(tracking_key="")
    row = (
        parcels.filter(_owned(owner, "order__"))
        .select_related("order", "carrier")
        .prefetch_related(
            Prefetch("events", TrackingEvent.objects.order_by("-at", "-id"))
        )
        # Carriers use their numbers again after some months: the newest is meant.
        .order_by("-id")
        .first()
    )
    return _shipment(row) if row else None


def _refunds(owner: Owner, order_id: str) -> base.OrderRefunds | None:
    newest = Refund.objects.select_related("method").order_by("-requested_at", "-id")
    row = (
        Order.objects.filter(_owned(owner, ""), number_key=canonical_number(order_id))
        .prefetch_related(Prefetch("refunds", newest))
        .first()
    )
    if row is None:
        return None
    return base.OrderRefunds(
        row.number, [_refund(one, row.currency) for one in row.refunds.all()]
    )


def _owned(owner: Owner, prefix: str) -> Q:
    """What is this owner's. It goes into the query itself: a row that is somebody
    else's is never read, so that it cannot be told from a row that is not there."""
    if owner.customer_id is not None:
        return Q(**{f"{prefix}customer": owner.customer_id})
    return Q(**{f"{prefix}number_key__in": sorted(owner.orders)})


def _orders_of(owner: Owner) -> QuerySet[Order]:
    return Order.objects.filter(_owned(owner, "")).prefetch_related(
        Prefetch("lines", OrderLine.objects.order_by("id")),
        Prefetch(
            "parcels",
            Parcel.objects.order_by("id").prefetch_related(
                Prefetch("lines", OrderLine.objects.order_by("id"))
            ),
        ),
    )


W = TypeVar("W", OrderStatus, ParcelStatus, RefundStatus)


def _word(kind: type[W], value: str) -> W:
    try:
        return kind(value)
    except ValueError:
        raise BadResult(f"a row holds no known {kind.__name__}") from None


def _order(row: Order) -> base.Order:
    return base.Order(
        order_id=row.number,
        status=_word(OrderStatus, row.status),
        placed_at=row.placed_at,
        paid_at=row.paid_at,
        shipped_at=row.shipped_at,
        delivered_at=row.delivered_at,
        cancelled_at=row.cancelled_at,
        total=base.Money(row.total, row.currency),
        shipping_fee=base.Money(row.shipping_fee, row.currency),
        items=[
            base.OrderItem(
                line.title,
                line.quantity,
                base.Money(line.price, row.currency),
                line.options,
            )
            for line in row.lines.all()
        ],
        parcels=[
            base.Parcel(
                tracking_id=parcel.tracking_number or None,
                carrier=parcel.carrier_id,
                status=_word(ParcelStatus, parcel.status),
                shipped_at=parcel.shipped_at,
                items=[line.title for line in parcel.lines.all()],
            )
            for parcel in row.parcels.all()
        ],
        ship_to=row.city,
        note=row.note,
    )


def _shipment(row: Parcel) -> base.Shipment:
    return base.Shipment(
        tracking_id=row.tracking_number,
        order_id=row.order.number,
        carrier=row.carrier_id,
        carrier_name=row.carrier.name,
        carrier_name_zh=row.carrier.name_zh,
        status=_word(ParcelStatus, row.status),
        events=[
            base.TrackingEvent(
                at=event.at.astimezone(zone_or_utc(event.time_zone)),
                status=_word(ParcelStatus, event.status),
                place=event.place,
                text=event.text,
            )
            for event in row.events.all()
        ],
        estimated_delivery_at=row.estimated_delivery_at,
        delivered_at=row.delivered_at,
        tracking_url=tracking_link(row.carrier.tracking_url, row.tracking_number)
        or None,
    )


def _refund(row: Refund, currency: str) -> base.Refund:
    return base.Refund(
        refund_id=row.number,
        status=_word(RefundStatus, row.status),
        amount=base.Money(row.amount, currency),
        method=row.method.kind if row.method else "",
        requested_at=row.requested_at,
        settled_at=row.settled_at,
        expected_at=row.expected_at,
    )
