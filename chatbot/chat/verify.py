"""A visitor proves an order: a code is mailed to the contact that the order holds.

A request for a code does the same whether the order exists, is somebody else's or holds
another contact: one row, one event, one notice. What it leads to is worked out by the
event's handler, beside the request, and told to nobody but by that mail.
"""

from __future__ import annotations

import hmac
import secrets
import smtplib
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import assert_never
from uuid import UUID

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.utils import timezone

from chatbot.accounts import tries
from chatbot.accounts.digests import digest
from chatbot.accounts.models import OrderProof
from chatbot.assistant.wiring import email_of_order
from chatbot.chat import frames, guests, launch
from chatbot.chat.cards import language_of_talk
from chatbot.chat.limits import take_from_allowance
from chatbot.chat.log import append
from chatbot.chat.lookups import record_lock
from chatbot.chat.models import Conversation, Message, Run, RunPhase, Speaker
from chatbot.chat.problems import Forbidden, Problem
from chatbot.chat.rebuild import language_of, new_run
from chatbot.chat.words import all_words
from chatbot.react.types import Form
from chatbot.understanding.needs import Language
from chatbot.workflow.audit import record_audit
from chatbot.workflow.models import Event
from chatbot.workflow.outbox import Retryable, record_event
from tools.contracts import Role, canonical_number
from tools.database import in_database
from tools.errors import ToolError

CODE_DIGITS = 6
_ASKED: Mapping[Language, str] = {
    "en": "If these details belong to an order, a code is on its way to the order's "
    "e-mail address. It is valid for {minutes} minutes. To an order that holds a phone "
    "number alone no code can be sent: a person has to help with that one, just ask.",
    "zh": "如果信息与订单相符，验证码会发送到该订单登记的邮箱，{minutes} 分钟内有效。"
    "只登记了手机号的订单无法发送验证码，需要人工客服协助，说一声“转人工”就行。",
}
_PROVED: Mapping[Language, str] = {
    "en": "Order {order} is confirmed as yours. Its status can be seen here for "
    "{minutes} minutes; for everything else please log in.",
    "zh": "订单 {order} 已确认是您本人的。{minutes} 分钟内可以在这里查看它的状态；"
    "其他操作请登录账户。",
}


def take(
    frame: frames.VerifyStart | frames.VerifyCode,
    *,
    conversation_id: UUID,
    account_id: int,
    now: datetime,
) -> None:
    """What a visitor filled in: an order and its contact, or the code."""
    match frame:
        case frames.VerifyStart(order=order, contact=contact):
            ask_for_code(
                conversation_id=conversation_id,
                account_id=account_id,
                order=order,
                contact=contact,
                now=now,
            )
        case frames.VerifyCode(code=code):
            enter_code(
                conversation_id=conversation_id,
                account_id=account_id,
                code=code,
                now=now,
            )
        case _:
            assert_never(frame)


# ---- a code is asked for


@transaction.atomic
def ask_for_code(
    *,
    conversation_id: UUID,
    account_id: int,
    order: str,
    contact: str,
    now: datetime,
) -> None:
    """Take down what a visitor says of an order, and say that a code may come."""
    conversation = _locked(conversation_id, account_id)
    if wait := take_from_allowance(conversation.account, now=now):
        raise Problem("too_many", retry_after=wait)
    guest = guests.guest_of(account_id)
    keys = tries.keys_of(guest)
    is_open, locked = tries.may_begin(keys, now)
    if locked:
        record_lock(account_id, conversation_id, now)
    is_open = is_open and guests.can_verify()
    earlier = OrderProof.objects.filter(user_id=guest.pk, verified_until=None)
    earlier.update(code="", contact="")
    proof = OrderProof.objects.create(
        user_id=guest.pk,
        order=order.upper(),
        order_key=canonical_number(order)[:64],
        contact=contact if is_open else "",
        created_at=now,
        expires_at=now + timedelta(seconds=settings.GUEST_CODE_SECONDS),
    )
    if is_open:
        tries.note_begun(keys, tries.proof_subject(proof.pk), now)
    ids = {"proof": proof.pk}
    record_event("order.claimed", key=f"order.claimed:{proof.pk}", now=now, ids=ids)
    minutes = _minutes(settings.GUEST_CODE_SECONDS)
    text = _ASKED[language_of_talk(conversation)].format(minutes=minutes)
    form = {"form": "code", "until": proof.expires_at.isoformat()}
    _tell(conversation, text, form, now)


async def mail_code(event: Event) -> None:
    """Mail a code where the contact is the order's own; in any other case, nothing.

    At least once: a process that dies just after sending sends another code, and that
    one counts.
    """
    proof = await in_database(_open_proof, int(event.ids["proof"]), timezone.now())
    if proof is None:
        return
    try:
        email = await email_of_order(proof.order, proof.contact)
    except ToolError as error:
        if error.retryable:
            raise Retryable(type(error).__name__) from error
        await in_database(_mail, proof, "", timezone.now())
        raise
    await in_database(_mail, proof, email or "", timezone.now())


