"""Visitors who are not signed in: a user that nobody can log in as, bound to a session.

To Django they are nobody: no page but the chat's own knows them, and signing in leaves
them and their conversations behind. See docs/decisions on guests.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum

from chatbot.accounts import tries
from chatbot.accounts.digests import address_digest
from chatbot.accounts.models import Guest, OrderProof
from chatbot.assistant.wiring import can_prove_orders
from chatbot.chat.lookups import record_lock
from chatbot.chat.models import Account, Conversation, Message, Run, Speaker
from chatbot.chat.privacy import delete_conversations
from chatbot.react import guests as rules
from chatbot.react.types import Background
from chatbot.react.types import Guest as Visitor
from chatbot.understanding.needs import Question
from tools.contracts import Role, canonical_number

# Where a session says which visitor it is. Django's own key says who has logged in.
SESSION_KEY = "guest"
# Each that comes makes room: so many that nothing keeps are deleted before.
FORGOTTEN_AT_ONCE = 20
_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_WEEK = timedelta(days=7)


class TooMany(Exception):
    """An address has sent as many visitors, or they as many messages, as it may."""


# ---- who they are


def begin(
    session: SessionBase,
    *,
    address: str,
    language: str,
    time_zone: str,
    now: datetime,
) -> Account:
    """Make this session a visitor's; ``TooMany`` from one address within an hour."""
    forget_guests(now=now, limit=FORGOTTEN_AT_ONCE)
    known = address_key(address)
    lately = Guest.objects.filter(address=known, created_at__gt=now - _HOUR)
    if lately.count() >= settings.GUEST_NEW_PER_HOUR:
        raise TooMany
    with transaction.atomic():
        user = get_user_model()(username=f"guest-{uuid4().hex[:12]}")
        user.set_unusable_password()
        user.save()
        Guest.objects.create(user=user, address=known, created_at=now)
        account = Account.objects.create(
            user=user, role=Role.GUEST, language=language, time_zone=time_zone
        )
    # A session that somebody else may have handed out is not the visitor's.
    session.cycle_key()
    session[SESSION_KEY] = user.pk
    return account


def account_of(session: SessionBase) -> Account | None:
    """The visitor of this session, if it has one."""
    user_id = session.get(SESSION_KEY)
    if user_id is None or not settings.GUEST_CHAT:
        return None
    guests = Account.objects.select_related("user").filter(role=Role.GUEST)
    return guests.filter(user_id=user_id, user__is_active=True).first()


def address_key(address: str) -> str:
    return address_digest("visitor address", address)


def note_address(user_id: int, address: str) -> None:
    """Remember where a visitor is now: limits of an address go with them."""
    known = address_key(address)
    Guest.objects.filter(user_id=user_id).exclude(address=known).update(address=known)


def guest_of(account_id: int) -> Guest:
    return Guest.objects.get(user__account=account_id)


# ---- what they may


def can_verify() -> bool:
    """Whether a code can reach anybody: the shop tells contacts, and mail is sent."""
    mails = bool(settings.EMAIL_HOST) or settings.ENVIRONMENT == "demo"
    return mails and can_prove_orders()


def verified_orders(account_id: int, *, now: datetime) -> tuple[str, ...]:
    """The orders that this visitor has proved and may still look at, as written."""
    proofs = OrderProof.objects.filter(
        user__account=account_id, verified_until__gt=now
    ).order_by("pk")
    orders = {proof.order_key: proof.order for proof in proofs}
    return tuple(orders.values())


def as_guest(background: Background, account_id: int, *, now: datetime) -> Background:
    """What a run starts from, with what its visitor has proved."""
    verified = verified_orders(account_id, now=now)
    return replace(
        background,
        guest=Visitor(verified, can_verify()),
        known_numbers=background.known_numbers | set(map(canonical_number, verified)),
    )


# ---- limits that hold for an address


@dataclass(frozen=True, slots=True)
class Standing:
    """What a visitor's run begins with: is anything left to spend, and until when is
    nothing looked up that they have not proved."""

    has_spent_too_much: bool
    locked_until: datetime | None


