"""What a change of the embedded shop is worked out from, and what comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from tools.backends.changes import Choice, Preview
from tools.backends.store.models import (
    Customer,
    Order,
    OrderLine,
    PaymentKind,
    PaymentMethod,
)
from tools.contracts import Json, OrderStatus

# Until the warehouse has packed it, an order is only a row.
NOT_PACKED = frozenset({OrderStatus.UNPAID, OrderStatus.PAID})
ITEMS_CHANGED = "items changed"


class Refusal(Exception):
    """The shop's rules forbid it; ``reason`` is a code that has wording elsewhere."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Plan:
    """What a change would do, and how it is done."""

    preview: Preview
    apply: Callable[[datetime], Mapping[str, Json]]


Arguments: TypeAlias = Mapping[str, Json]


@dataclass(slots=True)
class Request:
    """Who asks for what; ``order`` is theirs, and locked where it will be written."""

    customer: Customer
    arguments: Arguments
    now: datetime
    order: Order | None = None
    missing: list[str] = field(default_factory=list)

    def of_order(self) -> Order:
        if self.order is None:
            raise Refusal("not_found")
        return self.order

    def text(self, name: str) -> str:
        value = self.arguments.get(name)
        return value.strip() if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        value = self.arguments.get(name)
        return [str(one) for one in value] if isinstance(value, list) else []

    def method(self) -> PaymentMethod | None:
        """The payment method that was named; only one of the customer's own counts."""
        wanted = self.text("payment_method")
        if not wanted:
            return None
        found = PaymentMethod.objects.filter(customer=self.customer, id=wanted).first()
        if found is None:
            raise Refusal("no_such_payment_method")
        return found


def must_be_open(order: Order) -> None:
    if OrderStatus(order.status) not in NOT_PACKED:
        raise Refusal(
            "already_cancelled"
            if order.status == OrderStatus.CANCELLED
            else "already_packed"
            if order.status == OrderStatus.PACKED
            else "already_shipped"
        )


def lines_of(order: Order, item_ids: Sequence[str]) -> list[OrderLine]:
    """A line for each item named, each line as often as it was bought."""
    left = Counter({line.pk: line.quantity for line in order.lines.all()})
    chosen = []
    for item_id in item_ids:
        line = next(
            (
                one
                for one in order.lines.order_by("id").select_related("variant")
                if one.item_id == item_id and left[one.pk]
            ),
            None,
        )
        if line is None:
            raise Refusal("no_such_item")
        left[line.pk] -= 1
        chosen.append(line)
    return chosen


def methods_of(
    customer: Customer, *, only: Callable[[PaymentMethod], bool] = lambda one: True
) -> list[Choice]:
    return [
        Choice(method.pk, str(method))
        for method in customer.payment_methods.order_by("id")
        if only(method)
    ]


def must_cover(method: PaymentMethod, amount: int) -> None:
    if method.kind == PaymentKind.GIFT_CARD and (method.balance or 0) < amount:
        raise Refusal("gift_card_balance_too_low")


def titles_of(lines: Iterable[OrderLine]) -> list[str]:
    return [line.title for line in lines]
