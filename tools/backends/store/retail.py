"""The public retail benchmark (tau2-bench, MIT) in the embedded shop, and back again.

``load`` fills an empty shop from the benchmark's database, ``photograph`` writes a
customer and their orders in the benchmark's own shape, so that an end state can be
compared with the one that it expects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from tools.backends.store.models import (
    Address,
    Carrier,
    Customer,
    Order,
    OrderLine,
    Parcel,
    Payment,
    PaymentDirection,
    PaymentMethod,
    Product,
    ReturnKind,
    Variant,
)
from tools.backends.store.plans import ITEMS_CHANGED
from tools.contracts import ActionKind, OrderStatus, ParcelStatus

# Parsed JSON of the benchmark's own file: an edge.
Raw = Mapping[str, Any]

CURRENCY = "USD"
_CARRIER = "benchmark"
_STATUS = {
    "pending": OrderStatus.PAID,
    "pending (item modified)": OrderStatus.PAID,
    "processed": OrderStatus.SHIPPED,
    "delivered": OrderStatus.DELIVERED,
    "cancelled": OrderStatus.CANCELLED,
}
_PARCEL = {
    OrderStatus.SHIPPED: ParcelStatus.IN_TRANSIT,
    OrderStatus.DELIVERED: ParcelStatus.DELIVERED,
}
_ADDRESS = ("address1", "address2", "city", "state", "zip", "country")


@transaction.atomic
def load(database: Raw, *, now: datetime) -> int:
    """Fill the shop with products, customers and orders; how many orders."""
    Carrier.objects.get_or_create(code=_CARRIER, defaults={"name": "Benchmark"})
    _load_products(database["products"].values())
    for user in database["users"].values():
        load_customer(database, user["user_id"], now=now)
    return Order.objects.count()


def _load_products(products: Iterable[Raw]) -> None:
    products = list(products)
    Product.objects.bulk_create(
        Product(id=one["product_id"], name=one["name"]) for one in products
    )
    Variant.objects.bulk_create(
        Variant(
            id=variant["item_id"],
            product_id=one["product_id"],
            options=variant["options"],
            price=minor(variant["price"]),
            currency=CURRENCY,
            available=variant["available"],
        )
        for one in products
        for variant in one["variants"].values()
    )


@transaction.atomic
def load_customer(database: Raw, user_id: str, *, now: datetime) -> None:
    """One customer with all orders as the file has them, whatever was there before."""
    user = database["users"][user_id]
    Customer.objects.filter(id=user_id).delete()
    customer = Customer.objects.create(
        id=user_id,
        name=f"{user['name']['first_name']} {user['name']['last_name']}",
        given_name=user["name"]["first_name"],
        family_name=user["name"]["last_name"],
        email=user["email"],
    )
    Address.objects.create(customer=customer, is_default=True, **user["address"])
    PaymentMethod.objects.bulk_create(
        PaymentMethod(
            id=one["id"],
            customer=customer,
            kind=one["source"],
            brand=one.get("brand", ""),
            last_four=one.get("last_four", ""),
            balance=minor(one["balance"]) if "balance" in one else None,
            currency=CURRENCY,
        )
        for one in user["payment_methods"].values()
    )
    for order_id in user["orders"]:
        _load_order(database["orders"][order_id], customer, now)


def _load_order(raw: Raw, customer: Customer, now: datetime) -> None:
    status = _STATUS[raw["status"]]
    order = Order.objects.create(
        number=raw["order_id"],
        customer=customer,
        status=status,
        shop_status=ITEMS_CHANGED if "modified" in raw["status"] else "",
        currency=CURRENCY,
        total=sum(minor(item["price"]) for item in raw["items"]),
        placed_at=now,
        paid_at=now,
        **raw["address"],
    )
    lines = [
        OrderLine.objects.create(
            order=order,
            variant_id=item["item_id"],
            item_id=item["item_id"],
            title=item["name"],
            price=minor(item["price"]),
            options=item["options"],
        )
        for item in raw["items"]
    ]
    Payment.objects.bulk_create(
        Payment(
            order=order,
            direction=entry["transaction_type"],
            amount=minor(entry["amount"]),
            method_id=entry["payment_method_id"],
            at=now,
        )
        for entry in raw["payment_history"]
    )
    for number, sent in enumerate(raw["fulfillments"], start=1):
        for tracking_id in sent["tracking_id"]:
            parcel = Parcel.objects.create(
                order=order,
                carrier_id=_CARRIER,
                fulfillment=number,
                tracking_number=tracking_id,
                status=_PARCEL.get(status, ParcelStatus.RETURNED),
            )
            parcel.lines.set(line for line in lines if line.item_id in sent["item_ids"])


# ---- back again


def photograph(user_id: str) -> dict[str, Any]:
    """The customer and their orders as the benchmark writes them."""
    customer = Customer.objects.get(id=user_id)
    orders = Order.objects.filter(customer=customer).order_by("id")
    return {
        "users": {user_id: _photographed_user(customer, orders)},
        "orders": {order.number: _photographed_order(order) for order in orders},
    }


def _photographed_user(customer: Customer, orders: Iterable[Order]) -> dict[str, Any]:
    address = Address.objects.get(customer=customer, is_default=True)
    return {
        "user_id": customer.id,
        "name": {
            "first_name": customer.given_name,
            "last_name": customer.family_name,
        },
        "address": {name: getattr(address, name) for name in _ADDRESS},
        "email": customer.email,
        "payment_methods": {
            one.id: _photographed_method(one) for one in customer.payment_methods.all()
        },
        "orders": [order.number for order in orders],
    }


def _photographed_method(method: PaymentMethod) -> dict[str, Any]:
    raw: dict[str, Any] = {"source": method.kind, "id": method.id}
    if method.brand:
        raw |= {"brand": method.brand, "last_four": method.last_four}
    if method.balance is not None:
        raw["balance"] = major(method.balance)
    return raw


def _photographed_order(order: Order) -> dict[str, Any]:
    lines = list(order.lines.order_by("id").select_related("variant"))
    raw: dict[str, Any] = {
        "order_id": order.number,
        "user_id": order.customer_id,
        "address": {name: getattr(order, name) for name in _ADDRESS},
        "items": [
            {
                "name": line.title,
                "product_id": line.variant.product_id if line.variant else "",
                "item_id": line.item_id,
                "price": major(line.price),
                "options": line.options,
            }
            for line in lines
        ],
        "status": _word(order),
        "fulfillments": _fulfillments(order),
        "payment_history": [
            {
                "transaction_type": str(PaymentDirection(row.direction)),
                "amount": major(row.amount),
                "payment_method_id": row.method_id,
            }
            for row in order.payments.order_by("id")
        ]
        + _nothing_to_pay(order),
    }
    if order.cancel_reason:
        raw["cancel_reason"] = order.cancel_reason
    return raw | _sent_back(order)


def _nothing_to_pay(order: Order) -> list[dict[str, Any]]:
    """The benchmark books a refund of nothing; the shop's ledger holds no such row."""
    return [
        {
            "transaction_type": "refund",
            "amount": 0.0,
            "payment_method_id": effect.details["payment_method"],
        }
        for effect in order.effects.filter(kind=ActionKind.CHANGE_ITEMS)
        if not effect.details["price_difference"]
    ]


