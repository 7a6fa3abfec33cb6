"""What a run starts from, put together again from the database alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, cast
from uuid import UUID

from django.conf import settings
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from chatbot.accounts.models import LookupGate
from chatbot.chat.budget import Spent, spent_today
from chatbot.chat.guests import as_guest
from chatbot.chat.models import Account, Conversation, Message, Run, Speaker, Step
from chatbot.chat.stored import question_of, stored_event
from chatbot.react import state as known
from chatbot.react.types import Background, Guest, RunState, Turn
from chatbot.understanding.needs import (
    Language,
    Question,
    merge_questions,
    read_question,
)
from chatbot.understanding.orders import as_a_rule
from tools.contracts import Actor, Role, canonical_number
from tools.prepared import Place, Select, insert_row

TURNS = 20
MAX_RETRIES = 20  # of one question, looked back at
_ACCOUNT = (
    "conversation_id",
    "conversation__last_seq",
    "conversation__account_id",
    "conversation__account__role",
    "conversation__account__customer_id",
    "conversation__account__language",
    "conversation__account__time_zone",
    "conversation__account__lookups_locked_until",
)
_RUN_ITSELF = (
    "retry_of_id",
    "read_seq",
    "fence",
    "away_since",
    "cancel_requested_at",
)
_TOLD = (Speaker.CUSTOMER, Speaker.ASSISTANT, Speaker.STAFF)


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the customer."""

    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class Basis:
    """All that one run is worked out from.

    ``read_seq`` is the last message that the state holds, ``unread`` are those after
    it, ``last_seq`` is how far the conversation's log went when this was read.
    """

    account_id: int
    actor: Actor
    state: RunState
    last_seq: int
    read_seq: int
    unread: list[Said]
    cancelled: bool
    spent_today: Spent
    away_since: datetime | None = None
    lookups_locked_until: datetime | None = None


def rebuild_run(run_id: UUID) -> Basis | None:
    """The basis of a claimed run; None if it was deleted, or nobody asked anything.

    A run that has stored steps goes on after the last of them.
    """
    # The conversation is read first: what is written after that shows as a larger seq.
    run, locked_until = _run(run_id)
    if run is None:
        return None
    asked = _asked(run)
    if not asked:
        return None
    account = run.conversation.account
    background = _background(run, first_seq=asked[0].seq)
    if account.role == Role.GUEST:
        background = as_guest(background, account.pk, now=timezone.now())
    # Nobody had the run before its first owner.
    steps = run.steps.order_by("seq") if run.fence > 1 else ()
    events = [stored_event(step) for step in steps]
    if events:
        state, read_seq = known.resume(background, events), run.read_seq
    else:
        question = _read(asked, background)
        state, read_seq = RunState(background, question=question), asked[-1].seq
    return Basis(
        account_id=account.pk,
        actor=actor_of(account, state.question, background.guest),
        state=state,
        last_seq=run.conversation.last_seq,
        read_seq=read_seq,
        unread=[message for message in asked if message.seq > read_seq],
        cancelled=run.cancel_requested_at is not None,
        spent_today=spent_today(account.pk, now=timezone.now()),
        away_since=run.away_since,
        lookups_locked_until=locked_until,
    )


_RUN = Select(
    lambda: Run.objects.filter(pk=Place("run")).values_list(
        *_ACCOUNT, *_RUN_ITSELF, _gate_of_address()
    )
)


def _gate_of_address() -> Subquery:
    """Until when nobody at the customer's address has new numbers looked up."""
    key = OuterRef("conversation__account__address")
    return Subquery(LookupGate.objects.filter(key=key).values("locked_until"))


def _run(run_id: UUID) -> tuple[Run | None, datetime | None]:
    """The run with its conversation and account, of which only the columns are read
    that a run starts from; and the later end of its customer's and address's locks."""
    found = _RUN.first(run=run_id)
    if found is None:
        return None, None
    conversation_id, last_seq, account_id, *rest, of_address = found
    names = [name.rpartition("__")[2] for name in _ACCOUNT[3:]]
    account = Account(pk=account_id, **dict(zip(names, rest, strict=False)))
    conversation = Conversation(pk=conversation_id, account=account, last_seq=last_seq)
    own = dict(zip(_RUN_ITSELF, rest[len(names) :], strict=True))
    locks = [account.lookups_locked_until, of_address]
    locked_until = max((end for end in locks if end is not None), default=None)
    return Run(pk=run_id, conversation=conversation, **own), locked_until


