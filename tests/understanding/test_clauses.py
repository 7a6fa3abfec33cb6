"""Which need is asked of which order."""

from __future__ import annotations

import pytest

from chatbot.understanding.needs import Need, merge_questions, read_question


def _asks(text: str) -> dict[str, set[Need]]:
    return {ask.order: set(ask.needs) for ask in read_question(text).asks}


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("Has O-204 shipped, and is O-205 refunded?", Need.SHIPPED, Need.REFUND_STATUS),
        (
            "帮我看下 O-204 运到哪了，还有 O-205 退款好了没",
            Need.LOCATION,
            Need.REFUND_STATUS,
        ),
    ],
)
def test_each_clause_asks_of_the_order_that_it_names(
    text: str, first: Need, second: Need
) -> None:
    assert _asks(text) == {"O-204": {first}, "O-205": {second}}


@pytest.mark.parametrize(
    "text",
    [
        "O-204 和 O-205 发货了吗，到哪了",
        "Where are O-204 and O-205, and have they shipped?",
        "Has O-204 shipped, and where is it now?",
        "",
    ],
)
def test_where_the_clauses_do_not_part_them_everything_is_asked_of_all(
    text: str,
) -> None:
    question = read_question(text)
    assert not question.asks
    assert question.needs_of("O-204") == question.needs


def test_a_burst_asks_of_each_order_what_its_own_message_asked() -> None:
    merged = merge_questions(
        [read_question("O-204 发货了吗"), read_question("O-205 退款到账了吗")]
    )
    assert merged.needs_of("o 204") == (Need.SHIPPED,)
    assert merged.needs_of("O-205") == (Need.REFUND_STATUS,)
    assert merged.needs_of("O-999") == merged.needs
