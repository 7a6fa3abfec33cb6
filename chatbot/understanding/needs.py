"""What one message asks, worked out by code: the door of this room."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatbot.understanding.answering import declines_more, subject_pointed_at
from chatbot.understanding.classifier import probabilities
from chatbot.understanding.clauses import asks_of
from chatbot.understanding.decide import decide
from chatbot.understanding.features import features
from chatbot.understanding.followups import (
    corrects,
    inherited_needs,
    inherited_topics,
    is_fragment,
    merge_questions,
)
from chatbot.understanding.kinds import Language, Need, Question, Topic
from chatbot.understanding.language import detect_language
from chatbot.understanding.lexicon import rule_names
from chatbot.understanding.references import find_numbers, points_back
from chatbot.understanding.text import plain_text

__all__ = [
    "Language",
    "Need",
    "Question",
    "Topic",
    "merge_questions",
    "read_question",
]

_NEED_NAMES = frozenset({"refund", *(need.value for need in Need)})
# Money that was promised and is not there, beside a question about a refund.
_NOT_THERE_YET = re.compile(
    r"(?:还|一直|都|怎么|也)?没(?:有)?.{0,6}(?:到账|到|收到|退|给|见)|(?:多少|几|好多?)天了|多久了"
    r"|\b(?:still|yet|not|never|nothing|havent|hasnt|didnt|waiting)\b"
)
_NOTHING: tuple[Need, ...] = (Need.NONE,)
_TOPIC_NAMES = frozenset(topic.value for topic in Topic)


def read_question(
    text: str,
    *,
    earlier: Sequence[Question] = (),
    language: Language | None = None,
    previous_agent: str = "",
) -> Question:
    """What ``text`` asks; any string is read without error, in time linear in it.

    ``earlier`` are the customer's questions of this conversation, oldest first: a
    fragment ("那它呢?", "and O-205?") asks again what they asked. ``language`` forces
    the language of the answer; ``previous_agent``, the line that the customer answers,
    tells what "how do I change it?" is about, and the language of a text without words.
    """
    plain = plain_text(text)
    numbers = find_numbers(text)
    rules = rule_names(plain)
    names_order = bool(numbers.orders or numbers.bare)
    fragment = is_fragment(
        plain,
        names_number=names_order or bool(numbers.tracking),
        names_need=bool(rules & _NEED_NAMES),
    )
    needs, out_of_scope = inherited_needs(earlier) if fragment else _NOTHING, False
    if needs == _NOTHING and not (fragment and (names_order or numbers.tracking)):
        needs, out_of_scope = _needs(plain, rules, previous_agent)
    topics = {Topic(name) for name in rules & _TOPIC_NAMES}
    if fragment:
        topics |= inherited_topics(earlier)
    if Need.REFUND_STATUS in needs and _NOT_THERE_YET.search(plain):
        topics.add(Topic.REFUND_LATE)
    if corrects(plain, names_order=names_order):
        topics.add(Topic.CORRECTION)
    named = bool(numbers.orders or numbers.tracking)
    return Question(
        text=text,
        language=language or _language_of(text, earlier, previous_agent),
        needs=needs,
        # An order that is named is within any order desk's scope.
        out_of_scope=out_of_scope and not named,
        topics=frozenset(topics),
        order_numbers=numbers.orders,
        tracking_numbers=numbers.tracking,
        refers_back=not named and (points_back(plain) or (fragment and bool(earlier))),
        rejected_numbers=numbers.rejected,
        bare_numbers=numbers.bare,
        fragment=fragment,
        asks=asks_of(text, needs, numbers.orders),
    )


def _language_of(
    text: str, earlier: Sequence[Question], previous_agent: str
) -> Language:
    before = earlier[-1].language if earlier else detect_language(previous_agent)
    return detect_language(text, fallback=before)


def _needs(
    plain: str, rules: frozenset[str], previous_agent: str
) -> tuple[tuple[Need, ...], bool]:
    """The needs in the order of ``Need``, and whether the text is out of scope."""
    says_something = any(character.isalpha() for character in plain)
    if not says_something or declines_more(plain, previous_agent):
        return _NOTHING, False
    if not rules & _NEED_NAMES and (
        subject := subject_pointed_at(plain, previous_agent)
    ):
        return (subject,), False
    language = detect_language(plain)
    likely = probabilities(features(plain, rules, language), language)
    needs, out_of_scope = decide(plain, rules, likely, language)
    return tuple(need for need in Need if need in needs), out_of_scope
