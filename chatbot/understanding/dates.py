"""Days that a text names, as seen from the customer's own calendar."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from chatbot.understanding.text import narrow


@dataclass(frozen=True, slots=True)
class Day:
    """A day, and the words that named it."""

    text: str
    date: dt.date


_RELATIVE = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "昨日": -1, "今天": 0, "今日": 0,
    "今晚": 0, "今早": 0, "明天": 1, "明日": 1, "明早": 1, "后天": 2, "大后天": 3,
    "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0,
    "tonight": 0, "day after tomorrow": 2, "tomorrow": 1, "tmrw": 1,
}  # fmt: skip
_WEEKDAYS = {
    "一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6,
    "mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6,
}  # fmt: skip
_MONTHS = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_NUMBERS = {
    "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8,
    "九": 9, "十": 10, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_COUNT = r"\d{1,3}|[一二两三四五六七八九十]"
_WORD_COUNT = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten"
_WEEKDAY = r"mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun"
_MONTH = "|".join(_MONTHS)
_DAY = re.compile(
    rf"(?P<relative>{'|'.join(sorted(_RELATIVE, key=len, reverse=True))})"
    rf"|(?P<zh_count>{_COUNT})(?P<zh_unit>天|周|个?星期|个?礼拜)(?P<zh_side>前|后|之前|之后|以前|以后)"
    rf"|\b(?P<en_count>{_WORD_COUNT}) (?P<en_unit>day|week)s? ago\b"
    rf"|\bin (?P<in_count>{_WORD_COUNT}) (?P<in_unit>day|week)s?\b"
    r"|(?P<zh_week>上上?|下下?|这|本)?个?(?:周|星期|礼拜)(?P<zh_weekday>[一二三四五六日天])"
    rf"|\b(?:(?P<en_week>last|this|next) )?(?P<en_weekday>{_WEEKDAY})(?:day)?\b"
    r"|(?P<year>20\d\d)[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})"
    r"|(?P<zh_month>\d{1,2})月(?P<zh_day>\d{1,2})[日号]?"
    rf"|\b(?P<en_month>{_MONTH})[a-z]{{0,6}}\.? (?P<en_day>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"|\b(?P<en_day_first>\d{1,2})(?:st|nd|rd|th)? (?:of )?"
    rf"(?P<en_month_last>{_MONTH})",
    re.IGNORECASE,
)


def find_days(text: str, *, now: dt.datetime, time_zone: str) -> tuple[Day, ...]:
    """The days named, in the order of the text; ``now`` is aware.

    A weekday alone is the next one to come; a day of a month without a year is the one
    nearest to now. A day that no calendar has is left out.
    """
    today = now.astimezone(ZoneInfo(time_zone)).date()
    plain = narrow(text)
    found = []
    for match in _DAY.finditer(plain):
        try:
            day = _day_of({k: v for k, v in match.groupdict().items() if v}, today)
        except (ValueError, OverflowError):
            continue
        found.append(Day(text[match.start() : match.end()], day))
    return tuple(found)


def _day_of(part: dict[str, str], today: dt.date) -> dt.date:
    if "relative" in part:
        return today + dt.timedelta(_RELATIVE[part["relative"].lower()])
    for count, unit, side in (
        ("zh_count", "zh_unit", part.get("zh_side", "")),
        ("en_count", "en_unit", "前"),
        ("in_count", "in_unit", "后"),
    ):
        if count in part:
            days = _number(part[count]) * (1 if part[unit] in ("天", "day") else 7)
            return today + dt.timedelta(-days if "前" in side else days)
    if "zh_weekday" in part or "en_weekday" in part:
        return _weekday(part, today)
    if "year" in part:
        return dt.date(int(part["year"]), int(part["month"]), int(part["day"]))
    if "zh_month" in part:
        return _nearest(int(part["zh_month"]), int(part["zh_day"]), today)
    name = part.get("en_month") or part["en_month_last"]
    number = part.get("en_day") or part["en_day_first"]
    return _nearest(_MONTHS.index(name.lower()) + 1, int(number), today)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text.lower()]


def _weekday(part: dict[str, str], today: dt.date) -> dt.date:
    name = part.get("zh_weekday") or part["en_weekday"][:3].lower()
    weekday = _WEEKDAYS[name]
    monday = today - dt.timedelta(today.weekday())
    match part.get("zh_week") or part.get("en_week", "").lower():
        case "last":
            return today - dt.timedelta((today.weekday() - weekday - 1) % 7 + 1)
        case "上":
            return monday + dt.timedelta(weekday - 7)
        case "上上":
            return monday + dt.timedelta(weekday - 14)
        case "下" | "next":
            return monday + dt.timedelta(weekday + 7)
        case "下下":
            return monday + dt.timedelta(weekday + 14)
        case "这" | "本" | "this":
            return monday + dt.timedelta(weekday)
        case _:
            return today + dt.timedelta((weekday - today.weekday()) % 7)


def _nearest(month: int, day: int, today: dt.date) -> dt.date:
    years = (today.year - 1, today.year, today.year + 1)
    choices = []
    for year in years:
        try:
            choices.append(dt.date(year, month, day))
        except ValueError:
            continue
    return min(choices, key=lambda choice: abs(choice - today))
