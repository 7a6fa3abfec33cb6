"""Orders and parcels as they are told, out of a few prepared statements each.

An order with its lines and parcels is asked for with nearly every message: see
tools/prepared.py. Only the columns that are told are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from django.db.models import Q, QuerySet

from tools.backends import base
from tools.backends.base import Owner
from tools.backends.carriers import tracking_link
from tools.backends.store.fields import zone_or_utc
from tools.backends.store.models import Order, OrderLine, Parcel, TrackingEvent
from tools.contracts import OrderStatus, ParcelStatus, RefundStatus
from tools.errors import BadResult
from tools.prepared import Place, Select, numbered, places, together

W = TypeVar("W", OrderStatus, ParcelStatus, RefundStatus)


class OrderRow(NamedTuple):
    id: int
    number: str
    status: str
    placed_at: datetime
    paid_at: datetime | None
    shipped_at: datetime | None
    delivered_at: datetime | None
    cancelled_at: datetime | None
    total: int
    shipping_fee: int
    currency: str
    city: str
    note: str


class ParcelRow(NamedTuple):
    id: int
    tracking_number: str
    order_number: str
    carrier: str
    carrier_name: str
    carrier_name_zh: str
    carrier_url: str
    status: str
    estimated_delivery_at: datetime | None
    delivered_at: datetime | None


ORDER = OrderRow._fields
_PARCEL = (
    "id",
    "tracking_number",
    "order__number",
    "carrier_id",
    "carrier__name",
    "carrier__name_zh",
    "carrier__tracking_url",
    "status",
    "estimated_delivery_at",
    "delivered_at",
)


def word(kind: type[W], value: str) -> W:
    """A status as the product knows it; ``BadResult`` where it is none."""
    try:
        return kind(value)
    except ValueError:
        raise BadResult(f"a row holds no known {kind.__name__}") from None


def owned(owner: Owner, prefix: str) -> Q:
    """What is this owner's. It goes into the query itself: a row that is somebody
    else's is never read, so that it cannot be told from a row that is not there."""
    return _whose(prefix, owner.customer_id, sorted(owner.orders))


def _whose(prefix: str, customer: object, orders: object) -> Q:
    if customer is not None:
        return Q(**{f"{prefix}customer_id": customer})
    return Q(**{f"{prefix}number_key__in": orders})


def order_row(owner: Owner, key: str) -> OrderRow | None:
    """The owner's order with this canonical number."""
    found = _of(_orders, owner, key)
    return OrderRow(*found[0]) if found else None


def parcel_row(owner: Owner, key: str) -> ParcelRow | None:
    """The owner's parcel with this canonical tracking number.

    Carriers use their numbers again after some months: the newest is meant. Parcels
    that have no number yet share the empty key, which finds none.
    """
    found = _of(_parcels, owner, key)
    return ParcelRow(*found[0]) if found else None


def _of(
    select: Callable[[int], Select], owner: Owner, key: str
) -> Sequence[tuple[Any, ...]]:
    if owner.customer_id is not None:
        return select(0).rows(key=key, customer=owner.customer_id)
    proved = places(sorted(owner.orders) or [""])
    return select(len(proved)).rows(key=key, **proved)


def _by_owner(proved: int, prefix: str) -> Q:
    """``owned()``, with places for the customer or for so many proved orders."""
    customer = None if proved else Place("customer")
    return _whose(prefix, customer, numbered(proved))


@cache
def _orders(proved: int) -> Select:
    return Select(
        lambda: Order.objects.filter(
            _by_owner(proved, ""), number_key=Place("key")
        ).values_list(*ORDER)
    )


@cache
def _parcels(proved: int) -> Select:
    return Select(
        lambda: (
            Parcel.objects.filter(
                _by_owner(proved, "order__"), tracking_key=Place("key")
            )
            .exclude(tracking_key="")
            .order_by("-id")
            .values_list(*_PARCEL)
        )
    )


def _grouped(
    members: Sequence[int], *queries: Callable[[int], Select]
) -> list[Mapping[int, list[tuple[Any, ...]]]]:
    """Each query's rows by their first column, which is one of these members."""
    wanted = places(members)
    found = together([query(len(wanted)).asked(**wanted) for query in queries])
    return [
        {key: [*some] for key, some in groupby(rows, itemgetter(0))} for rows in found
    ]


def _each(query: Callable[[Any], QuerySet[Any, Any]]) -> Callable[[int], Select]:
    return cache(lambda size: Select(lambda: query(numbered(size))))


_lines = _each(
    lambda orders: (
        OrderLine.objects.filter(order__id__in=orders)
        .order_by("order_id", "id")
        .values_list("order_id", "title", "quantity", "price", "options")
    )
)
# A row for each line of each parcel; a parcel of none has one as well.
_contents = _each(
    lambda orders: (
        Parcel.objects.filter(order__id__in=orders)
        .order_by("order_id", "id", "lines__id")
        .values_list(
            "order_id",
            "id",
            "tracking_number",
            "carrier_id",
            "status",
            "shipped_at",
            "lines__title",
        )
    )
)
_events = _each(
    lambda parcels: (
        TrackingEvent.objects.filter(parcel__id__in=parcels)
        .order_by("parcel_id", "-at", "-id")
        .values_list("parcel_id", "at", "time_zone", "status", "place", "text")
    )
)


def orders_as_told(rows: Sequence[OrderRow]) -> list[base.Order]:
    if not rows:
        return []
    ids = [row.id for row in rows]
    lines, contents = _grouped(ids, _lines, _contents)
    return [
        base.Order(
            order_id=row.number,
            status=word(OrderStatus, row.status),
            placed_at=row.placed_at,
            paid_at=row.paid_at,
            shipped_at=row.shipped_at,
            delivered_at=row.delivered_at,
            cancelled_at=row.cancelled_at,
            total=base.Money(row.total, row.currency),
            shipping_fee=base.Money(row.shipping_fee, row.currency),
            items=[
                base.OrderItem(
                    title, quantity, base.Money(price, row.currency), options
                )
                for _, title, quantity, price, options in lines.get(row.id, [])
            ],
            parcels=_parcels_as_told(contents.get(row.id, [])),
            ship_to=row.city,
            note=row.note,
        )
        for row in rows
    ]


def _parcels_as_told(rows: Sequence[tuple[Any, ...]]) -> list[base.Parcel]:
    parcels = []
    for (_, tracking_number, carrier, status, shipped_at), some in groupby(
        rows, itemgetter(1, 2, 3, 4, 5)
    ):
        titles = [row[-1] for row in some]
        parcels.append(
            base.Parcel(
                tracking_id=tracking_number or None,
                carrier=carrier,
                status=word(ParcelStatus, status),
                shipped_at=shipped_at,
                items=[title for title in titles if title is not None],
            )
        )
    return parcels


def shipment_as_told(row: ParcelRow) -> base.Shipment:
    [events] = _grouped([row.id], _events)
    return base.Shipment(
        tracking_id=row.tracking_number,
        order_id=row.order_number,
        carrier=row.carrier,
        carrier_name=row.carrier_name,
        carrier_name_zh=row.carrier_name_zh,
        status=word(ParcelStatus, row.status),
        events=[
            base.TrackingEvent(
                at=at.astimezone(zone_or_utc(time_zone)),
                status=word(ParcelStatus, status),
                place=place,
                text=text,
            )
            for _, at, time_zone, status, place, text in events.get(row.id, [])
        ],
        estimated_delivery_at=row.estimated_delivery_at,
        delivered_at=row.delivered_at,
        tracking_url=tracking_link(row.carrier_url, row.tracking_number) or None,
    )