def _word(order: Order) -> str:
    back = order.returns.first()
    if back is not None:
        return f"{back.kind} requested"
    if order.shop_status == ITEMS_CHANGED:
        return "pending (item modified)"
    words = {
        OrderStatus.PAID: "pending",
        OrderStatus.SHIPPED: "processed",
        OrderStatus.DELIVERED: "delivered",
        OrderStatus.CANCELLED: "cancelled",
    }
    return words[OrderStatus(order.status)]


def _fulfillments(order: Order) -> list[dict[str, Any]]:
    sent: dict[int, dict[str, Any]] = {}
    for parcel in order.parcels.order_by("id"):
        row = sent.setdefault(parcel.fulfillment, {"tracking_id": [], "item_ids": []})
        row["tracking_id"].append(parcel.tracking_number)
        row["item_ids"] = [line.item_id for line in parcel.lines.order_by("id")]
    return list(sent.values())


def _sent_back(order: Order) -> dict[str, Any]:
    back = order.returns.first()
    if back is None:
        return {}
    rows = list(back.lines.select_related("line", "wanted"))
    items = sorted(row.line.item_id for row in rows for _ in range(row.quantity))
    if back.kind == ReturnKind.RETURN:
        return {"return_items": items, "return_payment_method_id": back.method_id}
    return {
        "exchange_items": items,
        "exchange_new_items": sorted(
            row.wanted_id for row in rows if row.wanted_id is not None
        ),
        "exchange_payment_method_id": back.method_id,
        "exchange_price_difference": major(back.price_difference or 0),
    }


def minor(amount: float) -> int:
    """Cents of the benchmark's floating-point dollars."""
    return int((Decimal(str(amount)) * 100).to_integral_value())


def major(cents: int) -> float:
    return cents / 100


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Where two states part; numbers are equal to the cent."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return [
            line
            for key in sorted({*expected, *found}, key=str)
            for line in differences(
                expected.get(key), found.get(key), f"{path}.{key}".lstrip(".")
            )
        ]
    if _is_list(expected) and _is_list(found) and len(expected) == len(found):
        return [
            line
            for index, (one, other) in enumerate(zip(expected, found, strict=True))
            for line in differences(one, other, f"{path}[{index}]")
        ]
    if isinstance(expected, float | int) and isinstance(found, float | int):
        same = minor(expected) == minor(found)
    else:
        same = expected == found
    return [] if same else [f"{path}: expected {expected!r}, found {found!r}"]


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
