"""What a visitor who is not signed in is told of orders: first prove yours.

Decided by code from the question alone. Whether an order exists is not looked up, so
that the words can't tell.
"""

from __future__ import annotations

from collections.abc import Mapping

from chatbot.react import state as known
from chatbot.react.types import AskCustomer, Form, Guest, RunState
from chatbot.understanding.needs import Language, Need, Question, Topic
from chatbot.understanding.orders import (
    is_about_an_order,
    names_an_order,
    needs_an_account,
)
from tools.contracts import canonical_number

VERIFY_FIRST: Mapping[Language, str] = {
    "en": "Before I can look at an order, it has to be confirmed that it is yours. "
    "Fill in its number and the e-mail or phone given with it: a code is then sent to "
    "the order's e-mail address. You can also log in, or ask for a person.",
    "zh": "查看订单之前，需要先确认订单是您本人的。请填写订单号，以及下单时登记的"
    "邮箱或手机号，验证码会发送到订单登记的邮箱。您也可以登录账户，或者转人工客服。",
}
SIGN_IN_FIRST: Mapping[Language, str] = {
    "en": "Changes, refunds and the list of all your orders need your account: please "
    "log in. Nothing was changed. If you have no account, ask for a person.",
    "zh": "修改订单、办理退款或查看全部订单，需要先登录您的账户。目前没有做任何改动。"
    "如果没有账户，可以转人工客服。",
}
NO_WAY_TO_VERIFY: Mapping[Language, str] = {
    "en": "Orders are shown to their buyers alone: please log in, or ask for a person.",
    "zh": "订单信息只能由下单人查看：请先登录您的账户，或者转人工客服。",
}
# Whoever wants or needs a person gets one, not a form.
_PERSON_FIRST = frozenset({Topic.ANGRY, Topic.LEGAL_THREAT, Topic.SAFETY})


def ask_back(state: RunState) -> AskCustomer | None:
    """What a guest is asked to do before their question can be answered; None where it
    can be, or where a person is what they want."""
    guest, question = state.background.guest, state.question
    if guest is None or question is None:
        return None
    if Need.HUMAN in question.needs or _PERSON_FIRST & question.topics:
        return None
    language = known.language_of(state)
    if needs_an_account(question):
        return AskCustomer(SIGN_IN_FIRST[language], form=Form.SIGN_IN)
    if not is_about_an_order(question) or _is_proved(question, guest):
        return None
    if not guest.can_verify:
        return AskCustomer(NO_WAY_TO_VERIFY[language], form=Form.SIGN_IN)
    return AskCustomer(VERIFY_FIRST[language], form=Form.VERIFY)


def guesses_of(question: Question, guest: Guest) -> frozenset[str]:
    """Canonical numbers that a visitor names without having proved them.

    Whose a parcel is, only the shop's own query tells: it asks for their orders alone.
    """
    if not names_an_order(question):
        return frozenset()
    named = {*question.order_numbers, *question.bare_numbers}
    if not guest.verified:
        named |= set(question.tracking_numbers)
    return frozenset(map(canonical_number, named)) - _proved(guest)


def _is_proved(question: Question, guest: Guest) -> bool:
    if names_an_order(question):
        return not guesses_of(question, guest)
    return bool(guest.verified)


def _proved(guest: Guest) -> frozenset[str]:
    return frozenset(map(canonical_number, guest.verified))
