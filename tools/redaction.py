"""Takes people's data and secrets out of text before it is saved or logged. Pure.

Phones keep their ends (``138****1305``) so that staff can tell two apart; all else is
replaced whole. It errs towards masking: a long number of unknown kind may go too,
unless ``keep`` names it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from datetime import date
from functools import lru_cache
from typing import TypeAlias

from tools.contracts import Json

FAILED = "<REDACTION_FAILED>"

Span: TypeAlias = tuple[int, int, str]


def redact(text: str, *, keep: Collection[str] = ()) -> str:
    """``text`` with every match masked; ``FAILED`` in its place where that goes wrong.

    ``keep`` are order and tracking numbers that may stand, exactly as written.
    """
    try:
        return _redact(text, keep)
    except Exception:  # noqa: BLE001 - whatever went wrong, the text must not leak
        return FAILED


def redact_json(value: Json, *, keep: Collection[str] = ()) -> Json:
    """The same for every string inside ``value``; fields named as secrets go whole."""
    if isinstance(value, str):
        return redact(value, keep=keep)
    if isinstance(value, dict):
        return {
            key: "<secret>"
            if _SECRET_NAME.fullmatch(key) and isinstance(item, str) and item
            else redact_json(item, keep=keep)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [redact_json(item, keep=keep) for item in value]
    return value


def _redact(text: str, keep: Collection[str]) -> str:
    # One character stands for one: a span found in the plain text is one of the text.
    plain = "".join(map(_plain, text)) if not text.isascii() else text
    if not _TELLING.search(plain) or _MOMENT.fullmatch(plain):
        return text
    kept = [span for word in keep if word for span in _occurrences(plain, word)]
    pieces: list[str] = []
    end = 0
    for start, stop, mask in sorted(_spans(plain)):
        stands = any(start >= low and stop <= high for low, high in kept)
        if stop <= end or stands:
            continue
        # What begins inside the match before is covered by that one's mask.
        if start >= end:
            pieces += [text[end:start], mask]
        end = stop
    return "".join([*pieces, text[end:]])


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    if "！" <= character <= "～":
        return chr(ord(character) - 0xFEE0)
    return " " if character.isspace() and character not in "\n\r" else character


def _occurrences(plain: str, word: str) -> Iterator[tuple[int, int]]:
    start = plain.find(word)
    while start >= 0:
        yield start, start + len(word)
        start = plain.find(word, start + 1)


def _spans(plain: str) -> Iterator[Span]:
    for pattern, mask in _PLAIN_RULES:
        for match in pattern.finditer(plain):
            start, stop = match.span("value" if "value" in pattern.groupindex else 0)
            yield start, stop, mask
    for match in _EMAIL_MARK.finditer(plain):
        yield from _email(plain, match.start())
    for pattern, masked in _NUMBER_RULES:
        for match in pattern.finditer(plain):
            yield from masked(match)


# ---- secrets and addresses: replaced whole

_TELLTALES = (
    r"api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|token|passw(?:or)?d|pwd|"
    r"authorization|cookie|sessionid|cvv|cvc|密码|口令|密钥|验证码"
)
_SECRET_NAME = re.compile(rf"(?:.*[_-])?(?:{_TELLTALES})", re.IGNORECASE)

_STREETS = (
    "street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|court|ct|way|place|pl"
    "|square|sq|terrace|crescent"
)

_PLAIN_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            rf"(?:{_TELLTALES})[\"']?\s{{0,3}}(?:[:=]|是|为)\s{{0,3}}"
            r"(?:(?:bearer|basic|token)\s+)?[\"']?(?P<value>[^\s\"',;&<>]+)",
            re.IGNORECASE,
        ),
        "<secret>",
    ),
    (re.compile(r"\b(?:bearer|basic)\s+(?P<value>[\w.~+/=-]{8,})", re.I), "<secret>"),
    (re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://(?P<value>[^\s/@]{1,200})@"), "<secret>"),
    (re.compile(r"\b(?:sk|pk|rk|whsec|ghp|xox[a-z])[-_][\w-]{8,}"), "<key>"),
    (re.compile(r"\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*"), "<key>"),
    # A long run of letters and at least four digits; a UUID is shorter.
    (
        re.compile(r"(?<![\w/-])(?=[\w-]*?\d(?:[\w-]*?\d){3})[A-Za-z0-9_-]{40,}"),
        "<key>",
    ),
    (
        re.compile(
            rf"(?<![\w-])\d{{1,5}}[A-Za-z]?,? (?:[A-Z][\w.'’-]{{0,20}} ){{1,4}}"
            rf"(?i:{_STREETS})\b\.?(?:,? (?i:apt|suite|unit|flat|no)\.? ?[\w-]{{1,6}})?"
        ),
        "<address>",
    ),
    (
        re.compile(
            r"[\u4e00-\u9fff]{1,20}?(?:路|街|大道|巷|弄|胡同|村|里|道) ?\d{1,5} ?"
            r"(?:号|弄)(?:院|楼)?(?:[\u4e00-\u9fff]{0,8}? ?[\dA-Za-z-]{1,6} ?"
            r"(?:号楼|栋|幢|座|单元|层|楼|室|户|房|号)){0,4}"
        ),
        "<address>",
    ),
)

# Without one of these no rule matches; most of a trace are words and times.
_TELLING = re.compile(
    r"[\d@:=是为]|(?:bearer|basic)\s|(?:sk|pk|rk|whsec|ghp|xox[a-z])[-_]|eyJ", re.I
)
_MOMENT = re.compile(
    r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)"
)

# ---- e-mail addresses: the name is walked back from the sign, for a search from the
# left would try every letter of a long word again and again

_EMAIL_MARK = re.compile(r"@(?=[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,})")
_EMAIL_HOST = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,}")


def _in_a_name(character: str) -> bool:
    return character.isalnum() or character in "._%+-"


def _email(plain: str, at: int) -> Iterator[Span]:
    start = at
    while start > max(at - 64, 0) and _in_a_name(plain[start - 1]):
        start -= 1
    host = _EMAIL_HOST.match(plain, at + 1)
    if start < at and host:
        yield start, host.end(), "<email>"


# ---- numbers: digits with at most one blank, dot or dash between

_GAP = r"[ .·‑–—-]?"


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def _phone(match: re.Match[str]) -> Iterator[Span]:
    digits = _digits(match["value"])
    yield (*match.span("value"), f"{digits[:3]}****{digits[-4:]}")


def _identity(match: re.Match[str]) -> Iterator[Span]:
    """A mainland identity number: its birthday must be a day (GB 11643)."""
    digits = _digits(match["value"])
    try:
        date(int(digits[6:10]), int(digits[10:12]), int(digits[12:14]))
    except ValueError:
        return
    yield (*match.span("value"), "<id>")


def _card(match: re.Match[str]) -> Iterator[Span]:
    """The longest run of 13 to 19 digits from here that has a card's check digit."""
    run = match["value"]
    ends = [index + 1 for index, character in enumerate(run) if character.isdigit()]
    for end in reversed(ends[12:19]):
        whole = end == len(run) or not run[end].isdigit()
        if whole and _luhn(_digits(run[:end])):
            start = match.start("value")
            yield start, start + end, "<card>"
            return


