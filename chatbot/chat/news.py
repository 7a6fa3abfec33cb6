"""What becomes of a change, told in its conversation: reactions to ``action.*`` events.

Each is one message, written by code from the request's own row: nothing is called done
without the shop's record of it, and what nobody knows is told as being checked.
"""

from __future__ import annotations

import smtplib
from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from django.core.mail import send_mail
from django.db import transaction
from django.utils import timezone

from chatbot.chat.cards import language_for
from chatbot.chat.log import append
from chatbot.chat.models import Account, Conversation, Message, Speaker
from chatbot.chat.words import all_words
from chatbot.react.change_words import done_words, name_words, reason_words
from chatbot.react.wording import as_money
from chatbot.understanding.needs import Language
from chatbot.workflow import services as workflow
from chatbot.workflow.card import card_of
from chatbot.workflow.models import Event
from chatbot.workflow.outbox import Later, Retryable
from chatbot.workflow.services import NotPossible
from tools.database import in_database

# Seconds after which somebody who has no page open is written to.
MAIL_AFTER = timedelta(seconds=30)

_TEXTS: Mapping[str, Mapping[Language, str]] = {
    "amended": {
        "en": "Please look at the card again: with what you filled in, {name} is "
        "as shown there now. Nothing was changed yet.",
        "zh": "请再核对卡片：按您填写的内容，{name}如卡片所示。目前没有做任何改动。",
    },
    "confirmed_waits": {
        "en": "You confirmed {name}. It now waits for the approval of our staff; "
        "the decision will be told here.",
        "zh": "您已确认：{name}。现在等待工作人员审批，结果会在这里告诉您。",
    },
    "confirmed": {
        "en": "You confirmed {name}. It is being carried out.",
        "zh": "您已确认：{name}。正在办理。",
    },
    "approved": {
        "en": "Our staff approved {name}. It is being carried out.",
        "zh": "工作人员已批准：{name}。正在办理。",
    },
    "declined": {
        "en": "Our staff did not approve {name}. Nothing was changed.",
        "zh": "工作人员没有批准：{name}。没有做任何改动。",
    },
    "withdrawn": {
        "en": "Nothing was changed: you did not go ahead with {name}.",
        "zh": "没有做任何改动：您没有继续办理（{name}）。",
    },
    "expired": {
        "en": "Nothing was changed: {name} was not confirmed or approved in time.",
        "zh": "没有做任何改动：{name}没有在期限内确认或审批。",
    },
    "refused": {
        "en": "Nothing was changed. {name} could not be carried out: {why}.",
        "zh": "没有做任何改动。{name}没有办成：{why}。",
    },
    "unknown": {
        "en": "We do not know yet whether {name} went through: the shop's system did "
        "not reply. It is being checked, and the result will be told here. Please do "
        "not ask for it again meanwhile.",
        "zh": "{name}是否办成还不清楚：店铺系统没有回复，正在核实，结果会在这里告诉您。"
        "请先不要重复申请。",
    },
    "resolved": {
        "en": "A colleague has looked into {name} and settled it by hand. How the "
        "order stands now can be looked up at any time.",
        "zh": "同事已人工核实并处理：{name}。您可以随时查询订单现在的状态。",
    },
}
# What only follows a button: no voice of the assistant's.
_NOTICES = frozenset(
    {"action.amended", "action.confirmed", "action.approved", "action.withdrawn"}
)


async def tell_customer(event: Event) -> None:
    """Write what happened into the conversation, once however often this is called."""
    await in_database(_tell, event)


@transaction.atomic
def _tell(event: Event) -> None:
    conversation = (
        Conversation.objects.select_for_update(no_key=True)
        .select_related("account")
        .filter(pk=event.ids.get("conversation"))
        .first()
    )
    if conversation is None or _was_told(conversation, event):
        return
    news = _news(conversation, event)
    if news is None:
        return
    text, card = news
    message = Message(
        speaker=_speaker(conversation, event),
        text=text,
        extras={"card": card},
        client_id=mark_of(event),
    )
    append(conversation, [message], timezone.now())


def _speaker(conversation: Conversation, event: Event) -> Speaker:
    # Where a person has the conversation, the assistant says nothing in it.
    if event.name in _NOTICES or conversation.taken_by_id is not None:
        return Speaker.NOTICE
    return Speaker.ASSISTANT


def mark_of(event: Event) -> str:
    """The ``client_id`` of the message that tells an event."""
    # A point, which no customer's client_id may hold.
    return f"event.{event.pk}"


def _was_told(conversation: Conversation, event: Event) -> bool:
    """This news, or any that came after it about the same request."""
    later = Event.objects.filter(
        pk__gte=event.pk, name__startswith="action.", ids__request=event.ids["request"]
    )
    marks = [mark_of(one) for one in later]
    return conversation.messages.filter(client_id__in=marks).exists()


def _news(
    conversation: Conversation, event: Event
) -> tuple[str, dict[str, object]] | None:
    try:
        request = workflow.request_of(
            UUID(event.ids["request"]), conversation_id=conversation.pk
        )
    except NotPossible:
        return None
    card = card_of(request)
    language = language_for(conversation, request.run_id)
    name = name_words(request.kind, card["order"], language)
    match event.name:
        case "action.finished" if event.ids["state"] == "succeeded":
            text = done_words(
                request.kind,
                card["order"],
                language,
                amount=as_money(card["amount"], language=language),
                direction=card["direction"],
            )
            return text, card
        case "action.finished":
            what = event.ids["state"]
        case "action.confirmed":
            what = "confirmed_waits" if request.approvals_needed else "confirmed"
        case "action.approved" if not request.approvals_needed:
            return None  # nobody was asked: nothing that a customer need know
        case other:
            what = other.removeprefix("action.")
    template = _TEXTS[what][language]
    begins = template.startswith("{name}") or ". {name}" in template
    if begins and language == "en":
        name = name[0].upper() + name[1:]
    return template.format(name=name, why=reason_words(request.reason, language)), card


# ---- e-mail to those who have left


async def mail_customer(event: Event) -> None:
    """Send the news by e-mail if no page of the customer's was open to show it.

    At least once: a process that dies just after sending sends it again.
    """
    due = event.created_at + MAIL_AFTER
    if timezone.now() < due:
        raise Later(due)
    await in_database(_mail, event)


def _mail(event: Event) -> None:
    message = Message.objects.filter(
        conversation_id=event.ids.get("conversation"), client_id=mark_of(event)
    ).first()
    if message is None:
        return  # deleted since, or overtaken by later news that is sent itself
    account = Account.objects.select_related("user").get(
        conversations=message.conversation_id
    )
    seen_since = account.seen_at is not None and account.seen_at >= message.created_at
    if seen_since or not account.user.email:
        return
    language = language_for(message.conversation, None)
    try:
        send_mail(
            subject=all_words(language)["page"]["mail_subject"],
            message=message.text,
            from_email=None,
            recipient_list=[account.user.email],
        )
    except (smtplib.SMTPException, OSError) as error:
        raise Retryable(type(error).__name__) from error