def standing_of(account_id: int, *, now: datetime) -> Standing:
    guest = guest_of(account_id)
    locked_until = tries.locked_until(tries.keys_of(guest), now=now)
    return Standing(_has_spent_too_much(guest, now), locked_until)


def _has_spent_too_much(guest: Guest, now: datetime) -> bool:
    """Whether this visitor's tokens of today (UTC), or those of all visitors from their
    address, are used up. Runs that go on count when they end."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    runs = Run.objects.filter(created_at__gte=midnight)
    own = runs.filter(conversation__account__user=guest.pk)
    near = runs.filter(conversation__account__user__guest__address=guest.address)
    return any(
        limit and _tokens(part) >= limit
        for part, limit in (
            (own, settings.BUDGET_GUEST_TOKENS),
            (near, settings.BUDGET_ADDRESS_TOKENS),
        )
    )


def _tokens(runs: QuerySet[Run]) -> int:
    found = runs.aggregate(used=Sum(F("prompt_tokens") + F("completion_tokens")))
    return found["used"] or 0


def is_too_fast(account_id: int, *, now: datetime) -> bool:
    """Whether all visitors of this one's address have said enough for a minute."""
    address = guest_of(account_id).address
    lately = Message.objects.filter(
        conversation__account__user__guest__address=address,
        speaker=Speaker.CUSTOMER,
        created_at__gt=now - _MINUTE,
    )
    return lately.count() >= settings.GUEST_ADDRESS_MESSAGES_PER_MINUTE


# ---- numbers that were not proved


def note_guesses(
    question: Question,
    background: Background,
    *,
    account_id: int,
    conversation_id: UUID,
    now: datetime,
) -> None:
    """Count the numbers that a visitor named without proof; see ``note_numbers``."""
    guest = background.guest
    numbers = rules.guesses_of(question, guest) if guest else frozenset()
    if numbers:
        note_numbers(
            numbers, account_id=account_id, conversation_id=conversation_id, now=now
        )


@transaction.atomic
def note_numbers(
    numbers: Collection[str], *, account_id: int, conversation_id: UUID, now: datetime
) -> None:
    """Count canonical numbers that lead a visitor nowhere; a lock is audited.

    What they read is the same before and after it.
    """
    # The audit's chain of a conversation grows under its row lock.
    Conversation.objects.select_for_update(no_key=True).get(pk=conversation_id)
    subjects = [tries.number_subject(number) for number in numbers]
    keys = tries.keys_of(guest_of(account_id))
    if tries.note_failures(keys, subjects, now):
        record_lock(account_id, conversation_id, now)


# ---- the end


def forget_guests(*, now: datetime, limit: int = 100) -> int:
    """Delete visitors, with their conversations, whom nothing keeps any longer.

    Those who never wrote go after a day, all others ``GUEST_KEEP_DAYS`` after their
    conversation moved last. What they tried goes when it no longer counts, and what
    they typed of an order once no code for it can come any more.
    """
    tries.forget(now)
    late = OrderProof.objects.filter(expires_at__lt=now).exclude(contact="")
    late.update(contact="")
    old = now - timedelta(days=settings.GUEST_KEEP_DAYS)
    guests = Guest.objects.order_by("created_at")
    # Not all of them: those of long ago are gone, or wrote something.
    lately = (now - _WEEK, now - timedelta(days=1))
    silent = guests.filter(created_at__range=lately).exclude(
        user__account__conversations__last_seq__gt=0
    )
    stale = guests.filter(created_at__lt=old).exclude(
        user__account__conversations__updated_at__gte=old
    )
    gone = {*silent.values_list("pk", flat=True)[:limit]}
    gone |= {*stale.values_list("pk", flat=True)[:limit]}
    return _delete(gone)


@transaction.atomic
def _delete(user_ids: Collection[int]) -> int:
    """Delete these visitors, but for those whom another process is deleting."""
    free = Guest.objects.select_for_update(skip_locked=True).order_by("pk")
    ids = list(free.filter(pk__in=user_ids).values_list("pk", flat=True))
    delete_conversations(Q(account__user__in=ids))
    get_user_model().objects.filter(pk__in=ids).delete()
    return len(ids)
