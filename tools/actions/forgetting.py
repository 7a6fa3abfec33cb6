"""What is left of a request once its customer is forgotten: that it was, and a hash."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from tools.actions.models import ActionRequest, Approval
from tools.actions.requests import RequestRefused
from tools.actions.states import OPEN
from tools.contracts import Json

# Stands for the id of whoever was forgotten, the same for all.
FORGOTTEN = "(forgotten)"


def requests_of(customer_id: str) -> list[dict[str, Json]]:
    """A customer's requests, the oldest first."""
    return [
        {
            "at": request.created_at.isoformat(),
            "kind": request.kind,
            "subject": request.subject,
            "state": request.state,
            "arguments": request.arguments,
        }
        for request in ActionRequest.objects.filter(customer_id=customer_id).order_by(
            "created_at"
        )
    ]


def forget_customer(customer_id: str) -> int:
    """Empty a customer's requests and take their name off; how many those were.

    ``RequestRefused`` ("still_open") while one may still come to an effect.
    """
    own = ActionRequest.objects.filter(customer_id=customer_id)
    if own.filter(state__in=sorted(OPEN)).exists():
        raise RequestRefused("still_open")
    _empty(own)
    return own.update(customer_id=FORGOTTEN)


def forget_before(before: datetime) -> int:
    """Empty all requests that ended before; their states and hashes stay."""
    ended = ActionRequest.objects.filter(ended_at__lt=before)
    return _empty(ended.exclude(arguments={}, preview={}, outcome={}))


def _empty(requests: QuerySet[ActionRequest]) -> int:
    Approval.objects.filter(request__in=requests).update(reason="")
    return requests.update(arguments={}, preview={}, outcome={})
