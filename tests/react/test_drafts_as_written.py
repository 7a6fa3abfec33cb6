"""Answers as models write them: lists, headings, ranges, parts of the day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chatbot.react.grounding.choice import orders_to_choose
from chatbot.react.grounding.dates import find_dates
from chatbot.react.grounding.measures import in_one_spelling
from chatbot.react.grounding.when import says
from chatbot.understanding.needs import read_question
from chatbot.understanding.text import narrow_lines

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("two weeks", "14 days"),
        ("a week", "7天"),
        ("48 hours", "两天"),
        ("five working days", "5个工作日"),
        ("10 块钱", "¥10.00"),
    ],
)
def test_one_measure_has_one_spelling(one: str, other: str) -> None:
    assert in_one_spelling(one) == in_one_spelling(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("5 days", "5 working days"), ("2-3 days", "3 days"), ("一个月", "1月")],
)
def test_different_measures_stay_apart(one: str, other: str) -> None:
    assert in_one_spelling(one) != in_one_spelling(other)


@pytest.mark.parametrize(
    "range_written",
    ["12月3日到5日", "Dec 3-5", "December 3 to 5", "3-5 December"],
)
def test_both_ends_of_a_range_are_dates(range_written: str) -> None:
    days = {mention.when.day for mention in find_dates(range_written, NOW)}
    assert days == {3, 5}


@pytest.mark.parametrize(
    ("written", "hour", "true"),
    [
        ("tomorrow afternoon", 15, True),
        ("tomorrow afternoon", 9, False),
        ("last night", 23, False),
        ("明天下午", 16, True),
        ("明天下午", 8, False),
        ("明早", 8, True),
    ],
)
def test_a_part_of_the_day_bounds_the_hour(written: str, hour: int, true: bool) -> None:
    (mention,) = find_dates(written, NOW)
    assert says(mention.when, datetime(2026, 12, 2, hour, tzinfo=UTC), NOW) is true


def test_a_greeting_is_no_time() -> None:
    assert find_dates("Good afternoon! 下午好", NOW) == ()


def test_lines_are_kept_and_everything_else_is_made_plain() -> None:
    assert narrow_lines("ａ\n－b\tc") == "a\n-b c"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("where is my order?", "Which one do you mean, O-204 or O-205?"),
        ("我的订单到哪了", "您有两个订单：O-204、O-205，请问想查哪一个？"),
    ],
)
def test_an_answer_that_asks_which_order_is_a_question_back(
    question: str, text: str
) -> None:
    asked = read_question(question)
    assert orders_to_choose(text, asked, ("O204", "O205")) == ("O204", "O205")
    named = read_question("Where is O-204?")
    assert orders_to_choose(text, named, ("O204", "O205")) == ()
    assert orders_to_choose(text, asked, ("O204",)) == ()
