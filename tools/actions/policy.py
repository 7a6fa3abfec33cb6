"""Who must agree to a change: rows decide, this reads them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from tools.actions.models import ActionPolicy, ActionRequest
from tools.actions.states import OPEN, REPLACED
from tools.contracts import ActionKind, Approver

MAX_OPEN_PER_CUSTOMER = 3
# A customer's own confirmation is enough for these; money and goods need staff as well.
_BY_CUSTOMER = frozenset(
    {
        ActionKind.CHANGE_ADDRESS,
        ActionKind.CHANGE_PAYMENT,
        ActionKind.CHANGE_ITEMS,
        ActionKind.CHANGE_PROFILE_ADDRESS,
        ActionKind.RETURN_ITEMS,
        ActionKind.EXCHANGE_ITEMS,
        ActionKind.CANCEL_ORDER,
    }
)
_SUPERVISOR_ABOVE = 50_000
_TWO_PEOPLE_ABOVE = 200_000


def current_policy(kind: ActionKind) -> ActionPolicy:
    """The newest rules of a kind; the house's own where nobody has set any."""
    found = ActionPolicy.objects.filter(kind=kind).order_by("-version").first()
    return found or _first_policy(kind)


def _first_policy(kind: ActionKind) -> ActionPolicy:
    by_staff = kind not in _BY_CUSTOMER
    policy, _ = ActionPolicy.objects.get_or_create(
        kind=kind,
        version=1,
        defaults={
            "approver": Approver.STAFF if by_staff else Approver.CUSTOMER,
            "supervisor_above": _SUPERVISOR_ABOVE,
            "two_people_above": _TWO_PEOPLE_ABOVE,
            # Of no time in particular: it came with the product.
            "changed_at": datetime.fromisoformat("2026-12-01T00:00:00+00:00"),
        },
    )
    return policy


@transaction.atomic
def change_policy(
    kind: ActionKind, *, by: User, now: datetime, **changes: object
) -> ActionPolicy:
    """Add the next version of a kind's rules; requests made before keep their own."""
    before = current_policy(kind)
    after = ActionPolicy(
        kind=kind,
        version=before.version + 1,
        changed_by=by,
        changed_at=now,
        **{name: changes.get(name, getattr(before, name)) for name in CHANGEABLE},
    )
    after.full_clean()
    after.save(force_insert=True)
    return after


CHANGEABLE = (
    "enabled",
    "approver",
    "supervisor_above",
    "two_people_above",
    "max_amount",
    "max_per_customer_per_day",
    "valid_hours",
)


def refusal_of(
    policy: ActionPolicy, *, customer_id: str, amount: int | None, now: datetime
) -> str:
    """The code of the rule that a new request would break, or ""."""
    if not policy.enabled:
        return "not_offered"
    if policy.max_amount is not None and (amount or 0) > policy.max_amount:
        return "above_the_limit"
    own = ActionRequest.objects.filter(customer_id=customer_id)
    if own.filter(state__in=OPEN).count() >= MAX_OPEN_PER_CUSTOMER:
        return "too_many_open"
    today = own.filter(kind=policy.kind, created_at__gt=now - timedelta(days=1))
    if today.exclude(reason=REPLACED).count() >= policy.max_per_customer_per_day:
        return "too_many_today"
    return ""


def approvals_needed(policy: ActionPolicy, amount: int | None) -> int:
    """How many people of the staff must agree: none, one or two."""
    if _is_above(policy.two_people_above, amount):
        return 2
    if policy.approver == Approver.STAFF or _is_above(policy.supervisor_above, amount):
        return 1
    return 0


def needs_supervisor(policy: ActionPolicy, amount: int | None) -> bool:
    return _is_above(policy.supervisor_above, amount)


def _is_above(limit: int | None, amount: int | None) -> bool:
    return limit is not None and (amount or 0) > limit
