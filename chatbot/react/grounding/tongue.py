"""Whether an answer is written in the language of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatbot.react.facts import Fact
from chatbot.understanding.needs import Language
from chatbot.understanding.text import narrow

_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{2,}")
# Fewer may be a name that no observation holds.
_FEWEST_HAN = 4
_FEWEST_WORDS = 4


def is_in_other_language(
    answer: str, language: Language, facts: Sequence[Fact]
) -> bool:
    """Whether the words of ``answer`` are of the other language.

    What was observed (places, titles, events) is told in its own.
    """
    own = narrow(answer)
    told = {narrow(fact.value) for fact in facts if isinstance(fact.value, str)}
    for value in sorted(told, key=len, reverse=True):
        if len(value) >= 2:
            own = own.replace(value, " ")
    han, words = len(_HAN.findall(own)), len(_LATIN.findall(own))
    if language == "zh":
        return han == 0 and words >= _FEWEST_WORDS
    return han >= _FEWEST_HAN and han > 2 * words
