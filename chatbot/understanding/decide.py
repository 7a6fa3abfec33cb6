"""Which needs follow from the rules and from the classifier's probabilities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

from chatbot.understanding.kinds import Language, Need

# A further need beside the likeliest must be this likely; less where a rule names it.
_ALSO: dict[Language, float] = {"en": 0.9, "zh": 0.6}
_ALSO_NAMED: dict[Language, float] = {"en": 0.5, "zh": 0.3}
# What such a word names is meant, unless the classifier is all but sure it is not.
_PLAIN_WORDS: dict[str, Need] = {
    "cancel": Need.CANCEL,
    "invoice": Need.INVOICE,
    "refund": Need.REFUND_STATUS,
    "tracking_id": Need.TRACKING_ID,
    "change_address": Need.CHANGE_ADDRESS,
    "shipped": Need.SHIPPED,
}
# "Where is it?" is about the parcel, unless one of these is what is looked for.
_NOT_A_PARCEL = frozenset({"refund", "invoice", "return", "tracking_id"})
# "Has it shipped, and where is it?": each half is short, and easily outshone.
_TWO_STEPS = frozenset({"shipped", "location"})
_RULE_OF = {need: name for name, need in _PLAIN_WORDS.items()}
_CONTRARY = 0.1
# Where "nothing is asked" is that uncertain, a need that a rule names comes first.
_HARDLY_NONE = 0.6
_NAMED = 0.25
# "It is late" and "is that allowed?" are mostly how another question is told. They are
# asked beside it where that is all but sure, or where a status is asked for by name; a
# parcel that is not complete is told and sent back in one breath.
_ASKED_BESIDE = 0.95
_GOES_WITH: dict[Need, Need] = {Need.ORDER_STATUS: Need.RETURN}
_STATUS_ASKED = re.compile(
    r"\bstatus of (?:my |the |this |an |our )?(?:order|parcel|package|delivery|o-\d)"
    r"|\b(?:order|parcel|package|delivery) status\b"
    r"|\bwhat(?:.?s| is) (?:happening|going on|up) with (?:my |the )?"
    r"(?:order|parcel|package|delivery|o-\d)"
    r"|(?:订单|快递|包裹|单子|o-\d{3,})的?(?:现在)?(?:是)?(?:什么|啥)?(?:状态|情况|进度|怎么样了|怎么回事)"
)
# "Nobody answers", "representative" are a wish for a person where little else is said.
_SHORT = 60
_OUT_OF_SCOPE: dict[Language, float] = {"en": 0.5, "zh": 0.4}
_OUT_OF_SCOPE_QUESTION: dict[Language, float] = {"en": 0.25, "zh": 0.2}
_QUESTION = re.compile(
    r"[?吗么呢嘛哪几]|怎么|什么|多少|如何|有没有|是不是|能不能|可不可以"
    r"|\b(?:how|what|which|when|where|why|can|do|does|is|are|need|want|suggest|looking"
    r"|tell|give)\b"
)
# Keys hit at random are no subject, so not one out of scope.
_PRONOUNCEABLE = re.compile(r"[aeiouy\u00c0-\u024f\u0900-\u097f\u3400-\u9fff]")


def decide(
    plain: str,
    rules: Set[str],
    likely: Mapping[str, float],
    language: Language,
) -> tuple[tuple[Need, ...], bool]:
    """The needs, the likeliest first, and whether the text is out of scope.

    A plain request for a person is never overruled.
    """
    chances = _chances(plain, rules, likely, language)
    ordered = sorted(Need, key=lambda need: -chances[need])
    first = ordered[0]
    if first is Need.NONE and chances[first] < _HARDLY_NONE:
        named = (one for one in ordered[1:] if one.value in rules)
        first = next((one for one in named if chances[one] > _NAMED), first)
    if first is Need.NONE:
        return (Need.NONE,), _is_outside(plain, likely["out_of_scope"], language)
    also = (
        need
        for need in ordered
        if need not in (first, Need.NONE)
        and chances[need]
        > (_ALSO_NAMED if _RULE_OF.get(need, need.value) in rules else _ALSO)[language]
    )
    return _without_told((first, *also), chances), False


def _without_told(
    needs: tuple[Need, ...], chances: Mapping[Need, float]
) -> tuple[Need, ...]:
    """The needs without those that only tell how another came about."""
    for told in (Need.ORDER_STATUS, Need.POLICY):
        beside = set(needs) - {told, _GOES_WITH.get(told)}
        if beside and chances[told] < _ASKED_BESIDE:
            needs = tuple(need for need in needs if need is not told)
    return needs


def _chances(
    plain: str, rules: Set[str], likely: Mapping[str, float], language: Language
) -> dict[Need, float]:
    """The probabilities, raised where a rule names a need plainly."""
    chances = {need: likely[need.value] for need in Need}
    for name, need in _PLAIN_WORDS.items():
        if name in rules and chances[need] > _CONTRARY:
            chances[need] = 0.5 + chances[need] / 2
    if _STATUS_ASKED.search(plain):
        chances[Need.ORDER_STATUS] = max(chances[Need.ORDER_STATUS], _ASKED_BESIDE)
    where = chances[Need.LOCATION]
    if "location" in rules and where > _CONTRARY and not rules & _NOT_A_PARCEL:
        chances[Need.LOCATION] = 0.5 + where / 2
    if rules >= _TWO_STEPS:
        for need in (Need.SHIPPED, Need.LOCATION):
            if chances[need] > _CONTRARY:
                chances[need] = max(chances[need], _ALSO[language] + _CONTRARY)
    shortly = "unanswered" in rules or "person_named" in rules
    if "human" in rules or (shortly and len(plain) <= _SHORT):
        chances[Need.HUMAN] = 1.0
    return chances


def _is_outside(plain: str, chance: float, language: Language) -> bool:
    enough = _OUT_OF_SCOPE_QUESTION if _QUESTION.search(plain) else _OUT_OF_SCOPE
    return chance > enough[language] and bool(_PRONOUNCEABLE.search(plain))
