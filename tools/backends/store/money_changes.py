"""Another way to pay, and money back."""

from __future__ import annotations

from datetime import datetime

from tools.backends.base import Money
from tools.backends.changes import Preview
from tools.backends.store.ledger import balance_of, paid_less_refunded, pay, refund
from tools.backends.store.plans import (
    NOT_PACKED,
    Arguments,
    Plan,
    Refusal,
    Request,
    methods_of,
    must_be_open,
    must_cover,
    titles_of,
)
from tools.contracts import OrderStatus


def change_payment(request: Request) -> Plan:
    order = request.of_order()
    must_be_open(order)
    movements = list(order.payments.all())
    if len(movements) != 1 or movements[0].method is None:
        raise Refusal("payment_not_changeable")
    old, amount = movements[0].method, movements[0].amount
    new = request.method()
    others = [one for one in methods_of(request.customer) if one.value != old.pk]
    if not others:
        raise Refusal("no_other_payment_method")
    if new is not None:
        if new.pk == old.pk:
            raise Refusal("same_payment_method")
        must_cover(new, amount)

    def apply(now: datetime) -> Arguments:
        if new is None:
            raise Refusal("no_such_payment_method")
        pay(order, new, amount, now)
        refund(order, old, amount, now)
        return {"payment_method": new.id}

    return Plan(
        Preview(
            eligible=True,
            missing=() if new else ("payment_method",),
            subject=order.number_key,
            arguments={
                "order_id": order.number,
                "payment_method": new.id if new else "",
            },
            amount=Money(amount, order.currency),
            direction="charge",
            before={"payment_method": str(old)},
            after={"payment_method": str(new)} if new else {},
            choices={"payment_method": others},
        ),
        apply,
    )


def request_refund(request: Request) -> Plan:
    order = request.of_order()
    due = paid_less_refunded(order)
    if not due:
        raise Refusal("nothing_to_refund")
    if OrderStatus(order.status) in NOT_PACKED:
        raise Refusal("cancel_instead")
    if request.text("currency") not in ("", order.currency):
        raise Refusal("other_currency")
    asked = _minor(request.text("amount"), default=due)
    if not 0 < asked <= due:
        raise Refusal("more_than_was_paid")

    def apply(now: datetime) -> Arguments:
        left = asked
        for method, amount in balance_of(order).items():
            part = min(left, amount)
            if part:
                refund(order, method, part, now)
                left -= part
        if asked == due:
            order.status = OrderStatus.REFUNDED
            order.save(update_fields=["status"])
        return {"refunded": asked}

    return Plan(
        Preview(
            eligible=True,
            subject=order.number_key,
            arguments={
                "order_id": order.number,
                "amount": f"{asked / 100:.2f}",
                "reason": request.text("reason"),
            },
            amount=Money(asked, order.currency),
            direction="refund",
            items=titles_of(order.lines.all()),
        ),
        apply,
    )


def _minor(text: str, *, default: int) -> int:
    """Minor units of an amount in the order's currency, two decimals at most."""
    if not text:
        return default
    whole, _, part = text.partition(".")
    if not (whole.isascii() and whole.isdigit() and len(part) <= 2):
        raise Refusal("amount_not_readable")
    if part and not (part.isascii() and part.isdigit()):
        raise Refusal("amount_not_readable")
    return int(whole) * 100 + int(part.ljust(2, "0") or 0)
