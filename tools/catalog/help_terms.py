"""A question or an article as the terms by which the help search compares them."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

_FILE = Path(__file__).with_name("help_stop_words.txt")
_STOP_WORDS = frozenset(
    word
    for line in _FILE.read_text("utf-8").splitlines()
    if not line.startswith("#")
    for word in line.split()
)
_CHINESE = (word for word in _STOP_WORDS if not word.isascii())
# Longer ones first: they are cut out of a Chinese question, and what stands before and
# after does not run together.
_CHINESE_CUT = re.compile("|".join(sorted(_CHINESE, key=len, reverse=True)))
_TOKEN = re.compile(r"[a-z0-9]+|[㐀-鿿]+")
_SUFFIX = re.compile(r"(?:ations?|ings?|ments?|ers?|ies|ed|es|s|y)$")


def plain(text: str) -> str:
    """One width and one case; an apostrophe ends no word."""
    return re.sub(r"['’]", "", unicodedata.normalize("NFKC", text).casefold())


def terms_of(text: str) -> list[str]:
    """Stems of English words, and pairs of neighbouring Chinese characters."""
    terms: list[str] = []
    for token in _TOKEN.findall(plain(text)):
        if token.isascii():
            # A number is never the subject, and an order's number is in no article.
            if token not in _STOP_WORDS and not token.isdigit():
                terms.append(stem(token))
        else:
            for part in _CHINESE_CUT.split(token):
                terms += pairs(part)
    return terms


def pairs(part: str) -> list[str]:
    """A character that stands alone stays alone: most such mean something."""
    if len(part) < 2:
        return [part] if part else []
    return [part[place : place + 2] for place in range(len(part) - 1)]


def stem(word: str) -> str:
    """Cancel, cancelled and cancellation meet; so do their like."""
    if len(word) <= 3:
        return word
    cut = _SUFFIX.sub("", word)
    cut = re.sub(r"(.)\1$", r"\1", cut) if len(cut) > 3 else word
    # "Code" is not to meet "COD".
    return cut.removesuffix("e") if len(cut) > 4 else cut


def is_chinese(text: str) -> bool:
    return any("㐀" <= character <= "鿿" for character in text)
