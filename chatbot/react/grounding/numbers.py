"""Order and tracking numbers that an answer names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tools.contracts import canonical_number


@dataclass(frozen=True, slots=True)
class NumberMention:
    start: int
    end: int
    text: str
    number: str  # canonical
    is_tracking: bool


_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:#\s?)?(?:[A-Za-z]{1,4}\s?-\s?|[A-Za-z]{1,4}|[ONW]\s)?"
    r"\d[0-9A-Za-z]{0,40}(?:-[0-9A-Za-z]{1,40}){0,4}(?![A-Za-z0-9])"
)
_PREFIXED = re.compile(
    r"[A-Za-z]{1,4}\s?-\s?[0-9A-Za-z-]{2,}|[ONW]\s\d{2,}|[A-Za-z]{1,4}\d{4,}"
    r"|[ONW]\d{2,}|[A-Za-z]{2}\d{9}[A-Za-z]{2}|1Z[0-9A-Z]{12,}"
)
_HASHED = re.compile(r"#\s?[A-Za-z]{0,4}\s?-?\s?\d{2,}[0-9A-Za-z-]*")
_LONG = re.compile(r"\d{9,}|\d{3}-\d{7}-\d{7}")
_NO_NUMBER = re.compile(r"(?:UTC|GMT|COVID|USB|PM|AM|ISO|RMB|CNY|USD|EUR|Q)\b", re.I)
_BEFORE_ORDER = re.compile(
    r"(?:订单|单号|编号|\border|\border (?:number|no\.?|id))(?:号码?|编号)?"
    r"\s?(?:is|是|为|:|：)?\s?$",
    re.I,
)
_BEFORE_TRACKING = re.compile(
    r"(?:运单|快递|物流|面单)单?(?:编?号)?码?\s?(?:是|为|:|：)?\s?$"
    r"|\b(?:tracking|waybill|parcel|shipment)(?: (?:number|no\.?|id|code))?"
    r"\s?(?:is|:)?\s?$",
    re.I,
)
_UNIT = re.compile(
    r"(?:st|nd|rd|th|h|hrs?|kg|g|ml|l|cm|mm|m|k|x|pcs|gb|mb|am|pm|days?|d|w|v"
    r"|hours?|元)",
    re.I,
)


def find_numbers(text: str, known: Mapping[str, bool]) -> tuple[NumberMention, ...]:
    """The numbers in ``text``; ``known`` maps canonical numbers to "is tracking".

    Digits alone count only after a word for an order or a parcel, or where they are
    long; what looks like an amount, a time or a measure does not count.
    """
    digits = {_digits(number): number for number in known if _digits(number)}
    return tuple(_mentions(text, known, digits))


def _mentions(
    text: str, known: Mapping[str, bool], digits: Mapping[str, str]
) -> Iterator[NumberMention]:
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        token = match.group()
        before = text[max(0, start - 24) : start]
        number = canonical_number(token)
        says_tracking = bool(_BEFORE_TRACKING.search(before))
        says_order = bool(_BEFORE_ORDER.search(before))
        if number in known:
            if token.isdigit() and len(token) < 6 and not (says_order or says_tracking):
                continue
            yield NumberMention(start, end, token, number, known[number])
            continue
        if token.isdigit() and (says_order or says_tracking):
            full = digits.get(token)
            if full and known[full] == says_tracking:
                yield NumberMention(start, end, token, full, says_tracking)
                continue
        if _looks_like_number(token, says_order or says_tracking, text[end : end + 8]):
            tracking = says_tracking or (
                not says_order
                and not number.startswith(("O", "W"))
                and not number.isdigit()
            )
            yield NumberMention(start, end, token, number, tracking)


def _looks_like_number(token: str, is_announced: bool, after: str) -> bool:
    if _NO_NUMBER.match(token):
        return False
    if _PREFIXED.fullmatch(token) or _HASHED.fullmatch(token) or _LONG.fullmatch(token):
        return True
    if not is_announced or len(token) < 2:
        return False
    tail = token.lstrip("0123456789")
    if tail and _UNIT.fullmatch(tail):
        return False
    return not re.match(
        r"\s?(?:件|个|天|小时|元|块|月|号|年|点|items?|days?|hours?)|[.:/]\d", after
    )


def _digits(number: str) -> str:
    return "".join(character for character in number if character.isdigit())


def quoted(number: str, texts: Collection[str]) -> bool:
    """Whether a canonical number stands in one of the canonical texts."""
    return any(number in text for text in texts)
