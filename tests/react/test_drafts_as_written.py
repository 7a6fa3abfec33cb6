"""Answers as models write them: lists, headings, ranges, parts of the day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chatbot.assistant.proofs import PROOFS
from chatbot.react.coverage import answer_covers_question
from chatbot.react.facts import Fact
from chatbot.react.grounding.articles import Articles
from chatbot.react.grounding.choice import orders_to_choose
from chatbot.react.grounding.dates import find_dates
from chatbot.react.grounding.measures import in_one_spelling
from chatbot.react.grounding.when import says
from chatbot.react.types import Background, Coverage
from chatbot.understanding.needs import read_question
from chatbot.understanding.text import narrow_lines
from tools.contracts import Json, Observation, ObservationStatus

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


RETURNS_ZH = "非质量问题退货运费由买家承担。"


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("退货运费要您自己承担", True),
        ("退货运费由买家承担", True),
        ("退货运费由我们承担", False),
        ("退货运费由商家承担", False),
    ],
)
def test_who_bears_a_cost_is_not_turned_round(sentence: str, told: bool) -> None:
    article = Fact("text", "excerpt", "articles[0].excerpt", RETURNS_ZH, "1", "help")
    assert Articles([article]).tell(sentence) is told


def _draft(question: str, *observations: Observation, answer: str) -> Coverage:
    return answer_covers_question(
        answer,
        question=read_question(question),
        observations=observations,
        proofs=PROOFS,
        background=Background(time_zone="Europe/Paris"),
    )


def _observed(tool: str, **fields: Json) -> Observation:
    return Observation(
        id=tool, call_id=tool, tool=tool, arguments={"order_id": "O-204"},
        status=ObservationStatus.OK, fields=fields, observed_at=NOW, source="shop",
    )  # fmt: skip


def _refund(**fields: Json) -> Observation:
    refund: Json = {"refund_id": "RF-1", "status": "settled", **fields}
    return _observed("get_refund", order_id="O-204", refunds=[refund])


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("It was settled on 29 November.", True),
        ("RF-1 was settled on 29 November.", True),
        ("It was settled on 25 November.", False),
        ("It was requested on 25 November and settled on 29 November.", True),
    ],
)
def test_a_step_of_a_refund_has_its_own_date(answer: str, passed: bool) -> None:
    refund = _refund(
        requested_at="2026-11-25T02:00:00+00:00", settled_at="2026-11-29T06:00:00+00:00"
    )
    assert (
        _draft("Is the refund of O-204 done?", refund, answer=answer).passed is passed
    )


@pytest.mark.parametrize(
    "deed",
    [
        "I've subscribed you to news.",
        "I just spoke with them about it.",
        "A second attempt is booked.",
        "我替您重新申诉了。",
        "仓库那边已经答应了。",
        "二次派送已约好。",
    ],
)
def test_a_deed_is_refused_whatever_its_verb(deed: str) -> None:
    cancelled = _observed("get_order", order_id="O-204", status="cancelled")
    question = "O-204 怎么样了" if "。" in deed else "What about O-204?"
    told = "O-204 已取消。" if "。" in deed else "O-204 was cancelled."
    assert _draft(question, cancelled, answer=told).passed
    coverage = _draft(question, cancelled, answer=f"{told} {deed}")
    assert {one.kind for one in coverage.unsupported} == {"effect"}


@pytest.mark.parametrize("told", ["It was never paid.", "It was not paid."])
def test_an_order_cancelled_before_it_was_paid_was_not_paid(told: str) -> None:
    cancelled = _observed("get_order", order_id="O-204", status="cancelled")
    answer = f"O-204 was cancelled. {told}"
    assert _draft("What about O-204?", cancelled, answer=answer).passed
    paid = _observed(
        "get_order", order_id="O-204", status="cancelled",
        paid_at="2026-11-25T02:00:00+00:00",
    )  # fmt: skip
    assert not _draft("What about O-204?", paid, answer=answer).passed


@pytest.mark.parametrize(
    ("question", "answer", "refused"),
    [
        ("Has O-204 shipped?", "O-204 已经发货了，请您放心。", True),
        ("Has O-204 shipped?", "O-204 has shipped; it is at 武汉转运中心.", False),
        ("O-204 发货了吗", "Yes, the order O-204 has shipped already.", True),
        ("O-204 发货了吗", "O-204 已发货（Lyon hub）。", False),
    ],
)
def test_an_answer_is_in_the_language_of_the_question(
    question: str, answer: str, refused: bool
) -> None:
    shipped = _observed("get_order", order_id="O-204", status="shipped")
    tracked = _observed(
        "track_shipment", order_id="O-204", tracking_id="N-1", status="in_transit",
        place="武汉转运中心" if "武汉" in answer else "Lyon hub",
    )  # fmt: skip
    coverage = _draft(question, shipped, tracked, answer=answer)
    assert ("language" in {one.why for one in coverage.unsupported}) is refused


def test_a_place_on_the_way_is_no_destination() -> None:
    shipped = _observed("get_order", order_id="O-204", status="shipped", ship_to="Oslo")
    passed: Json = [{"at": "2026-11-28T15:40:00+00:00", "place": "Marseille"}]
    tracked = _observed(
        "track_shipment", order_id="O-204", tracking_id="N-1", status="in_transit",
        place="Lyon hub", events=passed,
    )  # fmt: skip
    question = "Has O-204 shipped?"
    assert _draft(question, shipped, tracked, answer="It shipped to Oslo.").passed
    wrong = _draft(question, shipped, tracked, answer="It shipped to Marseille.")
    assert [one.text for one in wrong.unsupported] == ["Marseille"]
