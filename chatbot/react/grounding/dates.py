"""Dates, times and spans of time as answers write them, in Chinese and English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from chatbot.react.grounding.date_forms import FORMS, HAN
from chatbot.react.grounding.when import When

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january",
            "feb february",
            "mar march",
            "apr april",
            "may",
            "jun june",
            "jul july",
            "aug august",
            "sep sept september",
            "oct october",
            "nov november",
            "dec december",
        ),
        start=1,
    )
    for name in names.split()
}
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "mon monday 一",
            "tue tues tuesday 二",
            "wed weds wednesday 三",
            "thu thur thurs thursday 四",
            "fri friday 五",
            "sat saturday 六",
            "sun sunday 日 天",
        )
    )
    for name in names.split()
}
_RELATIVE_DAYS = {
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0,
    "this evening": 0, "tomorrow": 1, "the day after tomorrow": 2, "yesterday": -1,
    "last night": -1, "the day before yesterday": -2,
    "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "当天": 0, "今晨": 0, "明天": 1,
    "明日": 1, "明早": 1, "明晚": 1, "后天": 2, "大后天": 3, "昨天": -1, "昨日": -1,
    "昨晚": -1, "前天": -2, "当晚": 0, "次日": 1, "第二天": 1, "隔天": 1,
}  # fmt: skip
_WORD_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fourteen": 14,
    "fifteen": 15, "thirty": 30, "a couple of": 2, "a few": 3, "several": 3,
}  # fmt: skip
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"),
    *("ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth"),
    *("sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"),
)
_WORD_NUMBERS |= {
    **{word: number for number, word in enumerate(_ORDINALS, start=1)},
    **{f"twenty {word}": 20 + n for n, word in enumerate(_ORDINALS[:9], start=1)},
    "thirtieth": 30,
    "thirty first": 31,
}
_DAYS_PER = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "minute": 1 / 1440}
_ZH_UNITS = {
    "分钟": "minute", "小时": "hour", "钟头": "hour", "天": "day", "日": "day",
    "工作日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month",
    "自然日": "day", "个月": "month",
}  # fmt: skip


# Between which hours a part of the day lies, generously; past 24 is the next morning.
_PARTS: tuple[tuple[str, tuple[int, int]], ...] = (
    ("tonight", (16, 31)), ("morning", (0, 13)), ("afternoon", (11, 19)),
    ("evening", (16, 25)), ("midday", (10, 15)), ("night", (18, 31)), ("清晨", (3, 10)),
    ("凌晨", (0, 8)),
    ("早上", (4, 12)), ("早晨", (4, 12)), ("上午", (4, 13)), ("中午", (10, 15)),
    ("下午", (11, 20)), ("傍晚", (15, 22)), ("晚上", (16, 26)), ("夜里", (18, 31)),
    ("深夜", (20, 30)), ("今早", (0, 12)), ("今晨", (0, 10)), ("今晚", (16, 26)),
    ("昨晚", (16, 31)), ("明早", (4, 12)), ("明晚", (16, 26)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DateMention:
    start: int
    end: int
    text: str
    form: str
    when: When


def find_dates(text: str, now: datetime | None) -> tuple[DateMention, ...]:
    """The mentions of time in ``text``; relative ones are read from ``now``.

    A date and the time beside it are one mention.
    """
    found: list[DateMention] = []
    for form, pattern in FORMS:
        for match in pattern.finditer(text):
            when = _read(form, match, text, now)
            if when is not None:
                start, end = _stripped(match)
                if form == "tail":
                    start = match.start("d")
                found.append(DateMention(start, end, text[start:end], form, when))
    joined = _joined(text, list(_without_overlaps(found)))
    # "Good evening", "下午" beside no day: no time of anything.
    return tuple(one for one in joined if not one.when.is_part_only)


def _stripped(match: re.Match[str]) -> tuple[int, int]:
    written = match.group()
    return (
        match.start() + len(written) - len(written.lstrip()),
        match.end() - len(written) + len(written.rstrip()),
    )


def _without_overlaps(found: list[DateMention]) -> Iterator[DateMention]:
    end = -1
    for mention in sorted(found, key=lambda one: (one.start, -one.end)):
        if mention.start >= end:
            end = mention.end
            yield mention


_GLUE = re.compile(
    r"[\s,，]{0,2}(?:\(|（)?(?:at|around|on|by|in the|during the|early|late|于|的|,|约"
    r"|大约)?\s?"
)


def _joined(text: str, mentions: list[DateMention]) -> Iterator[DateMention]:
    waiting: DateMention | None = None
    for found in mentions:
        mention = _resolved(found, waiting)
        if waiting is not None:
            both = _both(waiting, mention)
            gap = text[waiting.end : mention.start]
            if both is not None and len(gap) <= 12 and _GLUE.fullmatch(gap):
                waiting = DateMention(
                    waiting.start,
                    mention.end,
                    text[waiting.start : mention.end],
                    waiting.form,
                    both,
                )
                continue
            yield waiting
        waiting = mention
    if waiting is not None:
        yield waiting


SAME_DAY = {"当天": 0, "当晚": 0, "次日": 1, "第二天": 1, "隔天": 1}


def _resolved(mention: DateMention, before: DateMention | None) -> DateMention:
    """ "28 November … that day": a day that another date tells."""
    days = SAME_DAY.get(mention.text)
    if days is None or before is None or not before.when.month or not before.when.day:
        return mention
    try:
        # The year matters for the length of February alone.
        day = date(before.when.year or 2028, before.when.month, before.when.day)
    except ValueError:
        return mention
    day += timedelta(days=days)
    when = When(month=day.month, day=day.day, part=mention.when.part)
    return replace(mention, when=when)


def _both(one: DateMention, other: DateMention) -> When | None:
    """One moment out of two mentions that complete each other, or None."""
    a, b = one.when, other.when
    if a.is_span or b.is_span or (a.has_date and b.has_date and not _complete(a, b)):
        return None
    if a.hour is not None and b.hour is not None:
        return None
    return When(
        year=a.year or b.year,
        month=a.month or b.month,
        day=a.day or b.day,
        either=a.either or b.either,
        weekday=b.weekday if a.weekday is None else a.weekday,
        hour=b.hour if a.hour is None else a.hour,
        minute=b.minute if a.minute is None else a.minute,
        half_day_open=a.half_day_open or b.half_day_open,
        in_utc=a.in_utc or b.in_utc,
        first=a.first or b.first,
        last=a.last or b.last,
        part=a.part or b.part,
    )


def _complete(a: When, b: When) -> bool:
    """A weekday beside a date ("Friday, May 3")."""
    return (a.weekday is not None) != (b.weekday is not None)


def number_of(written: str) -> int | None:
    """The number of digits, Chinese numerals up to 99 or a small English word."""
    if written.isdigit():
        return int(written)
    word = written.lower().replace("-", " ")
    if word in _WORD_NUMBERS:
        return _WORD_NUMBERS[word]
    if not word or any(character not in HAN for character in word):
        return None
    tens, ten, ones = word.partition("十")
    if not ten:
        return _HAN_DIGITS[word] if len(word) == 1 else None
    if len(tens) > 1 or len(ones) > 1:
        return None
    return (_HAN_DIGITS[tens] if tens else 1) * 10 + (_HAN_DIGITS[ones] if ones else 0)


_HAN_DIGITS = {
    "零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6,
    "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip


def _read(
    form: str, match: re.Match[str], text: str, now: datetime | None
) -> When | None:
    parts = {name: value for name, value in match.groupdict().items() if value}
    if form in ("ymd", "md_en", "dm_en", "md_zh", "md_words", "dm_words", "tail"):
        return _calendar(parts)
    if form in ("dmy", "slash", "dash"):
        return _numeric(form, parts, match, text)
    if form in ("part_zh", "part_en"):
        month = _month(parts)
        return When(month=month) if month else None
    if form in ("weekday_zh", "weekday_en"):
        return _weekday(parts, now)
    if form == "week":
        return _week(match.group().lower(), now)
    if form in ("span_en", "span_zh"):
        return _span(form, parts)
    if form == "relative":
        return _relative(match.group(), now)
    if form in ("day_zh", "day_en"):
        day = number_of(parts["d"])
        return When(day=day) if day and day <= 31 else None
    if form == "part":
        return When(part=_part_of(match.group().lower()))
    return _clock(form, parts, match.group())


def _month(parts: dict[str, str]) -> int | None:
    if "mn" in parts:
        return _MONTHS.get(parts["mn"].lower().rstrip("."))
    month = number_of(parts["m"])
    return month if month and 1 <= month <= 12 else None


def _calendar(parts: dict[str, str]) -> When | None:
    month, day = _month(parts), number_of(parts["d"])
    if not month or not day or day > 31:
        return None
    return When(year=int(parts["y"]) if "y" in parts else None, month=month, day=day)


_DATE_WORD_BEFORE = re.compile(
    r"(?:\b(?:on|by|at|until|since|before|from|of|date|delivery|arrives?|eta)|于|预计|在|至|到"
    r"|截至|日期|时间)\s?:?\s?$",
    re.I,
)


def _numeric(
    form: str, parts: dict[str, str], match: re.Match[str], text: str
) -> When | None:
    a, b = int(parts["a"]), int(parts["b"])
    if form != "dmy":
        before = text[max(0, match.start() - 12) : match.start()]
        followed = text[match.end() : match.end() + 4].lstrip()[:2]
        has_clock = followed[:1].isdigit()
        if not has_clock and not _DATE_WORD_BEFORE.search(before):
            return None
    year = int(parts["y"]) if "y" in parts else None
    readings = [(m, d) for m, d in ((a, b), (b, a)) if 1 <= m <= 12 and 1 <= d <= 31]
    if not readings:
        return None
    (month, day), other = readings[0], readings[1] if len(readings) > 1 else None
    return When(year=year, month=month, day=day, either=other)


def _weekday(parts: dict[str, str], now: datetime | None) -> When | None:
    weekday = _WEEKDAYS.get(parts["w"].lower())
    if weekday is None:
        return None
    relation = parts.get("rel", "").lower()
    if now is None or relation in ("", "coming", "next", "last", "this"):
        return When(weekday=weekday)
    weeks = {"上上": -2, "上": -1, "本": 0, "这": 0, "下": 1, "下下": 2}[relation]
    monday = now.date() - timedelta(days=now.weekday())
    day = monday + timedelta(days=7 * weeks + weekday)
    return When(weekday=weekday, first=day, last=day)


def _week(words: str, now: datetime | None) -> When | None:
    if now is None:
        return When(first=date.max, last=date.max)
    today = now.date()
    if "month" in words or "月" in words:
        return _month_part(words, today)
    weeks = 1 if ("next" in words or "下" in words) else 0
    weeks = -1 if ("last" in words or "上" in words) else weeks
    monday = today - timedelta(days=today.weekday()) + timedelta(days=7 * weeks)
    is_end = "end" in words or "末" in words
    return When(
        first=monday + timedelta(days=4 if is_end else 0),
        last=monday + timedelta(days=6),
    )


def _month_part(words: str, today: date) -> When:
    first = today.replace(day=1)
    if "next" in words or "下" in words:
        first = (first + timedelta(days=32)).replace(day=1)
    elif "last" in words or "上" in words:
        first = (first - timedelta(days=1)).replace(day=1)
    last = (first + timedelta(days=32)).replace(day=1) - timedelta(days=1)
    if "end" in words or "底" in words or "末" in words:
        return When(first=last - timedelta(days=7), last=last)
    if "初" in words:
        return When(first=first, last=first + timedelta(days=9))
    return When(first=first, last=last)


def _span(form: str, parts: dict[str, str]) -> When | None:
    low = number_of(parts["lo"])
    if form == "span_zh" and low is None:
        low, high = _two_numerals(parts["lo"])
    else:
        high = number_of(parts["hi"]) if "hi" in parts else low
    if low is None or high is None:
        return None
    if form == "span_zh":
        unit = _ZH_UNITS[parts["u"]]
        if (
            unit in ("month", "week")
            and parts["u"] in ("月", "周")
            and (parts["u"] == "月" and "ge" not in parts)
        ):
            return None
        if parts["u"] == "日" and "hi" not in parts and "ago" not in parts:
            return None
    else:
        unit = {"min": "minute", "hr": "hour"}.get(
            parts["u"].lower(), parts["u"].lower()
        )
    scale = _DAYS_PER[unit]
    if "ago" in parts:
        return When(lo=-high * scale, hi=-low * scale)
    return When(lo=low * scale, hi=high * scale)


def _two_numerals(written: str) -> tuple[int | None, int | None]:
    """ "两三天" is two to three."""
    if len(written) != 2:
        return None, None
    return number_of(written[0]), number_of(written[1])


def _relative(words: str, now: datetime | None) -> When:
    days = _RELATIVE_DAYS[words.lower()]
    day = now.date() + timedelta(days=days) if now else date.max
    return When(first=day, last=day, part=_part_of(words.lower()))


def _part_of(words: str) -> tuple[int, int] | None:
    return next((hours for word, hours in _PARTS if word in words), None)


def _clock(form: str, parts: dict[str, str], written: str) -> When | None:
    if form == "noon":
        return When(hour=12 if written.lower() == "noon" else 0, minute=0)
    hour = number_of(parts["h"])
    minute = number_of(parts["mi"]) if "mi" in parts else None
    minute = 30 if "half" in parts else 15 if "q" in parts else minute
    if hour is None or hour > 24 or (minute or 0) > 59:
        return None
    half = (parts.get("ap") or parts.get("ap0") or "").lower()
    if half and (half[0] == "p" or half in ("下午", "晚上", "傍晚", "今晚", "夜里")):
        hour = hour + 12 if hour < 12 else hour
    elif half in ("中午",):
        hour = hour + 12 if hour < 3 else hour
    elif half and hour == 12:
        hour = 0
    zone = parts.get("z", "").strip().upper()
    return When(
        hour=hour % 24,
        minute=minute,
        half_day_open=not half and form == "hour_zh",
        in_utc=zone in ("UTC", "GMT", "Z", "+00:00", "+0000"),
    )
