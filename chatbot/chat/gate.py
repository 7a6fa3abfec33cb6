"""Who may open a socket, and whether they still may."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import ParamSpec, TypeVar
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user, get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import get_language_from_request

from chatbot.chat import guests, lookups
from chatbot.chat.models import Account, Conversation, Run, RunPhase
from chatbot.chat.problems import Forbidden, NotSignedIn
from chatbot.understanding.needs import Language
from chatbot.workflow.audit import record_audit
from tools.contracts import Role
from tools.prepared import Place, Select

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

SEEN_EVERY = timedelta(seconds=10)
_IN_DATABASE = "django.contrib.sessions.backends.db"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who is at a socket. ``credential`` changes with the person's password."""

    session_key: str
    user_id: int
    account_id: int
    credential: str
    is_guest: bool = False

    @property
    def role(self) -> Role:
        return Role.GUEST if self.is_guest else Role.CUSTOMER


@dataclass(frozen=True, slots=True)
class Admitted:
    visitor: Visitor
    last_seq: int
    run: Mapping[str, str] | None


def admit(session_key: str, conversation_id: UUID, *, address: str = "") -> Admitted:
    """Let a customer, or a visitor of this session, in to their own conversation.

    ``NotSignedIn`` without a living session; ``Forbidden``, noted in the audit, for a
    conversation that is somebody else's or that there is not.
    """
    user, role = _user_of(session_key)
    if user is None:
        raise NotSignedIn
    account = Account.objects.filter(user_id=user.pk, role=role).first()
    own = Conversation.objects.filter(pk=conversation_id, account=account)
    last_seq = own.values_list("last_seq", flat=True).first() if account else None
    if account is None or last_seq is None:
        _note_refusal(user, conversation_id)
        raise Forbidden
    run = Run.objects.filter(conversation_id=conversation_id)
    active = run.exclude(phase=RunPhase.STOPPED).values("id", "phase").first()
    is_guest = role is Role.GUEST
    if is_guest:
        guests.note_address(user.pk, address)
    elif address:
        lookups.note_address(account, guests.address_key(address))
    return Admitted(
        visitor=Visitor(session_key, user.pk, account.pk, user.password, is_guest),
        last_seq=last_seq,
        run={"id": str(active["id"]), "phase": active["phase"]} if active else None,
    )


def as_visitor(
    visitor: Visitor, service: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call a service for a visitor who is still who they were.

    ``NotSignedIn`` once they have logged out, were disabled or lost their role.
    """
    if not (_is_unchanged(visitor) or _is_signed_in(visitor)):
        raise NotSignedIn
    return service(*args, **kwargs)


def still_signed_in(visitors: Collection[Visitor]) -> set[Visitor]:
    """Those whose session is alive, in two statements however many they are."""
    if settings.SESSION_ENGINE != _IN_DATABASE:
        return {visitor for visitor in visitors if _is_signed_in(visitor)}
    alive = set(
        Session.objects.filter(
            session_key__in={visitor.session_key for visitor in visitors},
            expire_date__gt=timezone.now(),
        ).values_list("session_key", flat=True)
    )
    users = {
        (pk, role): password
        for pk, role, password in get_user_model()
        .objects.filter(
            pk__in={visitor.user_id for visitor in visitors}, is_active=True
        )
        .values_list("pk", "account__role", "password")
    }
    return {
        visitor
        for visitor in visitors
        if visitor.session_key in alive
        and (visitor.user_id, visitor.role) in users
        # A new password ends other sessions, but not the one that it was set in.
        and (
            users[visitor.user_id, visitor.role] == visitor.credential
            or _is_signed_in(visitor)
        )
    }


def _is_unchanged(visitor: Visitor) -> bool:
    """The quick look, in one statement; a no needs a closer one."""
    if settings.SESSION_ENGINE != _IN_DATABASE:
        return False
    found = _SAME.first(
        session=visitor.session_key,
        now=timezone.now(),
        user=visitor.user_id,
        credential=visitor.credential,
        role=visitor.role,
    )
    return found is not None


_SAME = Select(
    lambda: (
        get_user_model()
        .objects.filter(
            Exists(
                Session.objects.filter(
                    session_key=Place("session"), expire_date__gt=Place("now")
                )
            ),
            pk=Place("user"),
            password=Place("credential"),
            is_active=True,
            account__role=Place("role"),
        )
        .values_list("pk")
    )
)


def note_seen(account_ids: Collection[int]) -> None:
    """Note that these customers have a page open; written every few looks only."""
    now = timezone.now()
    lately = Q(seen_at__gte=now - SEEN_EVERY)
    due = Account.objects.filter(pk__in=account_ids).exclude(lately)
    with transaction.atomic():
        # Another process may look at the same ones, in another order.
        free = due.select_for_update(no_key=True, skip_locked=True)
        seen = list(free.order_by("pk").values_list("pk", flat=True))
        Account.objects.filter(pk__in=seen).update(seen_at=now)


def language_of_request(
    cookies: Mapping[str, str], headers: Collection[tuple[bytes, bytes]]
) -> Language:
    """The language of the page that opens the socket: its switch, or its browser."""
    request = HttpRequest()
    request.COOKIES = dict(cookies)
    accepted = dict(headers).get(b"accept-language", b"").decode("latin-1")
    request.META["HTTP_ACCEPT_LANGUAGE"] = accepted
    return "zh" if get_language_from_request(request).startswith("zh") else "en"


def _is_signed_in(visitor: Visitor) -> bool:
    user, role = _user_of(visitor.session_key)
    if user is None or (user.pk, role) != (visitor.user_id, visitor.role):
        return False
    return Account.objects.filter(user_id=user.pk, role=role).exists()


def _user_of(session_key: str) -> tuple[AbstractBaseUser | None, Role]:
    """The active user of a session, checked as Django checks a request's; where
    nobody has logged in, its visitor. With the role that each may chat in."""
    if not session_key:
        return None, Role.GUEST
    request = HttpRequest()
    store = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(session_key)
    user = get_user(request)
    if isinstance(user, AbstractBaseUser):
        return user, Role.CUSTOMER
    guest = guests.account_of(request.session)
    return (guest.user if guest else None), Role.GUEST


@transaction.atomic
def _note_refusal(user: AbstractBaseUser, conversation_id: UUID) -> None:
    logger.warning("user %s may not open conversation %s", user.pk, conversation_id)
    # The chain of a conversation grows under its row lock.
    there = Conversation.objects.select_for_update(no_key=True)
    if there.filter(pk=conversation_id).exists():
        record_audit(
            "conversation.refused",
            chain=str(conversation_id),
            actor=user.get_username(),
            ids={"user": user.pk},
            now=timezone.now(),
        )
