"""Longer messages made of two examples: people write several things at once."""

from __future__ import annotations

from collections.abc import Sequence

from chatbot.understanding.kinds import Language
from chatbot.understanding.training.data import Example

MIXED = 5000
# The share of mixed messages whose second half asks nothing ("hi", "thanks", anger).
IDLE_PERCENT: dict[Language, int] = {"en": 75, "zh": 60}
_BETWEEN = (" ", " ", ", ", ". ")


def mixed(own: Sequence[Example], language: Language) -> list[Example]:
    """Pairs chosen by stepping through the examples with primes: no randomness."""
    idle = [one for one in own if one.labels == frozenset({"none"})]
    found = []
    for step in range(MIXED):
        one = own[(step * 7919 + 3) % len(own)]
        if step % 100 < IDLE_PERCENT[language]:
            other = idle[(step * 104729 + 13) % len(idle)]
        else:
            other = own[(step * 15485863 + 7) % len(own)]
        first, second = (one, other) if step % 2 else (other, one)
        text = first.text + _BETWEEN[step % len(_BETWEEN)] + second.text
        found.append(Example(text, _asked(one.labels | other.labels), language))
    return found


def _asked(labels: frozenset[str]) -> frozenset[str]:
    return labels - {"none", "out_of_scope"} or labels
