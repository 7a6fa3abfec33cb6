"""Which needs follow from the rules and from the classifier's probabilities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

from chatbot.understanding.kinds import Language, Need

# A further need beside the likeliest one must be this likely.
_ALSO: dict[Language, float] = {"en": 0.5, "zh": 0.4}
# What such a word names is meant, unless the classifier is all but sure it is not.
_PLAIN_WORDS: dict[str, Need] = {
    "cancel": Need.CANCEL,
    "invoice": Need.INVOICE,
    "refund": Need.REFUND_STATUS,
    "tracking_id": Need.TRACKING_ID,
    "change_address": Need.CHANGE_ADDRESS,
    "shipped": Need.SHIPPED,
}
_CONTRARY = 0.1
# Where "nothing is asked" is that uncertain, a need that a rule names comes first.
_HARDLY_NONE = 0.6
_NAMED = 0.25
# "Nobody answers" is a wish for a person where it is all that a message says.
_SHORT = 40
_OUT_OF_SCOPE = 0.5
_OUT_OF_SCOPE_QUESTION = 0.25
_QUESTION = re.compile(
    r"[?吗么呢嘛哪几]|怎么|什么|多少|如何|有没有|是不是|能不能|可不可以"
    r"|\b(?:how|what|which|when|where|why|can|do|does|is|are|need|want|suggest|looking"
    r"|tell|give)\b"
)


def decide(
    plain: str,
    rules: Set[str],
    likely: Mapping[str, float],
    language: Language,
) -> tuple[tuple[Need, ...], bool]:
    """The needs, the likeliest first, and whether the text is out of scope.

    A plain request for a person is never overruled.
    """
    chances = {need: likely[need.value] for need in Need}
    for name, need in _PLAIN_WORDS.items():
        if name in rules and chances[need] > _CONTRARY:
            chances[need] = 0.5 + chances[need] / 2
    if "rank" in rules:
        # Who says that they are a manager does not ask for one; what else they ask
        # they have to name.
        chances[Need.HUMAN] = 0.0
        if not any(need.value in rules for need in Need):
            chances[Need.NONE] = 1.0
    if "human" in rules or ("unanswered" in rules and len(plain) <= _SHORT):
        chances[Need.HUMAN] = 1.0
    ordered = sorted(Need, key=lambda need: -chances[need])
    first = ordered[0]
    if first is Need.NONE and chances[first] < _HARDLY_NONE:
        named = (one for one in ordered[1:] if one.value in rules)
        first = next((one for one in named if chances[one] > _NAMED), first)
    if first is Need.NONE:
        enough = _OUT_OF_SCOPE_QUESTION if _QUESTION.search(plain) else _OUT_OF_SCOPE
        return (Need.NONE,), likely["out_of_scope"] > enough
    also = (
        need
        for need in ordered
        if need not in (first, Need.NONE) and chances[need] > _ALSO[language]
    )
    return (first, *also), False
