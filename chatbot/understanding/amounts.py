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
}  # fmt: skip
_VALUE = r"\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,2})?|\d{1,9}(?:\.\d{1,2})?"
_AMOUNT = re.compile(
    rf"(?P<before>[¥$€£₹]|\b(?:rs|inr|usd|eur|gbp|rmb|cny)\b\.?)\s?(?P<first>{_VALUE})"
    rf"|(?<![\d.])(?P<second>{_VALUE})\s?"
    r"(?P<after>元|块|刀|[€£]|(?:rmb|usd|eur|gbp|inr|rs|yuan|rupee|dollar|buck|euro|pound)s?\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amount:
    text: str
    value: Decimal
    currency: str


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
