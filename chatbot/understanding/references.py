"""Order and tracking numbers, and what "it" or "my last order" points at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chatbot.understanding.carriers import carrier_of
from chatbot.understanding.kinds import Question
from chatbot.understanding.text import narrow
from tools.contracts import canonical_number


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a text, as written, once each, in the order of the text."""

    orders: tuple[str, ...] = ()
    tracking: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()


_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])"
    r"(?:#\s?)?(?:[A-Za-z]{1,4}(?:\s?-\s?|\s)?)?\d(?:[0-9A-Za-z]|-(?=[0-9A-Za-z])){1,39}"
    r"(?![0-9A-Za-z])"
)
_SHOP_FORM = re.compile(r"(?:#\s?)?[Oo](?:\s?-\s?|\s)?\d{2,12}|#?\s?[Ww]\d{7}")
_HASH_FORM = re.compile(r"#\s?[A-Za-z]{0,4}-?\d{3,24}")
_SHIPMENT_FORM = re.compile(r"[Nn]-?\d{2,8}")
_LETTERS_AND_DIGITS = re.compile(r"(?=.{0,3}[A-Za-z])[0-9A-Za-z][0-9A-Za-z\s-]{7,39}")
_LONG_DIGITS = re.compile(r"\d{9,30}|\d{3}-\d{7}-\d{7}")
_CHINESE_MOBILE = re.compile(r"1[3-9]\d{9}")
_SAYS_ORDER = re.compile(
    r"(?:订单(?:编?号)?码?|单号|编号|order(?:\s?(?:number|numbers|no\.?|id|num|nr))?"
    r"|purchase|roder|oder)\s?(?:is|are|was|是|为|:|：|#|\.|-|,)?\s?#?\s?$",
    re.IGNORECASE,
)
_SAYS_TRACKING = re.compile(
    r"(?:运单|快递|物流|包裹|面单)(?:单)?(?:编?号)?码?\s?(?:是|为|:|：|#)?\s?$"
    r"|(?:tracking|track|awb|waybill|parcel|shipment|consignment)"
    r"\s?(?:number|no\.?|id|num|code)?\s?(?:is|:|#)?\s?#?\s?$",
    re.IGNORECASE,
)
_SAYS_NOT = re.compile(
    r"(?:不是|并非|not(?: order)?|isnt|isn't)\s?#?\s?$", re.IGNORECASE
)
_LEADING_WORD = re.compile(
    r"(?:is|was|and|or|for|no|id|not|in|at|on|of|my|to|by|the|with|from|it|just|only"
    r"|past|last|over|like|paid|got|than|this|that|have|has|are|were|said|says|rs|usd"
    r"|inr|rmb|qty|day|item)\s",
    re.IGNORECASE,
)


def find_numbers(text: str) -> Numbers:
    """Read the order and tracking numbers of any text, in time linear in its length."""
    plain = narrow(text)
    found: dict[str, tuple[str, str]] = {}
    for match in _TOKEN.finditer(plain):
        start, end = match.span()
        word = _LEADING_WORD.match(plain, start, end)
        if word:
            start = word.end()
        kind = _kind_of(plain[start:end], plain[max(0, start - 30) : start])
        if kind:
            written = text[start:end].strip()
            key = canonical_number(written)
            if kind == "rejected" or key not in found or found[key][0] == "bare":
                found[key] = (kind, written)
    return Numbers(
        *(
            tuple(written for kind, written in found.values() if kind == wanted)
            for wanted in ("order", "tracking", "rejected", "bare")
        )
    )


def _kind_of(token: str, before: str) -> str | None:
    kind = _kind_by_form(token, before)
    if kind in ("order", "tracking") and _SAYS_NOT.search(before):
        return "rejected"
    return kind


