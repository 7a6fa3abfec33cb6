"""Sums of money that a text names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from chatbot.understanding.text import narrow

_CURRENCIES = {
    "¥": "CNY", "元": "CNY", "块": "CNY", "rmb": "CNY", "cny": "CNY", "yuan": "CNY",
    "$": "USD", "usd": "USD", "dollar": "USD", "buck": "USD", "刀": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "£": "GBP", "gbp": "GBP", "pound": "GBP",
    "₹": "INR", "rs": "INR", "inr": "INR", "rupee": "INR",
    "美元": "USD", "美金": "USD", "欧元": "EUR", "英镑": "GBP", "人民币": "CNY",
}  # fmt: skip
_VALUE = r"\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,2})?|\d{1,9}(?:\.\d{1,2})?"
_AMOUNT = re.compile(
    rf"(?P<before>[¥$€£₹]|\b(?:rs|inr|usd|eur|gbp|rmb|cny)\b\.?)\s?(?P<first>{_VALUE})"
    rf"|(?<![\d.])(?P<second>{_VALUE})\s?"
    r"(?P<after>美元|美金|欧元|英镑|人民币|元|块|刀|[€£]|(?:rmb|usd|eur|gbp|inr|rs|yuan|rupee|dollar|buck|euro|pound)s?\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amount:
    text: str
    value: Decimal
    currency: str


_ASKED_BACK = re.compile(
    r"(?:\brefund(?: of| me| us| only| just| about| at least| the| my| a| part of it)*"
    r"|\bgive(?: me| us)? back|\bmoney back(?: of)?"
    r"|退(?:款|还|回|给|补|我|个|一下|掉|您|咱|了吧)*)[\s:：]*$",
    re.IGNORECASE,
)
# "refund 5 of O-207": a number without a currency, but plainly a part of something.
_PART_OF = re.compile(
    rf"\brefund (?:me )?(?:only |just )?(?P<value>{_VALUE}) (?:of|from|out of)\b",
    re.IGNORECASE,
)
# What has happened is told, not asked for.
_HAPPENED = re.compile(
    r"\b(?:got|gotten|received|was|were|been|already|gave me)\b|收到|到账|退了|已经?退"
    r"|只退|才退",
    re.IGNORECASE,
)


def refund_asked_for(text: str) -> Amount | None:
    """The sum that a customer wants back, where they name one; its currency, or ""."""
    if _HAPPENED.search(text):
        return None
    plain = narrow(text)
    for amount in find_amounts(text):
        before = plain[: plain.find(narrow(amount.text))]
        if _ASKED_BACK.search(before):
            return amount
    part = _PART_OF.search(plain)
    if part is None:
        return None
    return Amount(part["value"], Decimal(part["value"].replace(",", "")), "")


def find_amounts(text: str) -> tuple[Amount, ...]:
    """The sums that carry a currency, in the order of the text."""
    plain = narrow(text).replace("￥", "¥")
    found = []
    for match in _AMOUNT.finditer(plain):
        value = (match["first"] or match["second"]).replace(",", "")
        sign = (match["before"] or match["after"]).lower().rstrip(".")
        currency = _CURRENCIES.get(sign) or _CURRENCIES[sign.rstrip("s")]
        written = text[match.start() : match.end()]
        found.append(Amount(written, Decimal(value), currency))
    return tuple(found)
