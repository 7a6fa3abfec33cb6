"""Sums of money as answers write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from chatbot.react.grounding.lexicon import word_list

_NUMBER = r"\d{1,3}(?:[,，]\d{3})+(?:\.\d{1,2})?|\d{1,12}(?:\.\d{1,2})?"
_BEFORE = (
    r"US\$|HK\$|NT\$|A\$|C\$|S\$|[¥￥$€£₹]"
    r"|(?:RMB|CNY|USD|EUR|GBP|JPY|HKD|AUD|CAD|人民币)(?=[\s\d¥])"
)
_AFTER = (
    r"元|块钱|块(?![儿])|圆|人民币|美元|美金|欧元|英镑|港币|港元|日元"
    r"|(?:yuan|RMB|CNY|USD|EUR|GBP|JPY|HKD|AUD|CAD|dollars?|euros?|pounds?|bucks?)\b"
    r"|[€¥￥]"
)
_SUM = re.compile(
    rf"(?P<sym>{_BEFORE})\s?[¥￥$]?\s?(?P<n1>{_NUMBER})(?![\d])"
    rf"|(?<![\d.-])(?<!\d,)(?P<n2>{_NUMBER})\s?(?P<cur>{_AFTER})",
    re.I,
)
_HAN_SUM = re.compile(
    r"(?P<n>[一二两三四五六七八九十百千万零〇]{1,12})(?P<cur>元|块钱|块(?=[^儿]|$))"
    r"(?:(?P<jiao>[一二两三四五六七八九])角)?"
)
_BARE = word_list(r"""
    (?:total|amount|price|paid|cost|fee|charged?|refund(?: of)?|sum|合计|总额|总价|总计
        |金额|共计|实付|价格|费用|运费|付了|退款)[^\d\n。.]{0,12}?(?<![\dA-Za-z-])
        (?P<n>\d{1,3}(?:,\d{3})+(?:\.\d{2})?|\d{1,12}\.\d{2})(?![\d:])
    (?:金额|总额|总价|总计|合计|共计|实付|价格)(?:是|为|:|：)?\s?(?P<n2>\d{1,12})
        (?![\d:月日号.天-])
    \b(?:total|amount|price)(?: is| was| of|:)\s?(?P<n3>\d{1,12})(?![\d:/.-]
        |\s?[A-Za-z])
""")
_CURRENCIES = {
    "$": {"USD", "AUD", "CAD", "HKD", "SGD", "TWD", "NZD", "MXN"},
    "¥": {"CNY", "JPY"},
    "€": {"EUR"},
    "£": {"GBP"},
    "₹": {"INR"},
    "us$": {"USD"}, "hk$": {"HKD"}, "nt$": {"TWD"}, "a$": {"AUD"}, "c$": {"CAD"},
    "s$": {"SGD"},
    "rmb": {"CNY"}, "人民币": {"CNY"}, "yuan": {"CNY"},
    "元": {"CNY", "JPY", "HKD", "USD"},
    "块": {"CNY"}, "块钱": {"CNY"}, "圆": {"CNY", "JPY"},
    "美元": {"USD"}, "美金": {"USD"}, "欧元": {"EUR"}, "英镑": {"GBP"}, "港币": {"HKD"},
    "港元": {"HKD"}, "日元": {"JPY"},
    "dollar": {"USD", "AUD", "CAD", "HKD"}, "buck": {"USD"}, "euro": {"EUR"},
    "pound": {"GBP"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AmountMention:
    """``currencies`` is empty where the text names none."""

    start: int
    end: int
    text: str
    amount: Decimal
    currencies: frozenset[str]

    def fits(self, amount: Decimal, currency: str) -> bool:
        return self.amount == amount and (
            not self.currencies or not currency or currency in self.currencies
        )


def find_amounts(text: str) -> tuple[AmountMention, ...]:
    found = sorted(_mentions(text), key=lambda one: (one.start, -one.end))
    kept: list[AmountMention] = []
    for mention in found:
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return tuple(kept)


def _mentions(text: str) -> Iterator[AmountMention]:
    for match in _SUM.finditer(text):
        written = match["n1"] or match["n2"]
        yield _mention(match, match.start(), written, match["sym"] or match["cur"])
    for match in _BARE.finditer(text):
        name = "n" if match["n"] else "n2" if match["n2"] else "n3"
        start = match.start(name)
        yield AmountMention(
            start, match.end(name), match[name], _decimal(match[name]), frozenset()
        )
    for match in _HAN_SUM.finditer(text):
        value = han_number(match["n"])
        if value is not None and len(match["n"]) > 1:
            cents = Decimal(han_number(match["jiao"]) or 0) / 10 if match["jiao"] else 0
            yield AmountMention(
                match.start(),
                match.end(),
                match.group(),
                Decimal(value) + cents,
                _currencies(match["cur"]),
            )


def _mention(
    match: re.Match[str], start: int, written: str, currency: str
) -> AmountMention:
    return AmountMention(
        start, match.end(), match.group(), _decimal(written), _currencies(currency)
    )


def _decimal(written: str) -> Decimal:
    return Decimal(re.sub("[,，]", "", written))


def _currencies(written: str) -> frozenset[str]:
    key = written.strip().lower().replace("￥", "¥")
    known = _CURRENCIES.get(key) or _CURRENCIES.get(key.rstrip("s"))
    return frozenset(known) if known else frozenset({key.upper()})


_HAN_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}


def han_number(written: str) -> int | None:
    """The value of Chinese numerals below a hundred million; None for other text."""
    total = section = digit = 0
    for character in written:
        if character in _HAN_DIGITS:
            digit = _HAN_DIGITS[character]
        elif character in _HAN_UNITS:
            section += (digit or 1) * _HAN_UNITS[character]
            digit = 0
        elif character == "万":
            total, section, digit = (section + digit) * 10_000, 0, 0
        else:
            return None
    return total + section + digit
