"""What the payment provider reports of refunds, and reports that do not come."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from chatbot.workflow.outbox import raise_alert, record_event
from tools import gateway
from tools.database import in_database

# How long after its day a refund that nobody reported is looked at by a person.
REPORT_LATE = timedelta(days=1)


@transaction.atomic
def refund_settled(refund: str, *, settled_at: datetime, now: datetime) -> None:
    """Store that the provider has paid out a refund: one event however often told."""
    record_event(
        "refund.settled",
        key=f"refund.settled:{refund}",
        now=now,
        ids={"refund": refund, "settled_at": settled_at.isoformat()},
    )


async def settle_refund(refund: str, *, at: datetime) -> bool:
    return await gateway.settle_refund(refund, at=at)


async def look_for_overdue() -> None:
    """Raise an alert for each refund whose report was lost, once."""
    now = timezone.now()
    for refund in await gateway.overdue_refunds(before=now - REPORT_LATE):
        await in_database(
            raise_alert,
            "refund_overdue",
            key=f"refund_overdue:{refund}",
            text="The payment provider has not reported this refund: ask there",
            ids={"refund": refund},
            now=now,
        )
