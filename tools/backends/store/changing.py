"""Making a change in the embedded shop: once per key, whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from tools.backends.changes import ChangeResult, Preview, Terms
from tools.backends.store.changes import plan
from tools.backends.store.models import Customer, Order, StoreEffect
from tools.backends.store.plans import Refusal, Request
from tools.contracts import ActionKind, Json, canonical_number
from tools.database import in_database
from tools.errors import ToolUnavailable


class StoreChanges:
    """The embedded shop, asked for changes."""

    async def preview(
        self, customer_id: str, kind: ActionKind, arguments: Mapping[str, Json]
    ) -> Preview:
        try:
            return await in_database(preview, customer_id, kind, arguments)
        except DatabaseError as error:
            raise ToolUnavailable(type(error).__name__) from error

    async def execute(
        self,
        customer_id: str,
        kind: ActionKind,
        arguments: Mapping[str, Json],
        *,
        key: str,
        agreed: Terms,
    ) -> ChangeResult:
        try:
            return await in_database(execute, customer_id, kind, arguments, key, agreed)
        except DatabaseError as error:
            raise ToolUnavailable(type(error).__name__) from error

    async def lookup(self, key: str) -> ChangeResult | None:
        try:
            return await in_database(lookup, key)
        except DatabaseError as error:
            raise ToolUnavailable(type(error).__name__) from error


def preview(
    customer_id: str, kind: ActionKind, arguments: Mapping[str, Json]
) -> Preview:
    """Whether the change may be made now; nothing is written."""
    customer = Customer.objects.filter(pk=customer_id).first()
    if customer is None:
        return Preview(eligible=False, reason="not_found")
    order = _order(customer, arguments, lock=False)
    request = Request(customer, arguments, timezone.now(), order)
    try:
        return plan(kind, request).preview
    except Refusal as refusal:
        subject = order.number_key if order else ""
        return Preview(eligible=False, reason=refusal.reason, subject=subject)


def execute(
    customer_id: str,
    kind: ActionKind,
    arguments: Mapping[str, Json],
    key: str,
    agreed: Terms,
) -> ChangeResult:
    """Make the change under the order's lock, with the row that remembers it."""
    if (known := lookup(key)) is not None:
        return known
    try:
        with transaction.atomic():
            return _make(customer_id, kind, arguments, key, agreed)
    except IntegrityError:
        # Somebody else's transaction with this key was first: its result is ours.
        if (known := lookup(key)) is not None:
            return known
        raise


def _make(
    customer_id: str,
    kind: ActionKind,
    arguments: Mapping[str, Json],
    key: str,
    agreed: Terms,
) -> ChangeResult:
    now = timezone.now()
    customer = Customer.objects.select_for_update().filter(pk=customer_id).first()
    if customer is None:
        return ChangeResult(False, "not_found")
    order = _order(customer, arguments, lock=True)
    try:
        made = plan(kind, Request(customer, arguments, now, order))
        if made.preview.missing:
            return ChangeResult(False, "incomplete")
        if made.preview.terms != agreed:
            return ChangeResult(False, "stale_approval")
        details = dict(made.apply(now))
    except Refusal as refusal:
        # Nothing was written yet: a plan refuses before it applies anything.
        return ChangeResult(False, refusal.reason)
    StoreEffect.objects.create(
        key=key,
        kind=kind,
        customer=customer,
        order=order,
        amount=made.preview.amount.minor if made.preview.amount else None,
        details=details,
        at=now,
    )
    return ChangeResult(True, details=details)


def lookup(key: str) -> ChangeResult | None:
    found = StoreEffect.objects.filter(key=key).first()
    return ChangeResult(True, details=found.details, repeated=True) if found else None


def _order(
    customer: Customer, arguments: Mapping[str, Json], *, lock: bool
) -> Order | None:
    number = arguments.get("order_id")
    if not isinstance(number, str):
        return None
    orders = Order.objects.filter(
        customer=customer, number_key=canonical_number(number)
    )
    return (orders.select_for_update() if lock else orders).first()
