"""The demo shop's orders as rows in the making."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.backends.store.models import (
    Order,
    OrderLine,
    Parcel,
    Payment,
    Refund,
    Return,
    ReturnLine,
    TrackingEvent,
)


@dataclass(slots=True)
class Rows:
    """Gathered one by one, saved table by table."""

    orders: list[Order] = field(default_factory=list)
    lines: list[OrderLine] = field(default_factory=list)
    parcels: list[tuple[Parcel, Sequence[OrderLine]]] = field(default_factory=list)
    events: list[TrackingEvent] = field(default_factory=list)
    payments: list[Payment] = field(default_factory=list)
    refunds: list[Refund] = field(default_factory=list)
    returns: list[Return] = field(default_factory=list)
    return_lines: list[ReturnLine] = field(default_factory=list)

    def save(self) -> int:
        Order.objects.bulk_create(self.orders)
        OrderLine.objects.bulk_create(self.lines)
        Parcel.objects.bulk_create(parcel for parcel, _ in self.parcels)
        inside = Parcel.lines.through
        inside.objects.bulk_create(
            inside(parcel_id=parcel.pk, orderline_id=line.pk)
            for parcel, lines in self.parcels
            for line in lines
        )
        TrackingEvent.objects.bulk_create(self.events)
        Payment.objects.bulk_create(self.payments)
        Refund.objects.bulk_create(self.refunds)
        Return.objects.bulk_create(self.returns)
        ReturnLine.objects.bulk_create(self.return_lines)
        return len(self.orders)
