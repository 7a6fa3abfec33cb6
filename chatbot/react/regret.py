"""What is said first to someone who has a reason to be upset."""

from __future__ import annotations

from collections.abc import Mapping

from chatbot.understanding.needs import Language, Question, Topic

_SORRY: Mapping[Language, str] = {
    "en": "I am sorry about this experience.",
    "zh": "很抱歉给您带来了不好的体验。",
}
# The first that fits is said.
_REGRET: Mapping[Topic, Mapping[Language, str]] = {
    Topic.SAFETY: {
        "en": "Your safety comes first: please stop using the item, and call your "
        "local emergency services if anyone is in danger.",
        "zh": "您的安全最重要：请先停止使用该商品，"
        "如有危险请立即拨打当地急救或报警电话。",
    },
    Topic.LEGAL_THREAT: _SORRY,
    Topic.ANGRY: _SORRY,
}


def regret(question: Question) -> str:
    """The sentence before a hand-over; "" where the question gives no reason."""
    said = (
        words[question.language]
        for topic, words in _REGRET.items()
        if topic in question.topics
    )
    return next(said, "")
