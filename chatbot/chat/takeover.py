"""A person takes a conversation over: from then on the assistant is silent in it.

Whoever has it writes as staff, the customer's messages start no run, and a run that was
going on ends in the transaction of the takeover: its fence is raised, so that whatever
its process still writes is void. The row lock of the conversation settles who wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from chatbot.chat import launch
from chatbot.chat.cards import language_of_talk
from chatbot.chat.ending import end_columns
from chatbot.chat.leases import Claim
from chatbot.chat.log import append
from chatbot.chat.models import Conversation, Message, Run, RunPhase, Speaker, Step
from chatbot.chat.news import mark_of
from chatbot.chat.stored import numbers_in, step_row, stored_event
from chatbot.react import state as known
from chatbot.react.types import Background, HandOverMode, Stopped, StopReason
from chatbot.understanding.kinds import Language
from chatbot.understanding.text import is_blank
from chatbot.workflow.audit import record_audit
from chatbot.workflow.outbox import record_event
from chatbot.workflow.services import NotPossible

_NOTICES: Mapping[str, Mapping[Language, str]] = {
    "taken_over": {
        "en": "{name} from our team has joined and answers from now on. "
        "The assistant is silent.",
        "zh": "客服{name}已接入，接下来由人工为您服务，智能助手不再回复。",
    },
    "released": {
        "en": "{name} has left the conversation. The assistant answers again.",
        "zh": "客服{name}已离开，接下来由智能助手为您服务。",
    },
}
_SOMEBODY: Mapping[Language, str] = {"en": "A person", "zh": ""}


def name_of(user: User) -> str:
    """What customers call a member of staff: the first name, never the log-in."""
    return user.first_name


@transaction.atomic
def take_over(conversation_id: UUID, *, by: User, now: datetime) -> None:
    """Give a conversation to a person; ``NotPossible`` where another has it.

    Whoever has it already keeps it, and nothing is said twice.
    """
    conversation = _locked(conversation_id)
    if conversation.taken_by_id == by.pk:
        return
    if conversation.taken_by_id is not None:
        raise NotPossible("already_taken")
    run = _lock_active_run(conversation_id)
    ended = [_end(run, now)] if run is not None else []
    notice = _notice("taken_over", by, conversation)
    append(conversation, [*ended, notice], now, taken_by=by)
    _record("conversation.taken_over", conversation_id, by, now)


@transaction.atomic
def release(
    conversation_id: UUID, *, by: User, now: datetime, anyones: bool = False
) -> None:
    """Give it back to the assistant, with its open hand-overs closed.

    Only whoever has it may, or with ``anyones`` a supervisor in their stead.
    """
    conversation = _locked(conversation_id)
    if conversation.taken_by is None:
        raise NotPossible("not_taken")
    if conversation.taken_by_id != by.pk and not anyones:
        raise NotPossible("already_taken")
    notice = _notice("released", conversation.taken_by, conversation)
    append(conversation, [notice], now, taken_by=None)
    conversation.handovers.filter(closed_at=None).update(closed_at=now)
    _record("conversation.released", conversation_id, by, now)


@transaction.atomic
def say_as_staff(
    conversation_id: UUID, *, by: User, text: str, now: datetime
) -> Message:
    """Write to the customer as a person; ``NotPossible`` unless ``by`` has it.

    A customer who has left the page gets it by e-mail.
    """
    text = text.strip()
    if is_blank(text) or "\0" in text:
        raise NotPossible("empty_message")
    if len(text) > settings.CHAT_MAX_MESSAGE_CHARACTERS:
        raise NotPossible("message_too_long")
    conversation = _locked(conversation_id)
    if conversation.taken_by_id != by.pk:
        raise NotPossible("not_taken")
    event = record_event(
        "staff.wrote",
        key=f"staff.wrote:{uuid4()}",
        now=now,
        ids={"conversation": str(conversation_id)},
    )
    message = Message(
        speaker=Speaker.STAFF,
        text=text,
        extras={"name": name_of(by)},
        client_id=mark_of(event),
    )
    append(conversation, [message], now)
    return message


# ---- the run that was going on


def _lock_active_run(conversation_id: UUID) -> Run | None:
    """The unfinished run, locked after its conversation, as the journal does."""
    runs = Run.objects.select_for_update(no_key=True)
    active = runs.filter(conversation_id=conversation_id)
    return active.exclude(phase=RunPhase.STOPPED).first()


def _end(run: Run, now: datetime) -> Step:
    """End a run as handed over, without an answer; gives the last step of its trace."""
    events = [stored_event(step) for step in run.steps.order_by("seq")]
    state = known.resume(Background(), events)
    stopped = Stopped(
        state.step,
        StopReason.HANDED_OVER,
        "",
        now,
        hand_over=HandOverMode.MADE,
        hand_over_reason="a person took the conversation over",
    )
    columns = end_columns(state, stopped, model=run.model)
    Run.objects.filter(pk=run.pk).update(**columns, fence=F("fence") + 1)
    transaction.on_commit(partial(launch.cancel_run, run.pk))
    keep = {number for event in events for number in numbers_in(event)}
    claim = Claim(run.pk, run.conversation_id, run.fence, run.crashes)
    return step_row(claim, stopped, keep=keep)


# ---- what is written


def _locked(conversation_id: UUID) -> Conversation:
    rows = Conversation.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("account", "taken_by").get(pk=conversation_id)


def _notice(code: str, person: User, conversation: Conversation) -> Message:
    language = language_of_talk(conversation)
    name = name_of(person)
    text = _NOTICES[code][language].format(name=name or _SOMEBODY[language])
    return Message(
        speaker=Speaker.NOTICE, text=text, extras={"code": code, "name": name}
    )


def _record(kind: str, conversation_id: UUID, by: User, now: datetime) -> None:
    record_audit(
        kind,
        chain=str(conversation_id),
        actor=by.get_username(),
        ids={"user": by.pk},
        now=now,
    )
