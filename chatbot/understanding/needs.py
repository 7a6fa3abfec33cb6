"""What one message asks, worked out by code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from chatbot.understanding import lexicon_en, lexicon_zh
from chatbot.understanding.kinds import Language, Need, Question, Topic
from chatbot.understanding.language import detect_language
from chatbot.understanding.lexicon import Rule, found
from chatbot.understanding.references import find_numbers, points_back
from chatbot.understanding.text import plain_text

__all__ = [
    "Language",
    "Need",
    "Question",
    "Topic",
    "merge_questions",
    "read_question",
]

_RULES: dict[Language, tuple[Rule, ...]] = {
    "zh": lexicon_zh.RULES,
    "en": lexicon_en.RULES,
}
_NEED_NAMES = frozenset(need.value for need in Need)
_TOPIC_NAMES = frozenset(topic.value for topic in Topic)
_CORRECTION = re.compile(
    r"^(?:不对|不是|错了|说错|打错|应该是|我是说|no\b|sorry\b|wrong\b|i meant?\b|actually\b"
    r"|correction\b|oops\b|not\b)"
)


def read_question(
    text: str,
    *,
    earlier: Sequence[Question] = (),
    language: Language | None = None,
    previous_agent: str = "",
) -> Question:
    """What ``text`` asks; any string is read without error.

    ``earlier`` are the customer's questions of this conversation, oldest first: a
    fragment ("那它呢?", "and O-205?") asks again what they asked. ``language`` forces the
    language of the answer, ``previous_agent`` is the line that the customer answers.
    """
    fallback = earlier[-1].language if earlier else _language_of(previous_agent)
    spoken = language or detect_language(text, fallback=fallback)
    plain = plain_text(text)
    numbers = find_numbers(text)
    hits = found(_RULES["zh"], plain) | found(_RULES["en"], plain)
    topics = _topics(hits, plain, bool(numbers.orders))
    needs = _needs(hits)
    out_of_scope = needs == (Need.NONE,) and "out_of_scope" in hits
    fragment = (
        needs == (Need.NONE,)
        and not out_of_scope
        and _continues(plain, bool(numbers.orders or numbers.tracking or numbers.bare))
    )
    if fragment and earlier:
        needs = _inherited(earlier)
    return Question(
        text=text,
        language=spoken,
        needs=needs,
        out_of_scope=out_of_scope,
        topics=topics,
        order_numbers=numbers.orders,
        tracking_numbers=numbers.tracking,
        refers_back=not numbers.orders
        and not numbers.tracking
        and (points_back(plain) or (fragment and bool(earlier))),
        rejected_numbers=numbers.rejected,
        bare_numbers=numbers.bare,
        fragment=fragment,
    )


def merge_questions(questions: Sequence[Question]) -> Question:
    """One question for a burst of messages that one run answers.

    Everything asked is asked; a number rejected or corrected later is dropped; the last
    message decides the language.
    """
    if not questions:
        raise ValueError("nothing to merge")
    if len(questions) == 1:
        return questions[0]
    needs = _unique(need for one in questions for need in one.needs)
    asked = tuple(need for need in needs if need is not Need.NONE)
    orders: tuple[str, ...] = ()
    for one in questions:
        if Topic.CORRECTION in one.topics and one.order_numbers:
            orders = ()
        orders = tuple(n for n in orders if n not in one.rejected_numbers)
        orders = _unique((*orders, *one.order_numbers))
    return Question(
        text="\n".join(one.text for one in questions),
        language=questions[-1].language,
        needs=asked or (Need.NONE,),
        out_of_scope=not asked and any(one.out_of_scope for one in questions),
        topics=frozenset().union(*(one.topics for one in questions)),
        order_numbers=orders,
        tracking_numbers=_unique(n for one in questions for n in one.tracking_numbers),
        refers_back=not orders and any(one.refers_back for one in questions),
        rejected_numbers=_unique(n for one in questions for n in one.rejected_numbers),
        bare_numbers=_unique(n for one in questions for n in one.bare_numbers),
        fragment=all(one.fragment for one in questions),
    )


T = TypeVar("T")


def _unique(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))


def _language_of(previous_agent: str) -> Language:
    return detect_language(previous_agent, fallback="en")


def _topics(hits: frozenset[str], plain: str, names_order: bool) -> frozenset[Topic]:
    topics = {Topic(name) for name in hits & _TOPIC_NAMES}
    if names_order and _CORRECTION.search(plain):
        topics.add(Topic.CORRECTION)
    return frozenset(topics)


def _needs(hits: frozenset[str]) -> tuple[Need, ...]:
    needs = {Need(name) for name in hits & _NEED_NAMES}
    if "refund" in hits:
        needs.add(Need.REFUND_STATUS)
    if hits & {"damaged", "wrong_item"} and not needs & {
        Need.REFUND_STATUS,
        Need.CANCEL,
    }:
        needs.add(Need.RETURN)
    if "missing_item" in hits and Need.RETURN not in needs:
        needs.add(Need.ORDER_STATUS)
    if needs & {Need.REFUND_STATUS, Need.CANCEL}:
        needs -= {Need.ORDER_STATUS, Need.RETURN}
    if needs & {
        Need.LOCATION,
        Need.ETA,
        Need.RETURN,
        Need.TRACKING_ID,
        Need.CHANGE_ADDRESS,
        Need.POLICY,
    }:
        needs -= {Need.ORDER_STATUS}
    return tuple(need for need in Need if need in needs) or (Need.NONE,)


def _continues(plain: str, names_number: bool) -> bool:
    if names_number:
        return True
    return len(plain) <= 30 and bool(_FRAGMENT.search(plain))


_FRAGMENT = re.compile(
    r"^(?:那|还有|另)?.{0,12}(?:呢|那个|这个|它)[?。!~ ]*$"
    r"|^(?:and|what about|how about|also|same for|the other)\b"
)


def _inherited(earlier: Sequence[Question]) -> tuple[Need, ...]:
    for past in reversed(earlier):
        if past.needs != (Need.NONE,):
            return past.needs
    return (Need.NONE,)
