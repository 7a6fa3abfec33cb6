"""What a message takes over from those before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from chatbot.understanding.kinds import Ask, Need, Question, Topic
from tools.contracts import canonical_number

_LONGEST_FRAGMENT = 40
_CONTINUES = re.compile(
    r"^(?:那|还有|另|然后)?.{0,14}"
    r"(?:呢|那个|这个|它|这单|那单|另一个|另外一个)[?。!~ ]*$"
    r"|^(?:and|what about|how about|also|same for|same question|the other)\b"
    r"|^(?:it|that one|this one|the (?:first|second|last|other) one)[?.! ]*$"
)
_CORRECTS = re.compile(
    r"不对|不是|错了|说错|打错|写错|应该是|我是说|我说的是|更正|搞错"
    r"|^(?:no|sorry|wrong|oops|correction|actually|not)\b"
    r"|\b(?:i meant?|should be|instead of|my mistake|wrong (?:order|number|one))\b"
)
_NUMBER = re.compile(r"[#＃]?\s?[a-z]{0,4}\s?-?\s?\d[\da-z-]*")
_FILLER = re.compile(
    r"(?:不对|[打写搞输说]错了|不是|是的|就是|我?问的?|是|那|和|还有|订单号?|单号|呢|啊|吧|哦|这个|错了|应该|说错了|我说的"
    r"|\b(?:and|or|no|not|sorry|i|mean|meant|it|its|is|the|my|order|number|for|what|about"
    r"|how|this|one|should|be|actually|oops|wrong|please|yes|same|also|but)\b|[^\w])+"
)


def is_fragment(plain: str, *, names_number: bool, names_need: bool) -> bool:
    """Whether a plain text asks nothing of its own and lives on what was asked."""
    if len(plain) > _LONGEST_FRAGMENT:
        return False
    if names_number:
        return not _FILLER.sub("", _NUMBER.sub(" ", plain))
    return not names_need and bool(_CONTINUES.search(plain))


def corrects(plain: str, *, names_order: bool) -> bool:
    """Whether the text names an order in place of another."""
    return names_order and bool(_CORRECTS.search(plain))


def inherited_needs(earlier: Sequence[Question]) -> tuple[Need, ...]:
    """What the last question that asked anything asked."""
    for past in reversed(earlier):
        if past.needs != (Need.NONE,):
            return past.needs
    return (Need.NONE,)


# What an answer must still heed when only the order is named after it.
_LASTING = frozenset(Topic) - {
    Topic.GREETING,
    Topic.THANKS,
    Topic.SMALL_TALK,
    Topic.CAPABILITIES,
    Topic.CORRECTION,
    Topic.MY_ORDERS,
    Topic.ANGRY,
    Topic.LEGAL_THREAT,
    Topic.SAFETY,
}


def inherited_topics(earlier: Sequence[Question]) -> frozenset[Topic]:
    """What coloured the last question that asked anything."""
    for past in reversed(earlier):
        if past.needs != (Need.NONE,) or past.topics & _LASTING:
            return past.topics & _LASTING
    return frozenset()


def merge_questions(questions: Sequence[Question]) -> Question:
    """One question for a burst of messages that one run answers.

    Everything asked is asked; an order that a later message corrects or rejects is
    dropped; the last message decides the language. ValueError where there is none.
    """
    if not questions:
        raise ValueError("nothing to merge")
    if len(questions) == 1:
        return questions[0]
    needs = {need for one in questions for need in one.needs} - {Need.NONE}
    orders: tuple[str, ...] = ()
    for one in questions:
        corrected = Topic.CORRECTION in one.topics and bool(one.order_numbers)
        kept = () if corrected else _without(orders, one.rejected_numbers)
        orders = _unique((*kept, *one.order_numbers))
    return Question(
        text="\n".join(one.text for one in questions),
        language=questions[-1].language,
        needs=tuple(need for need in Need if need in needs) or (Need.NONE,),
        out_of_scope=not needs and any(one.out_of_scope for one in questions),
        topics=frozenset(topic for one in questions for topic in one.topics),
        order_numbers=orders,
        tracking_numbers=_unique(n for one in questions for n in one.tracking_numbers),
        refers_back=not orders and any(one.refers_back for one in questions),
        rejected_numbers=_unique(n for one in questions for n in one.rejected_numbers),
        bare_numbers=_unique(n for one in questions for n in one.bare_numbers),
        fragment=all(one.fragment for one in questions),
        asks=_asks(questions, orders),
    )


def _asks(questions: Sequence[Question], orders: Sequence[str]) -> tuple[Ask, ...]:
    """What each message asks of its own orders; empty where one names none."""
    asking = [one for one in questions if one.needs != (Need.NONE,)]
    if len(orders) < 2 or not all(one.order_numbers for one in asking):
        return ()
    needs: dict[str, set[Need]] = {}
    for one in asking:
        for order in one.order_numbers:
            needs.setdefault(canonical_number(order), set()).update(one.needs_of(order))
    found = [needs.get(canonical_number(order), set()) for order in orders]
    if not all(found) or all(one == found[0] for one in found):
        return ()
    return tuple(
        Ask(order, tuple(need for need in Need if need in asked))
        for order, asked in zip(orders, found, strict=True)
    )


def _without(numbers: tuple[str, ...], rejected: tuple[str, ...]) -> tuple[str, ...]:
    gone = {canonical_number(number) for number in rejected}
    return tuple(one for one in numbers if canonical_number(one) not in gone)


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for item in items:
        found.setdefault(canonical_number(item), item)
    return tuple(found.values())
