"""Word lists as patterns: one alternative a line, in one compiled expression."""

from __future__ import annotations

import re


def lines(words: str) -> str:
    """The lines of a word list as one alternation; blank lines and the margin go."""
    return "|".join(line.strip() for line in words.splitlines() if line.strip())


def pattern(words: str) -> re.Pattern[str]:
    return re.compile(lines(words), re.IGNORECASE)


def whole_words(words: str) -> re.Pattern[str]:
    """Latin alternatives that do not begin or end inside another word."""
    return re.compile(rf"(?<![A-Za-z])(?:{lines(words)})(?![A-Za-z])", re.IGNORECASE)
