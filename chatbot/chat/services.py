"""What people do in a conversation: each call is one short transaction.

A conversation's row lock orders everything that is written into it. What has to follow
(start a run, wake a page) is done on commit and may be lost: the sweep and the pages'
own polling find it in the database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from chatbot.chat import guests, launch, stream
from chatbot.chat.limits import take_from_allowance
from chatbot.chat.models import (
    Account,
    Conversation,
    Feedback,
    Message,
    Run,
    RunPhase,
    Speaker,
)
from chatbot.chat.problems import Forbidden, Problem
from chatbot.chat.rebuild import new_run
from tools.prepared import Place, Select, inserting, together, updating

TITLE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Accepted:
    """A message that is stored; ``new`` is False for one that was sent before."""

    seq: int
    run_id: UUID | None
    new: bool


def start_conversation(*, account: Account, now: datetime) -> Conversation:
    return Conversation.objects.create(account=account, created_at=now, updated_at=now)


def conversations_of(account: Account) -> QuerySet[Conversation]:
    """A customer's own conversations, the newest first."""
    return account.conversations.order_by("-updated_at")


def transcript(conversation: Conversation) -> Sequence[Message]:
    """Every line that people read, in order."""
    return list(conversation.messages.order_by("seq"))


def zone_of(account: Account) -> ZoneInfo:
    try:
        return ZoneInfo(account.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


@transaction.atomic
def accept_message(
    conversation_id: UUID,
    *,
    account_id: int,
    client_id: str,
    text: str,
    now: datetime,
    limited: bool = True,
) -> Accepted:
    """Store a customer's message and the run that will answer it.

    A message that comes while a run goes on joins it, and one that comes while a person
    has the conversation starts none. The same ``client_id`` again changes nothing and
    gives the same answer. ``Forbidden`` if the conversation is not this account's,
    ``Problem`` where a limit of the customer is reached; ``limited`` turns those off.
    """
    # Asked at once, answered in this order: what comes after the lock is seen under it.
    places, knowns, actives = together(
        [
            _LOCKED.asked(conversation=conversation_id, account=account_id),
            _KNOWN.asked(conversation=conversation_id, client_id=client_id),
            _ACTIVE.asked(conversation=conversation_id),
        ]
    )
    if not places:
        raise Forbidden
    last_seq, title, taken_by, allowance, allowance_at = places[0]
    if knowns:
        [(seq, its_run)] = knowns
        return Accepted(seq, its_run, new=False)
    active = actives[0] if actives else None
    if limited:
        if active:
            _check_queue(active[0], active[1], client_id)
        account = Account(pk=account_id, allowance=allowance, allowance_at=allowance_at)
        _take_allowance(account, now=now, client_id=client_id)
    run_id = active[0] if active else None
    if run_id is None and taken_by is None:
        run_id = _queue(conversation_id, now=now).pk
    message = Message(
        conversation_id=conversation_id,
        run_id=run_id,
        seq=last_seq + 1,
        speaker=Speaker.CUSTOMER,
        text=text,
        client_id=client_id,
        created_at=now,
    )
    changes = {
        "last_seq": message.seq,
        "updated_at": now,
        "title": title or _title(text),
    }
    together([*inserting([message]), updating(Conversation, conversation_id, changes)])
    transaction.on_commit(partial(stream.publish_rows, conversation_id, [message]))
    if active:
        transaction.on_commit(partial(launch.tell_run, active[0]))
    return Accepted(message.seq, run_id, new=True)


def accept_from(*, is_guest: bool) -> Callable[..., Accepted]:
    return accept_guest_message if is_guest else accept_message


def accept_guest_message(
    conversation_id: UUID, *, account_id: int, client_id: str, text: str, now: datetime
) -> Accepted:
    """The same for a visitor, within what all visitors of their address may say."""
    if guests.is_too_fast(account_id, now=now):
        raise Problem("too_many", client_id=client_id, retry_after=10)
    return accept_message(
        conversation_id, account_id=account_id, client_id=client_id, text=text, now=now
    )


# The account's row is locked too: its allowance is taken from.
_LOCKED = Select(
    lambda: (
        Conversation.objects.select_for_update(no_key=True)
        .filter(pk=Place("conversation"), account_id=Place("account"))
        .values_list(
            "last_seq",
            "title",
            "taken_by_id",
            "account__allowance",
            "account__allowance_at",
        )
    )
)
_KNOWN = Select(
    lambda: Message.objects.filter(
        conversation_id=Place("conversation"), client_id=Place("client_id")
    ).values_list("seq", "run_id")
)
_ACTIVE = Select(
    lambda: (
        Run.objects.filter(conversation_id=Place("conversation"))
        .exclude(phase=RunPhase.STOPPED)
        .values_list("pk", "read_seq")
    )
)


@transaction.atomic
def cancel_run(
    run_id: UUID, *, conversation_id: UUID, account_id: int, now: datetime
) -> None:
    """Ask a run to stop; it ends as ``cancelled`` with what was found until then."""
    conversation = _locked(conversation_id, account_id)
    run = _active_run(conversation)
    if run is None or run.pk != run_id:
        raise Problem("nothing_to_cancel")
    if run.cancel_requested_at is None:
        Run.objects.filter(pk=run.pk).update(cancel_requested_at=now)
    transaction.on_commit(partial(launch.cancel_run, run.pk))


@transaction.atomic
def retry_run(
    run_id: UUID, *, conversation_id: UUID, account_id: int, now: datetime
) -> UUID:
    """Work out a stopped run's question again, in a new run whose id is returned."""
    conversation = _locked(conversation_id, account_id)
    run = conversation.runs.filter(pk=run_id, phase=RunPhase.STOPPED).first()
    end = run.steps.filter(kind="stopped").first() if run else None
    if run is None or end is None or not end.body.get("can_retry"):
        raise Problem("nothing_to_retry")
    if (
        conversation.taken_by_id is not None
        or _active_run(conversation) is not None
        or run.retries.exists()
    ):
        raise Problem("nothing_to_retry")
    _take_allowance(conversation.account, now=now)
    return _queue(conversation.pk, now=now, retry_of=run).pk


@transaction.atomic
def rate_answer(
    message_id: int,
    *,
    conversation_id: UUID,
    account_id: int,
    helpful: bool,
    comment: str,
    now: datetime,
) -> None:
    """Keep a customer's thumb on one answer; the last one counts."""
    conversation = _locked(conversation_id, account_id)
    answers = conversation.messages.filter(speaker=Speaker.ASSISTANT)
    message = answers.filter(pk=message_id).first()
    if message is None:
        raise Problem("bad_frame")
    Feedback.objects.update_or_create(
        message=message,
        defaults={"helpful": helpful, "comment": comment, "updated_at": now},
        create_defaults={
            "helpful": helpful,
            "comment": comment,
            "created_at": now,
            "updated_at": now,
        },
    )


def _queue(conversation_id: UUID, *, now: datetime, retry_of: Run | None = None) -> Run:
    run = new_run(conversation_id, now=now, retry_of=retry_of)
    transaction.on_commit(partial(launch.launch_run, run.pk))
    return run


def _locked(conversation_id: UUID, account_id: int) -> Conversation:
    conversation = (
        # Not against foreign keys, so that a run's rows may point here meanwhile.
        Conversation.objects.select_for_update(no_key=True)
        .select_related("account")
        .filter(pk=conversation_id, account_id=account_id)
        .first()
    )
    if conversation is None:
        raise Forbidden
    return conversation


def _active_run(conversation: Conversation) -> Run | None:
    return conversation.runs.exclude(phase=RunPhase.STOPPED).first()


def _check_queue(run_id: UUID, read_seq: int, client_id: str) -> None:
    waiting = Message.objects.filter(
        run_id=run_id, speaker=Speaker.CUSTOMER, seq__gt=read_seq
    )
    if waiting.count() >= settings.CHAT_MAX_QUEUED:
        raise Problem("queue_full", client_id=client_id, retry_after=5)


def _take_allowance(
    account: Account, *, now: datetime, client_id: str | None = None
) -> None:
    wait = take_from_allowance(account, now=now)
    if wait:
        raise Problem("too_many", client_id=client_id, retry_after=wait)


def _title(text: str) -> str:
    words = " ".join(text.split())
    if len(words) <= TITLE_CHARACTERS:
        return words
    return words[: TITLE_CHARACTERS - 1] + "…"
