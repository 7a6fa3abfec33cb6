"""What orders of the demo shop cost, and the money that went to and fro for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from tools.backends.store.models import (
    Order,
    OrderLine,
    Payment,
    PaymentDirection,
    PaymentMethod,
    Refund,
    Return,
    ReturnKind,
    ReturnLine,
    TrackingEvent,
)
from tools.backends.store.seeding.places import Town
from tools.backends.store.seeding.rows import Rows
from tools.backends.store.seeding.stories import Story
from tools.contracts import ParcelStatus, RefundStatus

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
# Days until a bank shows a refund, the longest that "refund-times" names (its working
# days counted as days of the week).
_REFUND_DAYS = {
    "alipay": 5, "wechat_pay": 5, "paypal": 7, "credit_card": 14, "gift_card": 1,
}  # fmt: skip


def shipping_fee(town: Town, goods_total: int) -> int:
    """In fen, as the help article "shipping-fees" has it."""
    if town.abroad:
        fee, free_from = 120_00, 999_00
    elif town.state in ("西藏", "新疆", "青海", "内蒙古"):
        fee, free_from = 15_00, 199_00
    else:
        fee, free_from = 8_00, 99_00
    return 0 if goods_total >= free_from else fee


def move_money(
    rows: Rows,
    order: Order,
    story: Story,
    method: PaymentMethod,
    lines: Sequence[OrderLine],
    *,
    today: datetime,
) -> None:
    """The ledger of a paid order, and its refund and return where the story has one."""
    rows.payments.append(
        Payment(
            order=order, direction=PaymentDirection.PAYMENT,
            amount=order.total, method=method, at=order.paid_at or order.placed_at,
        )
    )  # fmt: skip
    if story.refund is None:
        return
    asked_at = _asked_at(rows, order)
    if story.returned:
        _send_back(rows, order, story, method, lines, asked_at)
    _refund(rows, order, story, method, asked_at, today)


def _asked_at(rows: Rows, order: Order) -> datetime:
    """Once it was cancelled, or half an hour after the last that was heard of it."""
    if order.cancelled_at:
        return order.cancelled_at
    return max(event.at for event in _events(rows, order)) + 30 * MINUTE


def _events(rows: Rows, order: Order) -> list[TrackingEvent]:
    return [event for event in rows.events if event.parcel.order is order]


def _send_back(
    rows: Rows,
    order: Order,
    story: Story,
    method: PaymentMethod,
    lines: Sequence[OrderLine],
    asked_at: datetime,
) -> None:
    back = {event.status: event.at for event in _events(rows, order)}
    sent_back = Return(
        order=order,
        kind=ReturnKind.RETURN,
        method=method,
        reason=story.reason,
        requested_at=back.get(ParcelStatus.RETURNING, asked_at),
        received_at=back.get(ParcelStatus.RETURNED),
    )
    rows.returns.append(sent_back)
    rows.return_lines += [
        ReturnLine(part_of=sent_back, line=line, quantity=line.quantity)
        for line in lines
    ]


def _refund(
    rows: Rows,
    order: Order,
    story: Story,
    method: PaymentMethod,
    asked_at: datetime,
    today: datetime,
) -> None:
    amount = order.total * story.share // 100
    under_way = story.refund in (RefundStatus.APPROVED, RefundStatus.PROCESSING)
    settled_at = (
        asked_at + 15 * MINUTE if story.refund is RefundStatus.SETTLED else None
    )
    rows.refunds.append(
        Refund(
            number=f"R-{order.number.removeprefix('O-')}",
            order=order,
            status=story.refund or "",
            amount=amount,
            method=method,
            requested_at=asked_at,
            settled_at=settled_at,
            expected_at=today + _REFUND_DAYS[method.kind] * DAY if under_way else None,
        )
    )
    if settled_at is not None:
        rows.payments.append(
            Payment(
                order=order, direction=PaymentDirection.REFUND,
                amount=amount, method=method, at=settled_at,
            )
        )  # fmt: skip
