from __future__ import annotations

import pytest

from chatbot.understanding.language import detect_language
from chatbot.understanding.needs import Language, read_question


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我的订单到哪了", "zh"),
        ("where is my order", "en"),
        ("iPhone 15 Pro Max 发货了吗", "zh"),
        ("O-204 到哪了", "zh"),
        ("where is my 快递 please tell me", "en"),
    ],
)
def test_the_language_is_that_of_the_words(text: str, language: Language) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["O-204", "123", "?", "", "😀"])
def test_a_text_without_words_keeps_the_language_of_before(text: str) -> None:
    first = read_question("我的订单到哪了")
    assert read_question(text, earlier=[first]).language == "zh"
    assert detect_language(text, fallback="en") == "en"


def test_the_last_message_decides() -> None:
    first = read_question("我的订单到哪了")
    assert read_question("when will it arrive?", earlier=[first]).language == "en"
