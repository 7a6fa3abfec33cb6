"""Which language to answer in."""

from __future__ import annotations

import re

from chatbot.understanding.kinds import Language

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002ffff]")
_WORD = re.compile(r"[A-Za-z]{2,}")
# Of a long paste the beginning and the end show the language well enough.
_ENOUGH = 2000


def detect_language(text: str, *, fallback: Language = "en") -> Language:
    """The language of the text itself; ``fallback`` where it has no words.

    Product names and order numbers are Latin in Chinese messages too, so a Chinese
    character weighs as much as an English word.
    """
    if len(text) > 2 * _ENOUGH:
        text = text[:_ENOUGH] + text[-_ENOUGH:]
    chinese = len(_HAN.findall(text))
    english = len(_WORD.findall(text))
    if not chinese and not english:
        return fallback
    return "zh" if chinese >= english else "en"