def new_run(
    conversation_id: UUID, *, now: datetime, retry_of: Run | None = None
) -> Run:
    """Make a queued run; under the conversation's row lock."""
    run = Run(
        conversation_id=conversation_id,
        retry_of=retry_of,
        created_at=now,
        # The process that made it starts it at once; if it dies first, the sweep does.
        due_at=now + timedelta(seconds=2 * settings.RUN_SWEEP_SECONDS),
    )
    insert_row(run)
    return run


def _asked(run: Run) -> list[Said]:
    """The customer's messages that this run answers, and that it tries again."""
    if run.retry_of_id is None:
        return [Said(*row) for row in _SAID.rows(run=run.pk)]
    runs = [run]
    while runs[-1].retry_of is not None and len(runs) < MAX_RETRIES:
        runs.append(runs[-1].retry_of)
    return _said(Message.objects.filter(run__in=runs))


_SAID = Select(
    lambda: (
        Message.objects.filter(run_id=Place("run"), speaker=Speaker.CUSTOMER)
        .order_by("seq")
        .values_list("seq", "text")
    )
)


def unread_messages(run_id: UUID, *, after: int) -> list[Said]:
    """What the customer has said to this run since, oldest first."""
    return _said(Message.objects.filter(run_id=run_id, seq__gt=after))


def _said(messages: QuerySet[Message]) -> list[Said]:
    rows = messages.filter(speaker=Speaker.CUSTOMER).order_by("seq")
    return [Said(seq, text) for seq, text in rows.values_list("seq", "text")]


def actor_of(
    account: Account, question: Question | None = None, guest: Guest | None = None
) -> Actor:
    """For whom the tools act: the account's own customer, whatever a message says."""
    verified = guest.verified if guest else ()
    return Actor(
        role=Role(account.role),
        customer_id=account.customer_id or None,
        verified_orders=frozenset(map(canonical_number, verified)),
        language=question.language if question else language_of(account),
        time_zone=account.time_zone,
    )


def language_of(account: Account) -> Language:
    return "zh" if account.language.startswith("zh") else "en"


def _background(run: Run, *, first_seq: int) -> Background:
    conversation = run.conversation
    account = conversation.account
    if first_seq == 1:
        return Background(language_of(account), account.time_zone)
    return Background(
        language=language_of(account),
        time_zone=account.time_zone,
        turns=_turns(conversation, before=first_seq),
        earlier_questions=_earlier_questions(conversation, before=first_seq),
        known_numbers=_numbers_seen(run),
        handed_over=conversation.handovers.filter(closed_at=None).exists(),
    )


def _turns(conversation: Conversation, *, before: int) -> tuple[Turn, ...]:
    messages = conversation.messages.filter(seq__lt=before, speaker__in=_TOLD)
    rows = messages.order_by("-seq").values_list("speaker", "text")[:TURNS]
    return tuple(
        Turn(cast("Literal['customer', 'assistant', 'staff']", speaker), text)
        for speaker, text in reversed(rows)
    )


def _earlier_questions(
    conversation: Conversation, *, before: int
) -> tuple[Question, ...]:
    """As each run understood them; a run that others joined asked one thing in all."""
    steps = Step.objects.filter(
        conversation=conversation, kind__in=("started", "joined"), seq__lt=before
    )
    asked: dict[UUID, Question] = {}
    for step in reversed(steps.order_by("-seq")[:TURNS]):
        asked[step.run_id] = question_of(step)
    return tuple(asked.values())


def _numbers_seen(run: Run) -> frozenset[str]:
    earlier = Run.objects.filter(conversation_id=run.conversation_id).exclude(pk=run.pk)
    rows = earlier.exclude(numbers="").values_list("numbers", flat=True)
    return frozenset(number for numbers in rows for number in numbers.split())


def _read(asked: Sequence[Said], background: Background) -> Question:
    said = [t.text for t in background.turns if t.speaker != "customer"]
    questions: list[Question] = []
    for message in asked:
        questions.append(
            read_question(
                message.text,
                earlier=(*background.earlier_questions, *questions),
                previous_agent=said[-1] if said else "",
            )
        )
    question = merge_questions(questions)
    return question if background.guest is None else as_a_rule(question)
