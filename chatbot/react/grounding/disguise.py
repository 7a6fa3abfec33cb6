"""Words that a reader sees and a check of words does not: refused as a whole.

A draft that hides a word from the check ("Ber" + a zero-width space + "lin", a Cyrillic
letter among Latin ones, text that is written backwards) has no honest reason to.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

# Letters whose scripts the assistant does not write, many the twins of Latin ones.
_FOREIGN = (
    r"[\u0250-\u02af\u0370-\u058f\u13a0-\u13ff\u1c80-\u1c8f\u1d00-\u1d7f"
    r"\u2c80-\u2cff\ua640-\ua69f\uab30-\uabbf]"
)
_HAN = r"[\u4e00-\u9fff]"
_THIN = r"[\u2000-\u200a\u202f\u205f]"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\w*{_FOREIGN}\w*",
        # Right-to-left and other overrides of direction.
        r"[\u202a-\u202e\u2066-\u2069].{0,20}",
        rf"[A-Za-z]+{_THIN}[A-Za-z]+",
        # s.p.e.l.l.e.d and ma**rk**ed words
        r"(?<![A-Za-z])(?:[A-Za-z][ .·•_*|/-]{1,2}){4,}[A-Za-z](?![A-Za-z])",
        rf"(?:{_HAN}[ .·•_*|-]){{2,}}{_HAN}",
        r"[A-Za-z]+[*`~|]{1,3}[A-Za-z]+",
    )
)


def disguised(answer: str, seen: Iterable[str]) -> str:
    """The first disguised word of ``answer``, or "".

    What stands so in ``seen``, the observed data and the question, is a quotation.
    """
    text = unicodedata.normalize("NFC", answer)
    for found in _found(text):
        if not any(found in unicodedata.normalize("NFC", one) for one in seen):
            return found
    return ""


def _found(text: str) -> Iterator[str]:
    for start, end in _hidden(text):
        yield text[max(0, start - 10) : end + 10]
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            yield match.group()


def _hidden(text: str) -> Iterator[tuple[int, int]]:
    """Where characters without a width of their own stand inside a word."""
    if text.isascii():
        return
    start = 0
    while start < len(text):
        end = start
        while end < len(text) and _is_hidden(text[end]):
            end += 1
        if end == start:
            start += 1
            continue
        before, after = text[max(0, start - 1) : start], text[end : end + 1]
        if before.isalnum() and after.isalnum():
            yield start, end
        start = end


def _is_hidden(character: str) -> bool:
    if character.isascii():
        return False
    # Fillers are letters by name and nothing to the eye.
    return unicodedata.category(character) in ("Cf", "Mn", "Me", "Cc") or (
        character in "\u115f\u1160\u3164\uffa0\u2800"
    )