def _luhn(digits: str) -> bool:
    """The check digit of ISO/IEC 7812-1."""
    total = 0
    for index, digit in enumerate(map(int, reversed(digits))):
        doubled = digit * 2 if index % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


_NUMBER_RULES: tuple[
    tuple[re.Pattern[str], Callable[[re.Match[str]], Iterator[Span]]], ...
] = (
    (
        re.compile(
            rf"(?<![\dA-Za-z])(?P<value>[1-9](?:{_GAP}\d){{16}}{_GAP}[\dXx])(?!\d)"
        ),
        _identity,
    ),
    # Every start is tried, within longer runs too: a date may stand before the number.
    (
        re.compile(rf"(?<![\dA-Za-z])(?=(?P<value>[2-6](?:{_GAP}\d){{12,29}}))"),
        _card,
    ),
    (
        re.compile(
            rf"(?<![\dA-Za-z])(?:\+?86|0086)?{_GAP}(?P<value>1{_GAP}[3-9](?:{_GAP}\d)"
            r"{9})(?![\dA-Za-z])"
        ),
        _phone,
    ),
    (re.compile(r"(?P<value>\+(?!86)\d{1,3}(?:[ .()-]{0,2}\d){7,12})(?!\d)"), _phone),
    (re.compile(r"(?<![\d-])(?P<value>0\d{2,3}[ -]\d{7,8})(?![\d-])"), _phone),
    (
        re.compile(
            r"(?<![\w-])(?P<value>(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4})(?![\w-])"
        ),
        _phone,
    ),
)
