"""What only a person can close: outcomes that nobody knows, deliveries given up."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from chatbot.workflow import outbox
from chatbot.workflow.audit import record_audit
from chatbot.workflow.facts import announce, chain_of
from chatbot.workflow.services import NotPossible
from tools import gateway
from tools.models import ActionRequest


@transaction.atomic
def requeue_unknown(
    request_id: UUID, *, by: User, reason: str, now: datetime
) -> ActionRequest:
    """Look the outcome up again, and execute under the same key if nothing was done."""
    return _close_unknown(request_id, by=by, reason=reason, now=now, again=True)


@transaction.atomic
def resolve_unknown(
    request_id: UUID, *, by: User, reason: str, now: datetime
) -> ActionRequest:
    """Close it by hand: somebody has looked into the shop's own books."""
    return _close_unknown(request_id, by=by, reason=reason, now=now, again=False)


def _close_unknown(
    request_id: UUID, *, by: User, reason: str, now: datetime, again: bool
) -> ActionRequest:
    if not reason.strip():
        raise NotPossible("reason_required")
    move = gateway.requeue_request if again else gateway.resolve_request
    request = move(request_id, now=now)
    record_audit(
        "action.requeued" if again else "action.resolved_by_staff",
        chain=chain_of(request),
        actor=by.get_username(),
        ids={"request": str(request.pk), "reason": reason.strip()[:400]},
        now=now,
    )
    announce(request, actor=by.get_username(), now=now)
    return request


@transaction.atomic
def close_delivery(
    delivery_id: int, *, by: User, reason: str, again: bool, now: datetime
) -> bool:
    """Offer a dead delivery again, or close it by hand; False if it is not dead."""
    if not reason.strip():
        raise NotPossible("reason_required")
    close = outbox.requeue if again else outbox.resolve
    closed = close(delivery_id, reason=reason.strip()[:400], now=now)
    if closed:
        record_audit(
            "delivery.requeued" if again else "delivery.resolved",
            chain="deliveries",
            actor=by.get_username(),
            ids={"delivery": delivery_id, "reason": reason.strip()[:400]},
            now=now,
        )
    return closed
