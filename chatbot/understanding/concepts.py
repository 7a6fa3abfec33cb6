"""The sequence of concepts in a text, so that synonyms weigh alike."""

from __future__ import annotations

import re

from chatbot.understanding import concepts_en, concepts_zh
from chatbot.understanding.kinds import Language

_WORD = re.compile(r"[a-z0-9]+|\?")
_LONGEST_BEGINNING = 14


def _english_beginnings() -> dict[str, str]:
    return {
        word: concept
        for concept, words in concepts_en.CONCEPTS.items()
        for word in words.split()
    }


def _chinese_words() -> dict[str, str]:
    return {
        word: concept
        for concept, words in concepts_zh.CONCEPTS.items()
        for word in words.split()
    }


_ENGLISH = _english_beginnings()
_CHINESE = _chinese_words()
_CHINESE_PATTERN = re.compile(
    "|".join(map(re.escape, sorted(_CHINESE, key=lambda w: (-len(w), w))))
)


def concepts(text: str, language: Language) -> list[str]:
    """The concepts in the order of the text; words without one are left out."""
    if language == "zh":
        return [_CHINESE[m.group()] for m in _CHINESE_PATTERN.finditer(text)]
    found = (_of_word(word) for word in _WORD.findall(text))
    return [concept for concept in found if concept]


def _of_word(word: str) -> str | None:
    if word == "?":
        return "ASK"
    whole = _ENGLISH.get(word + "$")
    if whole:
        return whole
    for length in range(min(len(word), _LONGEST_BEGINNING), 2, -1):
        concept = _ENGLISH.get(word[:length])
        if concept:
            return concept
    return None
