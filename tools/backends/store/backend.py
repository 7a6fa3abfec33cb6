"""The embedded shop as a backend: short queries, off the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import DatabaseError
from django.db.models import Prefetch

from tools.backends import base
from tools.backends.base import Owner
from tools.backends.store.models import Order, Refund
from tools.backends.store.rows import (
    ORDER,
    OrderRow,
    order_row,
    orders_as_told,
    owned,
    parcel_row,
    shipment_as_told,
    word,
)
from tools.contracts import OrderStatus, RefundStatus, canonical_number
from tools.database import read_from_database
from tools.errors import ToolUnavailable

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
    orders = Order.objects.filter(owned(owner, "")).order_by("-placed_at", "-id")
    if status is not None:
        orders = orders.filter(status=status)
    rows = orders_as_told(
        [OrderRow(*one) for one in orders.values_list(*ORDER)[:limit]]
    )
    return base.OrderList(rows, len(rows) if len(rows) < limit else orders.count())


def _get_order(owner: Owner, order_id: str) -> base.Order | None:
    row = order_row(owner, canonical_number(order_id))
    return next(iter(orders_as_told([row])), None) if row else None


def _track(owner: Owner, tracking_id: str) -> base.Shipment | None:
    row = parcel_row(owner, canonical_number(tracking_id))
    return shipment_as_told(row) if row else None


def _refunds(owner: Owner, order_id: str) -> base.OrderRefunds | None:
    newest = Refund.objects.select_related("method").order_by("-requested_at", "-id")
    row = (
        Order.objects.filter(owned(owner, ""), number_key=canonical_number(order_id))
        .prefetch_related(Prefetch("refunds", newest))
        .first()
    )
    if row is None:
        return None
    return base.OrderRefunds(
        row.number, [_refund(one, row.currency) for one in row.refunds.all()]
    )


def _refund(row: Refund, currency: str) -> base.Refund:
    return base.Refund(
        refund_id=row.number,
        status=word(RefundStatus, row.status),
        amount=base.Money(row.amount, currency),
        method=row.method.kind if row.method else "",
        requested_at=row.requested_at,
        settled_at=row.settled_at,
        expected_at=row.expected_at,
    )
