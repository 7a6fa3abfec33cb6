"""The shapes in which dates, times and spans of time are written."""

from __future__ import annotations

import re

HAN = "零〇一二两三四五六七八九十"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)day"
_N = rf"(?:\d{{1,4}}|[{HAN}]{{1,3}})"
_EN_N = (
    r"(?:\d{1,4}|an?(?: couple of| few)?|one|two|three|four|five|six|seven|eight|nine"
    r"|ten|twelve|fourteen|fifteen|thirty|several)"
)
# A day in figures or as a word: "9th", "ninth", "twenty-first".
_DAY_WORD = (
    r"(?:thirty[\s-]first|thirtieth|(?:twenty[\s-])?(?:first|second|third|fourth|fifth"
    r"|sixth|seventh|eighth|ninth)|twentieth|tenth|eleventh|twelfth|thirteenth"
    r"|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth)"
)

FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "ymd",
        re.compile(
            r"(?<![\d-])(?P<y>20\d{2})\s?[-/.年]\s?(?P<m>\d{1,2})\s?[-/.月]\s?"
            r"(?P<d>\d{1,2})(?!\d)\s?[日号]?T?"
        ),
    ),
    (
        "md_en",
        re.compile(
            rf"(?<![A-Za-z])(?P<mn>{_MONTH})\s?(?P<d>\d{{1,2}})(?!\d)(?:st|nd|rd|th)?"
            r"(?:,?\s?(?P<y>20\d{2}))?(?![A-Za-z\d])",
            re.I,
        ),
    ),
    (
        "dm_en",
        re.compile(
            rf"(?<![\w-])(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s?(?:of\s)?-?(?P<mn>{_MONTH})"
            r"(?![A-Za-z])(?:,?\s?-?(?P<y>20\d{2}))?",
            re.I,
        ),
    ),
    (
        "md_words",
        re.compile(
            rf"\b(?P<mn>{_MONTH}),?\s(?:the\s)?(?P<d>{_DAY_WORD})\b",
            re.I,
        ),
    ),
    (
        "dm_words",
        re.compile(
            rf"\b(?P<d>{_DAY_WORD})\s(?:of\s)?(?P<mn>{_MONTH})(?![A-Za-z])", re.I
        ),
    ),
    (
        "md_zh",
        re.compile(rf"(?P<m>{_N})\s?月(?:份)?\s?(?P<d>{_N})\s?[日号]?(?![个件台])"),
    ),
    # The other end of a range: "12月3日到5日", "Dec 3 to 5", "3-5 December".
    (
        "tail",
        re.compile(
            rf"(?P<m>{_N})\s?月\s?{_N}\s?[日号]?\s?(?:-|~|至|到|或)\s?(?P<d>{_N})\s?[日号]"
        ),
    ),
    (
        "tail",
        re.compile(
            rf"\b(?P<mn>{_MONTH})\s?\d{{1,2}}(?:st|nd|rd|th)?\s?(?:-|~|to|or|and|through)\s?"
            r"(?:the\s)?(?P<d>\d{1,2})(?:st|nd|rd|th)?(?![\d:./])"
            r"(?!\s?(?:[ap]\.?m|days?|hours?|items?|pieces?|parcels?|orders?))",
            re.I,
        ),
    ),
    (
        "tail",
        re.compile(
            rf"(?<![\w-])(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?=\s?(?:-|~|to|or|and)\s?"
            rf"\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?(?P<mn>{_MONTH})(?![A-Za-z]))",
            re.I,
        ),
    ),
    (
        "tail",
        re.compile(
            r"(?<![\w-])\d{1,2}(?:st|nd|rd|th)?\s?-\s?(?P<d>\d{1,2})(?:st|nd|rd|th)?"
            rf"\s(?:of\s)?(?P<mn>{_MONTH})(?![A-Za-z])",
            re.I,
        ),
    ),
    (
        "dmy",
        re.compile(r"(?<![\d/.-])(?P<a>\d{1,2})[/.](?P<b>\d{1,2})[/.](?P<y>20\d{2})"),
    ),
    ("slash", re.compile(r"(?<![\d/.-])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\d/])")),
    (
        "dash",
        re.compile(
            r"(?<![\d-])(?P<a>\d{2})-(?P<b>\d{2})(?![\d-])(?=\s\d{1,2}:|$|[^\w])"
        ),
    ),
    (
        "part_zh",
        re.compile(rf"(?P<m>{_N})\s?月\s?(?P<part>初|底|末|上旬|中旬|下旬|中)"),
    ),
    (
        "part_en",
        re.compile(
            rf"\b(?P<part>in|early|mid|late|end of|beginning of)[\s-](?P<mn>{_MONTH})"
            r"(?![A-Za-z\d])(?!\s\d)",
        ),
    ),
    (
        "weekday_zh",
        re.compile(r"(?P<rel>上上|下下|上|下|本|这)?(?:个)?(?:周|星期|礼拜)(?P<w>[一二三四五六日天])"),
    ),
    (
        "weekday_en",
        re.compile(
            rf"\b(?:(?i:(?P<rel>next|last|this|coming))\s)?(?P<w>(?i:{_WEEKDAY})"
            r"|Mon|Tues?|Wed|Thur?s?|Fri|Sat|Sun)\b(?!-)"
        ),
    ),
    (
        "week",
        re.compile(
            r"\b(?P<en>(?:next|this|last) (?:week(?:end)?|month)|the weekend"
            r"|(?:the )?end of (?:the|this|next) (?:week|month)|mid[- ]?week)\b"
            r"|(?P<zh>(?:上|下|本|这)(?:个)?(?:周末|星期末|周|星期|礼拜|月)(?![一二三四五六日天\d])|周末"
            r"|月底|月初|月末)",
            re.I,
        ),
    ),
    (
        "span_en",
        re.compile(
            rf"\b(?P<lo>{_EN_N})(?:\s?(?:-|–|—|~|to|or)\s?(?P<hi>{_EN_N}))?[\s-]"
            r"(?:more |full |business |working |calendar |natural )?"
            r"(?P<u>minute|min|hour|hr|day|week|month)s?\b(?P<ago>\sago|\searlier)?",
            re.I,
        ),
    ),
    (
        "span_zh",
        re.compile(
            rf"(?P<lo>{_N})(?:\s?(?:-|–|—|~|至|到|或)\s?(?P<hi>{_N}))?\s?(?P<ge>个)?(?:多)?"
            r"(?P<u>工作日|自然日|分钟|小时|钟头|天|日|周|星期|礼拜|月)(?:[之以]?内|(?:之)?(?P<ago>前|以前))?"
        ),
    ),
    (
        "relative",
        re.compile(
            r"\b(?:the day after tomorrow|the day before yesterday|tomorrow|yesterday"
            r"|today|tonight|last night|this (?:morning|afternoon|evening))\b"
            r"|大后天|今天|今日|今晚|今早|今晨|当天|当晚|明天|明日|明早|明晚|后天|昨天|昨日|昨晚|前天|次日"
            r"|第二天|隔天",
            re.I,
        ),
    ),
    (
        "day_zh",
        re.compile(rf"(?<![\d月{HAN}第])(?P<d>{_N})\s?[号](?![楼店仓线机门柜院])"),
    ),
    (
        "day_en",
        re.compile(
            r"\b(?:on|by|until|before|around|about|from) the "
            rf"(?P<d>\d{{1,2}}(?=st|nd|rd|th)|{_DAY_WORD})(?:st|nd|rd|th)?\b",
            re.I,
        ),
    ),
    (
        "clock",
        re.compile(
            r"(?P<ap0>上午|下午|晚上|凌晨|中午|早上|傍晚|夜里|今晚|明早)?\s?(?<![\d.,¥￥$:-])"
            r"(?P<h>\d{1,2}):(?P<mi>\d{2})(?::(?P<s>\d{2}))?(?:\.\d{1,6})?"
            r"(?:\s?(?P<ap>[ap]\.?\s?m\b\.?))?(?P<z>\s?(?:UTC|GMT|Z)?(?:\s?[+-]\d{2}:?\d{2})?)"
            r"(?![\d:])",
            re.I,
        ),
    ),
    (
        "hour_en",
        re.compile(r"(?<![\d.,:])(?P<h>\d{1,2})\s?(?P<ap>[ap]\.?m)\b\.?", re.I),
    ),
    (
        "hour_zh",
        re.compile(
            rf"(?P<ap0>上午|下午|晚上|凌晨|中午|早上|傍晚|夜里)?\s?(?<![\d.])(?P<h>{_N})\s?[点时]"
            rf"(?![\d]|间|候|效|段)(?:钟|整)?(?:(?P<mi>{_N})\s?分?|(?P<half>半)|(?P<q>一刻))?"
        ),
    ),
    (
        "part",
        re.compile(
            r"\b(?P<part>morning|afternoon|evening|night|midday)\b"
            r"|(?P<zpart>清晨|凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|深夜)",
            re.I,
        ),
    ),
    ("noon", re.compile(r"\b(?:noon|midnight)\b", re.I)),
)  # fmt: skip
