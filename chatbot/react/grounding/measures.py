"""Spans of time and sums in one spelling, so that "two weeks" is "14 days"."""

from __future__ import annotations

import re

from chatbot.react.grounding.amounts import han_number
from chatbot.react.grounding.dates import number_of

_HAN = "零〇一二两三四五六七八九十百"
_WORD = (
    r"an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|fifteen"
    r"|thirty"
)
_SPAN = re.compile(
    rf"(?<![\w.-])(?P<n>\d{{1,3}}|{_WORD})(?P<many>\s?(?:-|~|to|or)\s?(?P<m>\d{{1,3}}|{_WORD}))?"
    r"[\s-]?(?P<work>working |business )?(?P<u>hour|day|week|month|year)s?\b"
    rf"|(?<![\d.{_HAN}])(?P<zn>\d{{1,3}}|[{_HAN}]{{1,3}})"
    rf"(?P<zmany>\s?(?:-|~|至|到)\s?(?P<zm>\d{{1,3}}|[{_HAN}]{{1,3}}))?\s?"
    r"(?P<zu>个?(?:工作日|小时|钟头|星期|礼拜|月)|天|日(?!期|常)|周(?![一二三四五六日天末]|年)|年)"
    r"(?P<zin>[之以]?内)?",
    re.IGNORECASE,
)
_SUM = re.compile(
    rf"(?P<sym>[¥￥])\s?(?P<n1>\d{{1,6}}(?:\.\d{{1,2}})?)"
    rf"|(?P<n2>\d{{1,6}}(?:\.\d{{1,2}})?|[{_HAN}]{{1,5}})\s?(?:元|块钱|块(?!儿)|yuan\b|CNY\b|RMB\b)",
    re.IGNORECASE,
)
_HOURS = {"hour": 1, "day": 24, "week": 168, "month": 720, "year": 8760}
_UNITS = {
    "工作日": "day", "小时": "hour", "钟头": "hour", "星期": "week", "礼拜": "week",
    "月": "month", "天": "day", "日": "day", "周": "week", "年": "year",
}  # fmt: skip


def in_one_spelling(text: str) -> str:
    """The text with every span as "|14d|", every sum in yuan as "|¥10|".

    Working days stay apart from days, and a range from its ends.
    """
    return _SUM.sub(_sum, _SPAN.sub(_span, text))


def _span(match: re.Match[str]) -> str:
    written = match["n"] or match["zn"]
    last = match["m"] or match["zm"]
    unit = match["u"].lower() if match["u"] else _UNITS[match["zu"].lstrip("个")]
    low, high = number_of(written), number_of(last) if last else None
    if low is None or (last and high is None):
        return match.group()
    if match["zu"] in ("月", "日") and not match["zin"]:
        return match.group()
    works = bool(match["work"]) or "工作日" in (match["zu"] or "")
    said = "-".join(
        _length(one * _HOURS[unit]) for one in (low, high) if one is not None
    )
    return f"|{'w' if works else ''}{said}|{'内' if match['zin'] else ''}"


def _length(hours: int) -> str:
    return f"{hours // 24}d" if hours % 24 == 0 else f"{hours}h"


def _sum(match: re.Match[str]) -> str:
    written = match["n1"] or match["n2"]
    value = float(written) if written[0].isdigit() else han_number(written)
    return match.group() if value is None else f"|¥{value:g}|"
