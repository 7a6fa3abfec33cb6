"""Refunds of the embedded shop that a payment provider pays out and reports on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import DatabaseError

from tools.backends.store.models import Refund
from tools.contracts import RefundStatus
from tools.database import in_database
from tools.errors import NotFound, ToolUnavailable

# What the provider was told to pay out and has not reported on.
_ON_THEIR_WAY = (RefundStatus.APPROVED, RefundStatus.PROCESSING)


class StoreRefunds:
    async def settle_refund(self, number: str, *, at: datetime) -> bool:
        try:
            return await in_database(settle, number, at=at)
        except DatabaseError as error:
            raise ToolUnavailable(type(error).__name__) from error

    async def overdue_refunds(self, *, before: datetime) -> Sequence[str]:
        try:
            return await in_database(_overdue, before=before)
        except DatabaseError as error:
            raise ToolUnavailable(type(error).__name__) from error


def settle(number: str, *, at: datetime) -> bool:
    """One UPDATE from a state in which it was on its way: twice is once."""
    refunds = Refund.objects.filter(number=number)
    moved = refunds.filter(status__in=_ON_THEIR_WAY).update(
        status=RefundStatus.SETTLED, settled_at=at
    )
    if not moved and not refunds.filter(status=RefundStatus.SETTLED).exists():
        raise NotFound("no such refund on its way")
    return moved == 1


def _overdue(*, before: datetime) -> list[str]:
    late = Refund.objects.filter(status__in=_ON_THEIR_WAY, expected_at__lt=before)
    return list(late.order_by("expected_at").values_list("number", flat=True)[:50])
