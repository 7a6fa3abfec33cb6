"""A draft that asks which of the customer's orders is meant."""

from __future__ import annotations

from collections.abc import Collection

from chatbot.react.grounding.lexicon import word_list
from chatbot.react.grounding.numbers import find_numbers
from chatbot.understanding.needs import Question
from chatbot.understanding.text import narrow_lines

_ASKS_WHICH = word_list(r"""
    \bwhich (?:one|order|of (?:these|them|those|the)|parcel|package)\b[^.?!\n]{0,80}\?
    \b(?:do you mean|are you asking about|is it about)\b[^.!\n]{0,80}\?
    哪一?(?:个|单|笔|件|份)[^。!\n]{0,30}?(?:[?？]|呢|$)
""")


def orders_to_choose(
    text: str, question: Question, own: Collection[str]
) -> tuple[str, ...]:
    """The orders among ``own`` (canonical) that ``text`` lets the customer choose from.

    Empty where the customer named one, or where the text does not ask.
    """
    if question.order_numbers or question.tracking_numbers or len(own) < 2:
        return ()
    plain = narrow_lines(text)
    if not _ASKS_WHICH.search(plain):
        return ()
    named = find_numbers(plain, dict.fromkeys(own, False))
    offered = tuple(dict.fromkeys(one.number for one in named if one.number in own))
    return offered or tuple(own)
