"""The log of a conversation, read back from the database in order and without gaps.

Runs append to it through the journal, customers through ``accept_message()``; whoever
else has something to say there, through ``append()``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from chatbot.chat import frames, stream
from chatbot.chat.models import Conversation, Message, Step

PAGE = 200  # entries in one read: a few dozen kilobytes


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries after a seq, and how far the log goes."""

    entries: Sequence[frames.Frame]
    last_seq: int


def read_log(conversation_id: UUID, *, after: int, limit: int = PAGE) -> LogPage | None:
    """The next entries after ``after``; None if the conversation is gone."""
    # Numbers are given out under the conversation's row lock: what its row says is
    # committed. Reading the entries first could show number 7 before number 6.
    last_seq = (
        Conversation.objects.filter(pk=conversation_id)
        .values_list("last_seq", flat=True)
        .first()
    )
    if last_seq is None:
        return None
    until = min(last_seq, after + limit)
    if until <= after:
        return LogPage((), last_seq)
    part = {"conversation_id": conversation_id, "seq__gt": after, "seq__lte": until}
    entries = {m.seq: frames.message_entry(m) for m in Message.objects.filter(**part)}
    entries |= {s.seq: frames.step_entry(s) for s in Step.objects.filter(**part)}
    return LogPage(
        [
            entries.get(seq) or frames.removed_entry(seq)
            for seq in range(after + 1, until + 1)
        ],
        last_seq,
    )


def append(
    conversation: Conversation,
    rows: Sequence[Message | Step],
    now: datetime,
    **columns: Any,
) -> None:
    """Write rows at the end of a log, and show them once that is committed.

    The caller holds the conversation's row lock; ``columns`` are further ones of it.
    """
    for row in rows:
        conversation.last_seq += 1
        row.seq, row.conversation_id = conversation.last_seq, conversation.pk
        row.created_at = now
        row.save(force_insert=True)
    Conversation.objects.filter(pk=conversation.pk).update(
        last_seq=conversation.last_seq, updated_at=now, **columns
    )
    transaction.on_commit(partial(stream.publish_rows, conversation.pk, rows))
