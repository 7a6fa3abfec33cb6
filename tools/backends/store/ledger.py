"""Money of an order: every movement is a row, and no more goes back than came in."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F

from tools.backends.store.models import (
    Order,
    Payment,
    PaymentDirection,
    PaymentKind,
    PaymentMethod,
    Refund,
)
from tools.contracts import RefundStatus

# A card or wallet takes this long; a gift card has its money at once.
REFUND_TAKES = timedelta(days=7)


def paid_less_refunded(order: Order) -> int:
    return sum(
        row.amount if row.direction == PaymentDirection.PAYMENT else -row.amount
        for row in order.payments.all()
    )


def balance_of(order: Order) -> dict[PaymentMethod, int]:
    """What each payment method still has in the order, in the order they paid."""
    balance: dict[PaymentMethod, int] = {}
    for row in order.payments.select_related("method").order_by("id"):
        if row.method is not None:
            sign = 1 if row.direction == PaymentDirection.PAYMENT else -1
            balance[row.method] = balance.get(row.method, 0) + sign * row.amount
    return {method: amount for method, amount in balance.items() if amount > 0}


def pay(order: Order, method: PaymentMethod, amount: int, now: datetime) -> None:
    """Book a payment; a gift card's balance goes down with it."""
    _book(order, PaymentDirection.PAYMENT, method, amount, now)
    if method.kind == PaymentKind.GIFT_CARD:
        _add_to_card(method, -amount)


def refund(order: Order, method: PaymentMethod, amount: int, now: datetime) -> None:
    """Book a refund and start it on its way; a gift card gets it at once."""
    _book(order, PaymentDirection.REFUND, method, amount, now)
    at_once = method.kind == PaymentKind.GIFT_CARD
    if at_once:
        _add_to_card(method, amount)
    Refund.objects.create(
        number=f"R-{order.number_key}-{order.refunds.count() + 1}",
        order=order,
        status=RefundStatus.SETTLED if at_once else RefundStatus.PROCESSING,
        amount=amount,
        method=method,
        requested_at=now,
        settled_at=now if at_once else None,
        expected_at=None if at_once else now + REFUND_TAKES,
    )


def _book(
    order: Order,
    direction: PaymentDirection,
    method: PaymentMethod,
    amount: int,
    now: datetime,
) -> None:
    Payment.objects.create(
        order=order, direction=direction, amount=amount, method=method, at=now
    )


def _add_to_card(method: PaymentMethod, amount: int) -> None:
    # In the database, so that two orders paid from one card can't both see the old sum;
    # a constraint keeps it from falling below nothing.
    PaymentMethod.objects.filter(pk=method.pk).update(balance=F("balance") + amount)
