"""The changes that the embedded shop makes, each under its own rules.

One function a kind works out a ``Plan``: the same code answers "can I?", fills the card
and, under the order's row lock, is the last check before anything is written. The rules
follow the public retail policy (tau2-bench, MIT); the refund is this shop's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from tools.backends.base import Money
from tools.backends.changes import Choice, Preview
from tools.backends.store.ledger import balance_of, paid_less_refunded, pay, refund
from tools.backends.store.models import (
    Address,
    Customer,
    Order,
    OrderLine,
    PaymentKind,
    PaymentMethod,
    Return,
    ReturnKind,
    ReturnLine,
    Variant,
)
from tools.contracts import ActionKind, Json, OrderStatus

ADDRESS_FIELDS = (
    "recipient",
    "phone",
    "address1",
    "address2",
    "city",
    "state",
    "zip",
    "country",
)
_NEEDED = ("address1", "city", "zip", "country")
CANCEL_REASONS = ("no longer needed", "ordered by mistake")
# Until the warehouse has packed it, an order is only a row.
_NOT_PACKED = frozenset({OrderStatus.UNPAID, OrderStatus.PAID})
RETURN_DAYS = 15
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


def plan(kind: ActionKind, request: Request) -> Plan:
    """The plan of a change, or ``Refusal``. Reads only."""
    return _PLANS[kind](request)


# ---- cancel


def _cancel(request: Request) -> Plan:
    order = request.of_order()
    _must_be_open(order)
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
            items=_titles(order.lines.all()),
            before={"status": order.status},
            after={"status": OrderStatus.CANCELLED},
            choices={"reason": [Choice(one, one) for one in CANCEL_REASONS]},
        ),
        apply,
    )


def _must_be_open(order: Order) -> None:
    if OrderStatus(order.status) not in _NOT_PACKED:
        raise Refusal(
            "already_cancelled"
            if order.status == OrderStatus.CANCELLED
            else "already_packed"
            if order.status == OrderStatus.PACKED
            else "already_shipped"
        )


# ---- addresses


def _address_of(request: Request) -> tuple[dict[str, str], list[str]]:
    given = {name: request.text(name) for name in ADDRESS_FIELDS}
    return given, [name for name in _NEEDED if not given[name]]


def _change_address(request: Request) -> Plan:
    order = request.of_order()
    _must_be_open(order)
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


def _change_profile_address(request: Request) -> Plan:
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


# ---- payment


def _change_payment(request: Request) -> Plan:
    order = request.of_order()
    _must_be_open(order)
    movements = list(order.payments.all())
    if len(movements) != 1 or movements[0].method is None:
        raise Refusal("payment_not_changeable")
    old, amount = movements[0].method, movements[0].amount
    new = request.method()
    if new is not None:
        if new.pk == old.pk:
            raise Refusal("same_payment_method")
        _must_cover(new, amount)

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
            choices={
                "payment_method": [
                    one for one in _methods(request.customer) if one.value != old.pk
                ]
            },
        ),
        apply,
    )


def _methods(customer: Customer) -> list[Choice]:
    return [
        Choice(method.pk, str(method))
        for method in customer.payment_methods.order_by("id")
    ]


def _must_cover(method: PaymentMethod, amount: int) -> None:
    if method.kind == PaymentKind.GIFT_CARD and (method.balance or 0) < amount:
        raise Refusal("gift_card_balance_too_low")


# ---- items


@dataclass(frozen=True, slots=True)
class _Swap:
    line: OrderLine
    wanted: Variant


def _swaps(request: Request, order: Order) -> list[_Swap]:
    """Which line becomes which variant: of the same product, in stock.

    An item may be named that stays as it is, beside others that change.
    """
    olds, news = _pairs(request)
    if not olds or len(olds) != len(news):
        return []
    lines = _lines_of(order, olds)
    found = Variant.objects.in_bulk(news)
    swaps = []
    for line, new in zip(lines, news, strict=True):
        wanted = found.get(new)
        if wanted is None or line.variant is None:
            raise Refusal("no_such_item")
        if wanted.product_id != line.variant.product_id:
            raise Refusal("another_product")
        if not wanted.available:
            raise Refusal("not_available")
        swaps.append(_Swap(line, wanted))
    return swaps


# Between an item and what it is to become, as it is picked on a card.
BECOMES = ">"


def _pairs(request: Request) -> tuple[list[str], list[str]]:
    """What is to become what: as two lists, or as pairs in one."""
    olds, news = request.texts("items"), request.texts("new_items")
    if not news and all(BECOMES in one for one in olds):
        pairs = [one.split(BECOMES, 1) for one in olds]
        return [old for old, _ in pairs], [new for _, new in pairs]
    return olds, news


def _swap_choices(order: Order) -> list[Choice]:
    """Every other variant in stock of what was bought."""
    return [
        Choice(
            f"{line.item_id}{BECOMES}{one.pk}",
            f"{line.title}: {_options(line.options)} → {_options(one.options)}",
        )
        for line in order.lines.order_by("id").select_related("variant")
        if line.variant is not None
        for one in Variant.objects.filter(
            product_id=line.variant.product_id, available=True
        ).order_by("id")
        if one.pk != line.item_id
    ]


def _lines_of(order: Order, item_ids: Sequence[str]) -> list[OrderLine]:
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


def _difference(swaps: Sequence[_Swap]) -> int:
    return sum(swap.wanted.price - swap.line.price for swap in swaps)


def _swap_preview(
    request: Request, order: Order, swaps: Sequence[_Swap], method: PaymentMethod | None
) -> Preview:
    difference = _difference(swaps)
    olds, news = _pairs(request)
    missing = ["items"] * (not swaps) + ["payment_method"] * (method is None)
    return Preview(
        eligible=True,
        missing=missing,
        subject=order.number_key,
        arguments={
            "order_id": order.number,
            "items": [*olds],
            "new_items": [*news],
            "payment_method": method.id if method else "",
        },
        amount=Money(abs(difference), order.currency) if difference else None,
        direction="charge" if difference > 0 else "refund" if difference else "",
        items=[swap.line.title for swap in swaps],
        before={f"{s.line.title} {s.line.pk}": _options(s.line.options) for s in swaps},
        after={
            f"{s.line.title} {s.line.pk}": _options(s.wanted.options) for s in swaps
        },
        choices={
            "items": _swap_choices(order),
            "payment_method": _methods(request.customer),
        },
    )


def _options(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in options.items())


def _change_items(request: Request) -> Plan:
    order = request.of_order()
    _must_be_open(order)
    if order.shop_status == ITEMS_CHANGED:
        raise Refusal("items_already_changed")
    swaps = _swaps(request, order)
    method, difference = request.method(), _difference(swaps)
    if method is not None and difference > 0:
        _must_cover(method, difference)

    def apply(now: datetime) -> Arguments:
        if method is None or not swaps:
            raise Refusal("no_such_item")
        if difference > 0:
            pay(order, method, difference, now)
        elif difference < 0:
            refund(order, method, -difference, now)
        for swap in swaps:
            _replace(swap)
        order.total += difference
        order.shop_status = ITEMS_CHANGED
        order.save(update_fields=["total", "shop_status"])
        return {"price_difference": difference, "payment_method": method.id}

    return Plan(_swap_preview(request, order, swaps, method), apply)


def _replace(swap: _Swap) -> None:
    """One piece of a line becomes the other variant; the rest of the line stays."""
    line, wanted = swap.line, swap.wanted
    if line.quantity > 1:
        OrderLine.objects.filter(pk=line.pk).update(quantity=line.quantity - 1)
        line = OrderLine(order=line.order, title=line.title, quantity=1)
    line.variant, line.item_id = wanted, wanted.id
    line.price, line.options = wanted.price, wanted.options
    line.save()


# ---- goods on their way back


def _must_be_returnable(order: Order, now: datetime) -> None:
    if order.status != OrderStatus.DELIVERED:
        raise Refusal(
            "already_returned"
            if order.status
            in (OrderStatus.RETURNING, OrderStatus.RETURNED, OrderStatus.REFUNDED)
            else "not_delivered"
        )
    if order.returns.exists():
        raise Refusal("already_returned")
    if order.delivered_at and now - order.delivered_at > timedelta(days=RETURN_DAYS):
        raise Refusal("return_window_over")


def _return_items(request: Request) -> Plan:
    order = request.of_order()
    _must_be_returnable(order, request.now)
    lines = _lines_of(order, request.texts("items"))
    method = request.method()
    if method is not None:
        paid_with = {p.method_id for p in order.payments.all()}
        if method.pk not in paid_with and method.kind != PaymentKind.GIFT_CARD:
            raise Refusal("refund_only_to_original_or_gift_card")
    amount = sum(line.price for line in lines)

    def apply(now: datetime) -> Arguments:
        if method is None or not lines:
            raise Refusal("no_such_item")
        _send_back(order, ReturnKind.RETURN, lines, method, now, request.text("reason"))
        return {"items": len(lines)}

    missing = ["items"] * (not lines) + ["payment_method"] * (method is None)
    return Plan(
        Preview(
            eligible=True,
            missing=missing,
            subject=order.number_key,
            arguments={
                "order_id": order.number,
                "items": list(request.texts("items")),
                "payment_method": method.id if method else "",
                "reason": request.text("reason"),
            },
            amount=Money(amount, order.currency) if amount else None,
            direction="refund" if amount else "",
            items=_titles(lines),
            before={"status": order.status},
            after={"status": OrderStatus.RETURNING},
            choices={
                "items": [
                    Choice(line.item_id, f"{line.title} {_options(line.options)}")
                    for line in order.lines.order_by("id")
                    for _ in range(line.quantity)
                ],
                "payment_method": _methods(request.customer),
            },
        ),
        apply,
    )


def _exchange_items(request: Request) -> Plan:
    order = request.of_order()
    _must_be_returnable(order, request.now)
    swaps = _swaps(request, order)
    method, difference = request.method(), _difference(swaps)
    if method is not None and difference > 0:
        _must_cover(method, difference)

    def apply(now: datetime) -> Arguments:
        if method is None or not swaps:
            raise Refusal("no_such_item")
        back = _send_back(
            order, ReturnKind.EXCHANGE, [s.line for s in swaps], method, now, ""
        )
        back.price_difference = difference
        back.save(update_fields=["price_difference"])
        for swap in swaps:
            back.lines.filter(line=swap.line).update(wanted=swap.wanted)
        return {"price_difference": difference}

    return Plan(_swap_preview(request, order, swaps, method), apply)


def _send_back(
    order: Order,
    kind: ReturnKind,
    lines: Sequence[OrderLine],
    method: PaymentMethod,
    now: datetime,
    reason: str,
) -> Return:
    back = Return.objects.create(
        order=order, kind=kind, reason=reason, method=method, requested_at=now
    )
    counted = Counter(line.pk for line in lines)
    ReturnLine.objects.bulk_create(
        ReturnLine(part_of=back, line_id=pk, quantity=count)
        for pk, count in counted.items()
    )
    order.status = OrderStatus.RETURNING
    order.save(update_fields=["status"])
    return back


# ---- money back


def _request_refund(request: Request) -> Plan:
    order = request.of_order()
    due = paid_less_refunded(order)
    if not due:
        raise Refusal("nothing_to_refund")
    if OrderStatus(order.status) in _NOT_PACKED:
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
            items=_titles(order.lines.all()),
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


def _titles(lines: Iterable[OrderLine]) -> list[str]:
    return [line.title for line in lines]


_PLANS: Mapping[ActionKind, Callable[[Request], Plan]] = {
    ActionKind.CANCEL_ORDER: _cancel,
    ActionKind.CHANGE_ADDRESS: _change_address,
    ActionKind.CHANGE_PAYMENT: _change_payment,
    ActionKind.CHANGE_ITEMS: _change_items,
    ActionKind.RETURN_ITEMS: _return_items,
    ActionKind.EXCHANGE_ITEMS: _exchange_items,
    ActionKind.REQUEST_REFUND: _request_refund,
    ActionKind.CHANGE_PROFILE_ADDRESS: _change_profile_address,
}
