"""Word lists as patterns: one alternative a line, in one compiled expression."""

from __future__ import annotations

import re


def lines(words: str) -> str:
    """The lines of a word list as one alternation.

    A line that stands further in than the first continues the one before it.
    """
    rows = [line for line in words.splitlines() if line.strip()]
    margin = min((_indent(row) for row in rows), default=0)
    alternatives: list[str] = []
    for row in rows:
        if _indent(row) > margin and alternatives:
            alternatives[-1] += row.strip()
        else:
            alternatives.append(row.strip())
    return "|".join(alternatives)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def word_list(words: str) -> re.Pattern[str]:
    return re.compile(lines(words), re.IGNORECASE)


def whole_words(words: str) -> re.Pattern[str]:
    """Latin alternatives that do not begin or end inside another word."""
    return re.compile(rf"(?<![A-Za-z])(?:{lines(words)})(?![A-Za-z])", re.IGNORECASE)


def exact_word_list(words: str) -> re.Pattern[str]:
    """The same, where the case of letters counts."""
    return re.compile(lines(words))
