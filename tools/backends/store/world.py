"""A small shop told as plain data, for evaluations: planted, and photographed again.

What is planted has only what its description says: no chance, no other customers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from tools.backends.store.models import (
    Address,
    Customer,
    Order,
    OrderLine,
    Parcel,
    Payment,
    PaymentDirection,
    PaymentKind,
    PaymentMethod,
    StoreEffect,
    TrackingEvent,
)
from tools.backends.store.seeding.shop import seed_carriers
from tools.contracts import ADDRESS_FIELDS, OrderStatus

# Parsed JSON of a description: an edge.
Raw = Mapping[str, Any]

_TEXTS = ("note", "internal_remark", "cancel_reason", "shop_status")
_LEFT = frozenset(OrderStatus) - {
    *(OrderStatus.UNPAID, OrderStatus.PAID, OrderStatus.PACKED, OrderStatus.CANCELLED),
}
_ARRIVED = _LEFT - {OrderStatus.SHIPPED, OrderStatus.RETURNING}


@transaction.atomic
def plant(world: Raw, *, now: datetime) -> int:
    """Fill an empty shop; how many orders. KeyError or ValueError for what is no world.

    ``customers`` by id, ``orders`` by number; times are hours before ``now``.
    """
    seed_carriers()
    for key, customer in world["customers"].items():
        _plant_customer(key, customer)
    for number, order in world["orders"].items():
        _plant_order(number, order, now)
    return len(world["orders"])


def _plant_customer(key: str, raw: Raw) -> None:
    address = {name: raw["address"].get(name, "") for name in ADDRESS_FIELDS}
    customer = Customer.objects.create(
        id=key,
        name=raw["name"],
        email=raw.get("email", ""),
        phone=raw.get("phone", ""),
        language=raw.get("language", "zh"),
        time_zone=raw.get("time_zone", "Asia/Shanghai"),
    )
    Address.objects.create(customer=customer, is_default=True, **address)
    PaymentMethod.objects.create(
        id=f"alipay_{key}", customer=customer, kind=PaymentKind.ALIPAY
    )


def _plant_order(number: str, raw: Raw, now: datetime) -> None:
    status = OrderStatus(raw["status"])
    placed_at = now - timedelta(hours=raw.get("placed_hours_ago", 30))
    home = Address.objects.get(customer=raw["customer"])
    address = {name: getattr(home, name) for name in ADDRESS_FIELDS} | raw.get(
        "address", {}
    )
    order = Order.objects.create(
        number=number,
        customer_id=raw["customer"],
        status=status,
        total=raw["total"],
        placed_at=placed_at,
        paid_at=None
        if status is OrderStatus.UNPAID
        else placed_at + timedelta(minutes=5),
        shipped_at=placed_at + timedelta(hours=6) if status in _LEFT else None,
        delivered_at=placed_at + timedelta(hours=24) if status in _ARRIVED else None,
        **{name: raw.get(name, "") for name in _TEXTS},
        **address,
    )
    _plant_lines(order, raw["items"])
    if order.paid_at is not None:
        Payment.objects.create(
            order=order,
            direction=PaymentDirection.PAYMENT,
            amount=order.total,
            method_id=f"alipay_{order.customer_id}",
            at=order.paid_at,
        )
    for parcel in raw.get("parcels", ()):
        _plant_parcel(order, parcel, now)


def _plant_lines(order: Order, items: Sequence[Raw]) -> None:
    OrderLine.objects.bulk_create(
        OrderLine(
            order=order,
            title=item["title"],
            price=item["price"],
            quantity=item.get("quantity", 1),
        )
        for item in items
    )


def _plant_parcel(order: Order, raw: Raw, now: datetime) -> None:
    parcel = Parcel.objects.create(
        order=order,
        carrier_id=raw.get("carrier", "sf"),
        tracking_number=raw["tracking_id"],
        status=raw["status"],
        shipped_at=order.shipped_at,
        delivered_at=order.delivered_at,
    )
    parcel.lines.set(order.lines.all())
    for event in raw["events"]:
        TrackingEvent.objects.create(
            parcel=parcel,
            at=now - timedelta(hours=event["hours_ago"]),
            time_zone="Asia/Shanghai",
            status=event["status"],
            place=event["place"],
            text=event.get("text", ""),
        )


def photograph() -> dict[str, Any]:
    """Every order's fields, and the ledger of changes that were really made."""
    return {
        "orders": {order.number: _shown(order) for order in Order.objects.all()},
        "effects": [
            {
                "order": effect.order.number if effect.order else "",
                "kind": effect.kind,
                "customer": effect.customer_id,
                "amount": effect.amount,
            }
            for effect in StoreEffect.objects.select_related("order").order_by("id")
        ],
    }


def _shown(order: Order) -> dict[str, Any]:
    names = ("status", "total", "currency", *_TEXTS, *ADDRESS_FIELDS)
    refunded = order.payments.filter(direction=PaymentDirection.REFUND)
    return {
        "pk": order.pk,
        **{name: getattr(order, name) for name in names},
        "customer": order.customer_id,
        "refunded": sum(row.amount for row in refunded),
    }
