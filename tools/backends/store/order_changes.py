"""Cancelling an order, and where things are delivered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from tools.backends.base import Money
from tools.backends.changes import Choice, Preview
from tools.backends.store.ledger import balance_of, paid_less_refunded, refund
from tools.backends.store.models import Address, Order
from tools.backends.store.plans import (
    ITEMS_CHANGED,
    Arguments,
    Plan,
    Refusal,
    Request,
    must_be_open,
    titles_of,
)
from tools.contracts import ADDRESS_FIELDS, OrderStatus

_NEEDED = ("address1", "city", "zip", "country")
CANCEL_REASONS = ("no longer needed", "ordered by mistake")


def cancel(request: Request) -> Plan:
    order = request.of_order()
    must_be_open(order)
    if order.shop_status == ITEMS_CHANGED:
        raise Refusal("items_already_changed")
    reason = request.text("reason")
    if reason and reason not in CANCEL_REASONS:
        raise Refusal("reason_not_accepted")
    due = paid_less_refunded(order)

    def apply(now: datetime) -> Arguments:
        for method, amount in balance_of(order).items():
            refund(order, method, amount, now)
        order.status, order.cancelled_at = OrderStatus.CANCELLED, now
        order.cancel_reason = reason
        order.save(update_fields=["status", "cancelled_at", "cancel_reason"])
        return {"status": order.status}

    return Plan(
        Preview(
            eligible=True,
            missing=() if reason else ("reason",),
            subject=order.number_key,
            arguments={"order_id": order.number, "reason": reason},
            amount=Money(due, order.currency) if due else None,
            direction="refund" if due else "",
            items=titles_of(order.lines.all()),
            before={"status": order.status},
            after={"status": OrderStatus.CANCELLED},
            choices={"reason": [Choice(one, one) for one in CANCEL_REASONS]},
        ),
        apply,
    )


def _address_of(request: Request) -> tuple[dict[str, str], list[str]]:
    given = {name: request.text(name) for name in ADDRESS_FIELDS}
    return given, [name for name in _NEEDED if not given[name]]


def change_address(request: Request) -> Plan:
    order = request.of_order()
    must_be_open(order)
    given, missing = _address_of(request)
    after = {name: given[name] or "" for name in ADDRESS_FIELDS}
    for name in ("recipient", "phone"):
        after[name] = given[name] or getattr(order, name)

    def apply(now: datetime) -> Arguments:
        for name, value in after.items():
            setattr(order, name, value)
        order.save(update_fields=list(after))
        return {"city": order.city}

    return Plan(
        Preview(
            eligible=True,
            missing=missing,
            subject=order.number_key,
            arguments={"order_id": order.number, **after},
            before={"address": one_line(order)},
            after={} if missing else {"address": _one_line(after)},
        ),
        apply,
    )


def change_profile_address(request: Request) -> Plan:
    customer = request.customer
    given, missing = _address_of(request)
    now_default = Address.objects.filter(customer=customer, is_default=True).first()
    after = {name: given[name] or "" for name in ADDRESS_FIELDS}
    for name in ("recipient", "phone"):
        after[name] = given[name] or (getattr(now_default, name) if now_default else "")

    def apply(now: datetime) -> Arguments:
        Address.objects.update_or_create(
            customer=customer, is_default=True, defaults=after
        )
        return {"city": after["city"]}

    return Plan(
        Preview(
            eligible=True,
            missing=missing,
            subject=f"profile:{customer.id}",
            arguments=dict(after),
            before={"address": one_line(now_default)} if now_default else {},
            after={} if missing else {"address": _one_line(after)},
        ),
        apply,
    )


def one_line(address: Order | Address) -> str:
    return _one_line({name: getattr(address, name) for name in ADDRESS_FIELDS})


def _one_line(address: Mapping[str, str]) -> str:
    return ", ".join(address[name] for name in ADDRESS_FIELDS if address[name])
