"""Other items before an order is packed; returns and exchanges once it is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tools.backends.base import Money
from tools.backends.changes import Choice, Preview
from tools.backends.store.ledger import pay, refund
from tools.backends.store.models import (
    Order,
    OrderLine,
    PaymentKind,
    PaymentMethod,
    Return,
    ReturnKind,
    ReturnLine,
    Variant,
)
from tools.backends.store.plans import (
    ITEMS_CHANGED,
    Arguments,
    Plan,
    Refusal,
    Request,
    lines_of,
    methods_of,
    must_be_open,
    must_cover,
    titles_of,
)
from tools.contracts import OrderStatus

RETURN_DAYS = 15


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
    lines = lines_of(order, olds)
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


def _difference(swaps: Sequence[_Swap]) -> int:
    return sum(swap.wanted.price - swap.line.price for swap in swaps)


def _paid_swaps(
    request: Request, order: Order
) -> tuple[list[_Swap], PaymentMethod | None, int]:
    """The swaps, with what they cost more, and how that is paid where it was said."""
    swaps = _swaps(request, order)
    method, difference = request.method(), _difference(swaps)
    if method is not None and difference > 0:
        must_cover(method, difference)
    return swaps, method, difference


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
            "payment_method": methods_of(request.customer),
        },
    )


def _options(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in options.items())


def change_items(request: Request) -> Plan:
    order = request.of_order()
    must_be_open(order)
    if order.shop_status == ITEMS_CHANGED:
        raise Refusal("items_already_changed")
    swaps, method, difference = _paid_swaps(request, order)

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


def return_items(request: Request) -> Plan:
    order = request.of_order()
    _must_be_returnable(order, request.now)
    lines = lines_of(order, request.texts("items"))
    method, takes_back = request.method(), _takes_refund_of(order)
    if method is not None and not takes_back(method):
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
            items=titles_of(lines),
            before={"status": order.status},
            after={"status": OrderStatus.RETURNING},
            choices={
                "items": [
                    Choice(line.item_id, f"{line.title} {_options(line.options)}")
                    for line in order.lines.order_by("id")
                    for _ in range(line.quantity)
                ],
                "payment_method": methods_of(request.customer, only=takes_back),
            },
        ),
        apply,
    )


def _takes_refund_of(order: Order) -> Callable[[PaymentMethod], bool]:
    """Whether money for this order may go to a method: how it was paid, or a card."""
    paid_with = {payment.method_id for payment in order.payments.all()}
    return lambda one: one.pk in paid_with or one.kind == PaymentKind.GIFT_CARD


def exchange_items(request: Request) -> Plan:
    order = request.of_order()
    _must_be_returnable(order, request.now)
    swaps, method, difference = _paid_swaps(request, order)

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