def _open_proof(proof_id: int, now: datetime) -> OrderProof | None:
    proofs = OrderProof.objects.select_related("user__account").exclude(contact="")
    return proofs.filter(pk=proof_id, expires_at__gt=now).first()


def _mail(proof: OrderProof, email: str, now: datetime) -> None:
    row = OrderProof.objects.filter(pk=proof.pk)
    if email and not _is_flooded(proof, now):
        code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}}"
        row.update(code=_code_digest(proof, code), mailed_at=now)
        words = all_words(language_of(proof.user.account))["page"]
        minutes = _minutes(settings.GUEST_CODE_SECONDS)
        try:
            send_mail(
                subject=words["code_subject"],
                message=words["code_mail"].format(code=code, minutes=minutes),
                from_email=None,
                recipient_list=[email],
            )
        except (smtplib.SMTPException, OSError) as error:
            raise Retryable(type(error).__name__) from error
    row.update(contact="")


def _is_flooded(proof: OrderProof, now: datetime) -> bool:
    """Whether the buyer got enough codes for this order, whoever asked for them."""
    since = now - timedelta(seconds=settings.CHAT_LOOKUP_WINDOW_SECONDS)
    mailed = OrderProof.objects.filter(
        order_key=proof.order_key, mailed_at__gt=since
    ).exclude(pk=proof.pk)
    return mailed.count() >= settings.CHAT_LOOKUP_FAILURES


# ---- a code comes back


def enter_code(
    *, conversation_id: UUID, account_id: int, code: str, now: datetime
) -> None:
    """Believe a visitor whose code is right, for a while; ``Problem`` in all other
    cases, in the same words: wrong, late, used, never mailed, tried too often."""
    if not _enter(conversation_id, account_id, code, now):
        raise Problem("code_refused")


@transaction.atomic
def _enter(conversation_id: UUID, account_id: int, code: str, now: datetime) -> bool:
    conversation = _locked(conversation_id, account_id)
    keys = tries.keys_of(guests.guest_of(account_id))
    proofs = OrderProof.objects.select_for_update().filter(user__account=account_id)
    proof = proofs.order_by("-pk").first() or OrderProof(pk=0, expires_at=now)
    expected = proof.code or "none"
    is_right = hmac.compare_digest(_code_digest(proof, code), expected)
    fresh = now < proof.expires_at and proof.tries < settings.GUEST_CODE_TRIES
    if not (is_right and fresh) or tries.is_locked(keys, now=now):
        if proof.tries < settings.GUEST_CODE_TRIES:
            proofs.filter(pk=proof.pk).update(tries=proof.tries + 1)
        subject = tries.proof_subject(proof.pk, proof.tries + 1)
        if tries.note_failures(keys, [subject], now):
            record_lock(account_id, conversation_id, now)
        return False
    until = now + timedelta(seconds=settings.GUEST_VERIFIED_SECONDS)
    OrderProof.objects.filter(pk=proof.pk).update(code="", verified_until=until)
    own = [tries.proof_subject(proof.pk, number) for number in range(proof.tries + 1)]
    tries.strike_out(keys, [*own, tries.number_subject(proof.order_key)])
    record_audit(
        "order.proved",
        chain=str(conversation_id),
        actor=conversation.account.user.get_username(),
        ids={"proof": proof.pk, "user": proof.user_id},
        now=now,
    )
    minutes = _minutes(settings.GUEST_VERIFIED_SECONDS)
    text = _PROVED[language_of_talk(conversation)].format(
        order=proof.order, minutes=minutes
    )
    form = {"form": "proved", "order": proof.order, "until": until.isoformat()}
    _tell(conversation, text, form, now)
    _answer_now(conversation, now)
    return True


def _answer_now(conversation: Conversation, now: datetime) -> None:
    """Work out the question that waited for the proof, if it was the last one."""
    last = conversation.runs.order_by("-created_at").first()
    if last is None or last.phase != RunPhase.STOPPED or conversation.taken_by_id:
        return
    answer = last.messages.filter(speaker=Speaker.ASSISTANT).last()
    asked = answer.extras.get("guest", {}).get("form") if answer else None
    if asked == Form.VERIFY and not Run.objects.filter(retry_of=last).exists():
        run = new_run(conversation.pk, now=now, retry_of=last)
        transaction.on_commit(partial(launch.launch_run, run.pk))


# ---- both


def _locked(conversation_id: UUID, account_id: int) -> Conversation:
    conversation = (
        Conversation.objects.select_for_update(no_key=True, of=("self", "account"))
        .select_related("account__user")
        .filter(pk=conversation_id, account_id=account_id)
        .first()
    )
    if conversation is None:
        raise Forbidden
    if conversation.account.role != Role.GUEST:
        raise Problem("no_guest")
    return conversation


def _tell(
    conversation: Conversation, text: str, form: Mapping[str, str], now: datetime
) -> None:
    notice = Message(speaker=Speaker.NOTICE, text=text, extras={"guest": form})
    append(conversation, [notice], now)


def _code_digest(proof: OrderProof, code: str) -> str:
    return digest("order code", f"{proof.pk}:{code}")


def _minutes(seconds: float) -> int:
    return max(1, round(seconds / 60))
