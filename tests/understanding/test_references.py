from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from chatbot.understanding.amounts import find_amounts, refund_asked_for
from chatbot.understanding.carriers import carrier_of
from chatbot.understanding.dates import find_days
from chatbot.understanding.needs import Question, read_question
from chatbot.understanding.references import (
    find_numbers,
    pointed_order,
    resolve_orders,
)


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("O-204 到哪了", ("O-204",)),
        ("o－204", ("o－204",)),
        ("where is o 204", ("o 204",)),
        ("＃O-204 到哪了", ("＃O-204",)),
        ("#W1234567", ("#W1234567",)),
        ("order #1001 please", ("#1001",)),
        ("订单号20412345678901发货没", ("20412345678901",)),
        ("订单 ２０４１２３ 到哪了", ("２０４１２３",)),
        ("tracking purchase 00123842", ("00123842",)),
        ("O-204 and O-205 and o204", ("O-204", "O-205")),
        ("order 203-1234567-7654321", ("203-1234567-7654321",)),
        ("I waited 3 days for 2 items", ()),
        ("my phone is 13800138000", ()),
    ],
)
def test_order_numbers_are_kept_as_written(text: str, orders: tuple[str, ...]) -> None:
    assert find_numbers(text).orders == orders


@pytest.mark.parametrize(
    ("text", "tracking"),
    [
        ("N-88 到哪了", ("N-88",)),
        ("tracking number 123456789012", ("123456789012",)),
        ("运单号：773165231258", ("773165231258",)),
        ("SF1234567890123 到哪了", ("SF1234567890123",)),
        ("where is 1Z5R89390357567127", ("1Z5R89390357567127",)),
    ],
)
def test_tracking_numbers_are_told_apart(text: str, tracking: tuple[str, ...]) -> None:
    found = find_numbers(text)
    assert found.tracking == tracking
    assert found.orders == ()


def test_a_number_that_is_not_meant_is_set_aside() -> None:
    found = find_numbers("不是 O-204，是 O-205")
    assert found.orders == ("O-205",)
    assert found.rejected == ("O-204",)


@pytest.mark.parametrize(
    ("number", "carrier"),
    [
        ("1Z5R89390357567127", "ups"),
        ("1Z5R89390357567128", None),
        ("986578788855", "fedex"),
        ("986578788856", None),
        ("RB123456785US", "s10"),
        ("RB123456786US", None),
        ("9261292700768711948021", "usps"),
        ("4002847016405018", "canada_post"),
        ("3318810036", "dhl"),
        ("3318810010", None),
        ("YT5319615559666", "yto"),
        ("JD0076810060555", "jd"),
        ("sf 1234 5678 90123", "sf"),
        ("hello", None),
    ],
)
def test_a_carrier_is_known_by_form_and_check_digit(
    number: str, carrier: str | None
) -> None:
    assert carrier_of(number) == carrier


def asked(*texts: str) -> list[Question]:
    past: list[Question] = []
    for text in texts:
        past.append(read_question(text, earlier=past))
    return past


def test_the_order_is_carried_over_many_turns() -> None:
    *earlier, last = asked("Where is O-204?", "thanks", "when does it come", "and now?")
    assert resolve_orders(last, earlier=earlier) == ("O-204",)


def test_a_correction_takes_the_place_of_what_it_corrects() -> None:
    *earlier, last = asked("Where is O-204?", "不对，是 O-205", "什么时候到")
    assert resolve_orders(last, earlier=earlier) == ("O-205",)


def test_a_rejected_order_is_not_continued() -> None:
    *earlier, last = asked("Where is O-204?", "not O-204", "when does it come?")
    assert resolve_orders(last, earlier=earlier) == ()


def test_bare_digits_count_only_for_an_own_order() -> None:
    question = read_question("205 发货了吗")
    assert resolve_orders(question, own_orders=["O-204", "O-205"]) == ("O-205",)
    assert resolve_orders(question, own_orders=["O-204"]) == ()


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("where is my last order", "O-206"),
        ("最近的订单到哪了", "O-206"),
        ("and the other one?", None),
        ("where is it", None),
    ],
)
def test_my_last_order_is_the_newest(text: str, order: str | None) -> None:
    own = ["O-206", "O-205", "O-204"]
    assert pointed_order(text, own_orders=own, current=["O-204"]) == order


def test_the_other_one_is_the_only_other() -> None:
    own = ["O-205", "O-204"]
    assert pointed_order("另一个呢", own_orders=own, current=["o204"]) == "O-205"


# Wednesday evening in London, already Thursday in Shanghai.
NOW = datetime(2026, 3, 4, 20, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "zone", "day"),
    [
        ("昨天下的单", "Asia/Shanghai", date(2026, 3, 4)),
        ("ordered yesterday", "Europe/London", date(2026, 3, 3)),
        ("last Friday", "Europe/London", date(2026, 2, 27)),
        ("last wednesday", "Europe/London", date(2026, 2, 25)),
        ("on friday", "Europe/London", date(2026, 3, 6)),
        ("3天前", "Asia/Shanghai", date(2026, 3, 2)),
        ("two weeks ago", "Europe/London", date(2026, 2, 18)),
        ("上周五", "Asia/Shanghai", date(2026, 2, 27)),
        ("下周一", "Asia/Shanghai", date(2026, 3, 9)),
        ("12月28号", "Asia/Shanghai", date(2025, 12, 28)),
        ("March 3rd", "Europe/London", date(2026, 3, 3)),
        ("2026-02-01", "Europe/London", date(2026, 2, 1)),
    ],
)
def test_a_day_is_read_by_the_customers_calendar(
    text: str, zone: str, day: date
) -> None:
    assert [one.date for one in find_days(text, now=NOW, time_zone=zone)] == [day]


def test_a_day_that_no_calendar_has_is_left_out() -> None:
    assert find_days("2026-02-31", now=NOW, time_zone="UTC") == ()


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("退了￥12.50", "12.50", "CNY"),
        ("少退我五块 其实是 20元", "20", "CNY"),
        ("a refund of $1,350.99", "1350.99", "USD"),
        ("Rs. 499 deducted", "499", "INR"),
        ("30 euros", "30", "EUR"),
    ],
)
def test_a_sum_of_money_is_read(text: str, value: str, currency: str) -> None:
    (amount,) = find_amounts(text)
    assert (amount.value, amount.currency) == (Decimal(value), currency)


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("Please refund 5 yuan of O-204", "5", "CNY"),
        ("refund 5 of O-207", "5", ""),
        ("I want a partial refund of ¥15.50 for order O-204", "15.50", "CNY"),
        ("can you refund me $1,000 on O-204?", "1000", "USD"),
        ("退我5块钱 O-204", "5", "CNY"),
        ("退我 5 美元 O-204", "5", "USD"),
        ("O-204 给我退２０元吧", "20", "CNY"),
    ],
)
def test_a_sum_that_is_wanted_back_is_read(
    text: str, value: str, currency: str
) -> None:
    found = refund_asked_for(text)
    assert found is not None
    assert (str(found.value), found.currency) == (value, currency)


@pytest.mark.parametrize(
    "text",
    [
        "Please refund O-204",
        "refund 204",
        "I paid ¥199 for O-204, where is my refund?",
        "I only got refunded $5 of $20",
        "只退了5块，剩下的呢",
        "O-204 退款",
        "100元的那双鞋能退吗",
    ],
)
def test_a_sum_that_was_paid_or_came_back_is_none_that_is_wanted(text: str) -> None:
    assert refund_asked_for(text) is None
