"""The features of a text that the classifier weighs."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence

from chatbot.understanding.concepts import concepts
from chatbot.understanding.kinds import Language

BUCKETS = 1 << 15
# The classifier was trained on messages, not on essays.
_LONGEST = 400
_DIGITS = re.compile(r"[a-z]{0,3}-?\d[\d.,:/-]*")
_WORDS = re.compile(r"[a-z0-9\u00c0-\u024f\u0900-\u097f]+|[?!]+")
_NOT_CHINESE = re.compile(r"[^\u3400-\u9fff0-9a-z?!]+")
RULE_WEIGHT: dict[Language, float] = {"en": 0.4, "zh": 0.3}
CONCEPT_WEIGHT = 0.6


def features(plain: str, rules: Iterable[str], language: Language) -> dict[int, float]:
    """Bucket -> weight: n-grams share one unit of length, so do concepts."""
    text = _DIGITS.sub("0", plain[:_LONGEST])
    found: dict[int, float] = {}
    _add(found, set(_chinese(text) if language == "zh" else _english(text)), 1.0)
    meant = set(_concept_grams(concepts(text, language)))
    _add(found, meant, CONCEPT_WEIGHT)
    weight = RULE_WEIGHT[language]
    for name in rules:
        found[_bucket(f"rule:{name}")] = weight
    found[_bucket(f"length:{min(len(plain), 250).bit_length()}")] = weight
    return found


def _add(found: dict[int, float], grams: set[str], unit: float) -> None:
    share = unit / max(1, len(grams)) ** 0.5
    for gram in grams:
        bucket = _bucket(gram)
        found[bucket] = found.get(bucket, 0.0) + share


def _bucket(gram: str) -> int:
    return zlib.crc32(gram.encode()) % BUCKETS


def _concept_grams(meant: Sequence[str]) -> Iterator[str]:
    """Single concepts, neighbours, neighbours but one, and three in a row."""
    padded = ("^", *meant[:60], "$")
    for place, concept in enumerate(padded):
        yield f"k:{concept}"
        for gap in (1, 2, 3):
            if place + gap < len(padded):
                yield f"k{min(gap, 2)}:{concept}:{padded[place + gap]}"
        if place + 2 < len(padded):
            yield f"k3:{concept}:{padded[place + 1]}:{padded[place + 2]}"


def _english(text: str) -> Iterator[str]:
    words = _WORDS.findall(text)
    previous = "^"
    before = ""
    for word in words:
        yield word
        yield f"{previous} {word}"
        if before:
            yield f"{before} {previous} {word}"
        before, previous = previous, word
        padded = f"_{word[:20]}_"
        for size in (3, 4, 5):
            for start in range(len(padded) - size + 1):
                yield "c" + padded[start : start + size]
    yield f"{previous} $"


def _chinese(text: str) -> Iterator[str]:
    joined = "^" + _NOT_CHINESE.sub(" ", text) + "$"
    for size in (1, 2, 3, 4):
        for start in range(len(joined) - size + 1):
            yield joined[start : start + size]
