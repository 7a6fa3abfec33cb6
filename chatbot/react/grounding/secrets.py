"""Whether an answer repeats a text that must stay inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from chatbot.understanding.text import narrow

_WIDTH = 40
_WIDTH_CHINESE = 14
_SPACE = re.compile(r"[\s*_#`>-]+")
# A name in capitals with a dash or a figure ("PROJECT-X9") is nobody's ordinary word.
_MARK = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Z0-9_-]{8})[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)+(?![A-Za-z0-9])"
)


def leaked(answer: str, secrets: Sequence[str]) -> str:
    """The first stretch of ``answer`` that stands in a secret; "" where there is none.

    Forty letters in a row, or fourteen where they are Chinese, are no coincidence; nor
    is a mark that only the secret has.
    """
    plain = _squeezed(answer[:20_000])
    for secret in secrets:
        for mark in _marks(secret):
            if mark in plain:
                return mark
        for width in (_WIDTH, _WIDTH_CHINESE):
            known = _stretches(secret, width)
            for start in range(len(plain) - width + 1):
                part = plain[start : start + width]
                if part in known and (width == _WIDTH or _is_chinese(part)):
                    return part
    return ""


# The secrets are the same few texts in every check of a process.
@lru_cache(maxsize=16)
def _stretches(secret: str, width: int) -> frozenset[str]:
    hidden = _squeezed(secret)
    return frozenset(hidden[i : i + width] for i in range(len(hidden) - width + 1))


@lru_cache(maxsize=16)
def _marks(secret: str) -> frozenset[str]:
    return frozenset(_squeezed(mark) for mark in _MARK.findall(narrow(secret)))


def _squeezed(text: str) -> str:
    return _SPACE.sub("", narrow(text)).casefold()


def _is_chinese(part: str) -> bool:
    return sum("\u4e00" <= character <= "\u9fff" for character in part) >= 10
