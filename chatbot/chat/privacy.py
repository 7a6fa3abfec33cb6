"""What is kept of a customer: handed out, erased on request, forgotten in time.

Approvals, effects and the audit stay, with digests and ids alone: they explain what was
done, and to them it no longer matters for whom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q

from chatbot.chat.models import Account, Conversation, Run, RunPhase
from chatbot.workflow import services as workflow
from chatbot.workflow.audit import record_audit
from tools.contracts import Role

AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Erased:
    """How many of each there were."""

    conversations: int
    requests: int
    sessions: int


def export_customer(account: Account) -> dict[str, Any]:
    """All that is kept of a customer, in their own words and the assistant's."""
    return {
        "log_in": account.user.get_username(),
        "customer": account.customer_id,
        "language": account.language,
        "time_zone": account.time_zone,
        "conversations": [
            _conversation(one) for one in account.conversations.order_by("created_at")
        ],
        "changes": workflow.requests_of(account.customer_id),
    }


def _conversation(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": str(conversation.pk),
        "title": conversation.title,
        "began_at": conversation.created_at.isoformat(),
        "messages": [
            {
                "at": message.created_at.isoformat(),
                "speaker": message.speaker,
                "text": message.text,
                **_opinion(message),
            }
            for message in conversation.messages.order_by("seq")
        ],
    }


def _opinion(message: Any) -> dict[str, Any]:
    feedback = getattr(message, "feedback", None)
    if feedback is None:
        return {}
    return {"helpful": feedback.helpful, "comment": feedback.comment}


@transaction.atomic
def erase_customer(account_id: int, *, by: User, agreed: User, now: datetime) -> Erased:
    """Delete a customer's log-in, sessions and conversations; empty their requests.

    Two people are needed, as for money. ``NotPossible`` ("two_people") where they are
    one, or ("still_open") while a change may still come to an effect.
    """
    if by.pk == agreed.pk:
        raise workflow.NotPossible("two_people")
    account = Account.objects.select_related("user").get(
        pk=account_id, role=Role.CUSTOMER
    )
    conversations = delete_conversations(Q(account=account))
    requests = workflow.forget_customer(account.customer_id)
    sessions = _end_sessions(account.user_id)
    record_audit(
        "customer.erased",
        chain="erasures",
        actor=by.get_username(),
        ids={"user": account.user_id, "agreed": agreed.get_username()},
        now=now,
    )
    account.user.delete()
    return Erased(conversations, requests, sessions)


def delete_conversations(which: Q, *, limit: int | None = None) -> int:
    """Delete conversations with all that hangs on them, in the caller's transaction."""
    # Before their runs, in one order, as everybody who writes there.
    locked = Conversation.objects.select_for_update().filter(which).order_by("pk")
    ids = list(locked.values_list("pk", flat=True)[:limit])
    Conversation.objects.filter(pk__in=ids).delete()
    return len(ids)


def _end_sessions(user_id: int) -> int:
    keys = [
        session.session_key
        for session in Session.objects.iterator()
        if session.get_decoded().get("_auth_user_id") == str(user_id)
    ]
    Session.objects.filter(session_key__in=keys).delete()
    return len(keys)


def forget_old(*, now: datetime) -> int:
    """Delete conversations, and empty requests, that nothing has touched for long.

    One that a person has, or whose run goes on, stays. Gives the conversations.
    """
    before = now - timedelta(days=settings.CHAT_KEEP_DAYS)
    workflow.forget_before(before)
    return sum(_forget_some(before))


def _forget_some(before: datetime) -> Iterator[int]:
    going_on = Run.objects.exclude(phase=RunPhase.STOPPED).values("conversation")
    old = Q(updated_at__lt=before, taken_by=None) & ~Q(pk__in=going_on)
    while True:
        with transaction.atomic():
            gone = delete_conversations(old, limit=AT_ONCE)
        yield gone
        if gone < AT_ONCE:
            return