def _kind_by_form(token: str, before: str) -> str | None:
    if _SHOP_FORM.fullmatch(token):
        return "order"
    if _SAYS_TRACKING.search(before) or _SHIPMENT_FORM.fullmatch(token):
        return "tracking"
    if _HASH_FORM.fullmatch(token) or _SAYS_ORDER.search(before):
        return "order"
    if _CHINESE_MOBILE.fullmatch(token):
        return None
    if _LETTERS_AND_DIGITS.fullmatch(token) and carrier_of(token):
        return "tracking"
    if _LONG_DIGITS.fullmatch(token):
        return "order"
    if token.isdigit() and 3 <= len(token) <= 8:
        return "bare"
    return None


_LONGEST = 2000
_PREFIX = re.compile(r"^[A-Z]+")
_POINTS_BACK = re.compile(
    r"它|这个|那个|这单|那单|这件|那件|该订单|上一个|上个|前一个|刚才|刚刚|另一个|另外一个"
    r"|上次|最近|这些|那些|那(?:它|他|她|就|现在|什么|啥|怎么|我)|其他的"
    r"|\b(?:it|its|that|this|those|these|them|they|the other|other one|same one"
    r"|(?:last|latest|previous|recent|first|second)"
    r" (?:order|one|parcel|package|purchase))\b",
    re.IGNORECASE,
)


def points_back(text: str) -> bool:
    """Whether the text points at something said before without naming it."""
    return bool(_POINTS_BACK.search(text[:_LONGEST]))


_OTHER = re.compile(
    r"另一个|另外一个|另一单|另外一单|(?:别的|其他的?)(?:订单|那[个单])"
    r"|\b(?:other|another) (?:one|order|parcel)\b",
    re.IGNORECASE,
)
_NEWEST = re.compile(
    r"最近(?:的|一)|最新|上一(?:个|单|笔)|上个订单|刚(?:才|刚)?(?:买|下|拍)"
    r"|\b(?:last|latest|newest|recent) (?:order|one|purchase|parcel|package)\b",
    re.IGNORECASE,
)


def points_at_newest(text: str) -> bool:
    """Whether "my last order" is meant; "last week" is a time and no order."""
    return bool(_NEWEST.search(text[:_LONGEST]))


def points_elsewhere(text: str) -> bool:
    """Whether another order is meant than the one spoken of."""
    return bool(_OTHER.search(text[:_LONGEST]))


def resolve_orders(
    question: Question,
    *,
    earlier: Sequence[Question] = (),
    own_orders: Iterable[str] = (),
) -> tuple[str, ...]:
    """The order numbers that a question is about; empty where one must ask back.

    Numbers named in the text win. Bare digits count only where they fit one of
    ``own_orders``, the customer's own. Otherwise the last question that named an order
    is continued, without what was rejected since.
    """
    if question.order_numbers:
        return question.order_numbers
    own = tuple(own_orders)
    fitting = tuple(
        number
        for bare in question.bare_numbers
        for number in own
        if _PREFIX.sub("", canonical_number(number)) == canonical_number(bare)
    )
    if fitting:
        return fitting
    rejected = {canonical_number(number) for number in question.rejected_numbers}
    for past in reversed(earlier):
        rejected.update(canonical_number(number) for number in past.rejected_numbers)
        kept = tuple(
            number
            for number in past.order_numbers
            if canonical_number(number) not in rejected
        )
        if kept:
            return kept
    return ()


def pointed_order(
    text: str, *, own_orders: Sequence[str], current: Sequence[str] = ()
) -> str | None:
    """Which of ``own_orders``, newest first, "my last order" or "the other one" means.

    ``current`` are the orders that were spoken of last. None where the text points at
    none of them, or at one of several.
    """
    start = text[:_LONGEST]
    if own_orders and _NEWEST.search(start):
        return own_orders[0]
    if current and _OTHER.search(start):
        here = {canonical_number(number) for number in current}
        others = [one for one in own_orders if canonical_number(one) not in here]
        return others[0] if len(others) == 1 else None
    return None
