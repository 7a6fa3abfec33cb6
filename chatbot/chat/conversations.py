"""Opening conversations: whose they are, and in which zone their times are told."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from chatbot.chat.models import Account, Conversation


def start_conversation(*, account: Account, now: datetime) -> Conversation:
    """A fresh conversation; one that nobody has written in yet is taken again."""
    unused = account.conversations.filter(last_seq=0).order_by("-updated_at").first()
    if unused is not None:
        return unused
    return Conversation.objects.create(account=account, created_at=now, updated_at=now)


def zone_of(account: Account) -> ZoneInfo:
    """The customer's zone; UTC where the stored name is none."""
    try:
        return ZoneInfo(account.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
