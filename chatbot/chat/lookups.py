"""Numbers that lead nowhere: after a few of them, no new one is looked up for a while.

The customer reads what they would read of any number that is not theirs: whoever tries
out numbers learns nothing more, not even that they were noticed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from chatbot.accounts import tries
from chatbot.chat.models import Account, Conversation, Step
from chatbot.workflow.audit import record_audit
from tools.contracts import (
    Json,
    Observation,
    ObservationStatus,
    ToolCall,
    canonical_number,
)

# The reads that take a number, with what the gateway says of one that leads nowhere,
# and whose word that is.
_MISSING = {
    "get_order": ("no such order of this customer", "shop"),
    "get_refund": ("no such order of this customer", "shop"),
    "track_shipment": ("no such parcel of this customer", "carrier"),
}


def is_guess(call: ToolCall, known: Collection[str]) -> bool:
    """Whether a read is about a number that no observation has brought so far."""
    if call.name not in _MISSING:
        return False
    return not numbers_in(call.arguments) <= frozenset(known)


def numbers_in(arguments: Mapping[str, Json]) -> frozenset[str]:
    """The canonical numbers that a read names."""
    values = (value for value in arguments.values() if isinstance(value, str))
    return frozenset(map(canonical_number, values))


def not_found(call: ToolCall, observation_id: str) -> Observation:
    """What the gateway observes where there is no such thing, or it is not theirs."""
    message, source = _MISSING[call.name]
    return Observation(
        id=observation_id,
        call_id=call.id,
        tool=call.name,
        arguments=call.arguments,
        status=ObservationStatus.NOT_FOUND,
        fields={},
        observed_at=datetime.now(UTC),
        source=source,
        message=message,
        retryable=False,
        duration_ms=0,
        attempts=1,
    )


def note_address(account: Account, address: str) -> None:
    """Remember by its digest where a customer is now; written only where it changed."""
    if account.address != address:
        Account.objects.filter(pk=account.pk).update(address=address)


@transaction.atomic
def forget_addresses(*, now: datetime) -> None:
    """Where customers came from is kept for a day after they were here."""
    stale = Account.objects.filter(seen_at__lt=now - timedelta(days=1))
    free = stale.exclude(address="").select_for_update(no_key=True, skip_locked=True)
    gone = list(free.order_by("pk").values_list("pk", flat=True))
    Account.objects.filter(pk__in=gone).update(address="")


@transaction.atomic
def note_failure(
    numbers: Collection[str], *, account_id: int, conversation_id: UUID, now: datetime
) -> datetime | None:
    """Count a failed lookup of a customer, for them and, by its canonical ``numbers``,
    for their address; lock whichever has too many.

    Gives the end of the lock. Failures from before an earlier lock's end are paid for.
    """
    # The audit's chain of a conversation grows under its row lock.
    Conversation.objects.select_for_update(no_key=True).get(pk=conversation_id)
    account = Account.objects.select_for_update(no_key=True).get(pk=account_id)
    own, is_new = _own_lock(account, now)
    # Visitors who are not signed in are counted for the same address.
    keys = [account.address] if account.address else []
    subjects = map(tries.number_subject, numbers)
    is_new |= tries.note_failures(keys, [*subjects], now)
    if is_new:
        record_lock(account_id, conversation_id, now)
    ends = [own, tries.locked_until(keys, now=now)]
    return max((end for end in ends if end is not None), default=None)


def _own_lock(account: Account, now: datetime) -> tuple[datetime | None, bool]:
    """The end of the customer's own lock, and whether it begins now."""
    since = now - timedelta(seconds=settings.CHAT_LOOKUP_WINDOW_SECONDS)
    if account.lookups_locked_until is not None:
        since = max(since, account.lookups_locked_until)
    failures = Step.objects.filter(
        conversation__account=account,
        kind="observed",
        status=ObservationStatus.NOT_FOUND,
        tool__in=list(_MISSING),
        created_at__gt=since,
    )
    if failures.count() < settings.CHAT_LOOKUP_FAILURES:
        return None, False
    until = now + timedelta(seconds=settings.CHAT_LOOKUP_LOCK_SECONDS)
    Account.objects.filter(pk=account.pk).update(lookups_locked_until=until)
    return until, True


def record_lock(account_id: int, conversation_id: UUID, now: datetime) -> None:
    """Note in the audit that somebody's lookups were locked, under the row lock."""
    record_audit(
        "lookup_lock",
        chain=str(conversation_id),
        actor="system",
        ids={"account": account_id},
        now=now,
    )
