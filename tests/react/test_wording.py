from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatbot.assistant.proofs import PROOFS
from chatbot.react.coverage import answer_covers_question, question_slots
from chatbot.react.types import Background, Coverage, SlotState
from chatbot.react.wording import (
    Page,
    answer_from_slots,
    articles_quoted,
    as_money,
    orders_listed,
)
from chatbot.understanding.needs import Language, Need, Question, read_question
from tests.react.world import NOW, failed, order, seen, shipment
from tools.contracts import (
    Json,
    Observation,
    ObservationStatus,
    OrderStatus,
    ParcelStatus,
    RefundStatus,
)

_TIMES = st.none() | st.datetimes(
    datetime(2026, 10, 1),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(2027, 2, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
).map(lambda moment: moment.replace(microsecond=0).isoformat())
_PLACES = st.none() | st.sampled_from(
    [
        "Lyon hub",
        "武汉分拣中心",
        "上海浦东营业部",
        "Memphis",
        "Zurich",
        "西安",
        "Nice",
        "Port Said depot",
    ]
)
_MONEY = st.builds(
    lambda cents, currency: {"amount": f"{cents / 100:.2f}", "currency": currency},
    st.integers(1, 500_000),
    st.sampled_from(["CNY", "USD", "EUR", "GBP", "CHF"]),
)
_FAILURES = st.sampled_from(
    [s for s in ObservationStatus if s is not ObservationStatus.OK]
)
_NEEDS = st.lists(
    st.sampled_from(
        [
            Need.ORDER_STATUS,
            Need.SHIPPED,
            Need.LOCATION,
            Need.ETA,
            Need.TRACKING_ID,
            Need.REFUND_STATUS,
            Need.CANCEL,
            Need.CHANGE_ADDRESS,
        ]
    ),
    min_size=1,
    max_size=4,
    unique=True,
)


@st.composite
def _orders(draw: st.DrawFn, order_id: str, number: int) -> list[Observation]:
    if draw(st.integers(0, 5)) == 0:
        status = draw(_FAILURES)
        return [failed("get_order", "order_id", order_id, status, number=number)]
    parcels = draw(st.integers(0, 2))
    tracking = [f"N-{number}{index}" for index in range(parcels)]
    missing = draw(st.booleans())
    found = [
        order(
            order_id,
            draw(st.sampled_from(list(OrderStatus))).value,
            [None] if parcels == 0 and missing else tracking,
            number=number,
            shipped_at=draw(_TIMES),
            delivered_at=draw(_TIMES),
            cancelled_at=draw(_TIMES),
            total=draw(_MONEY),
        )
    ]
    for index, one in enumerate(tracking):
        found += draw(_shipments(order_id, one, number + index + 1))
    found += draw(_refunds(order_id, number + 8))
    return found


@st.composite
def _shipments(
    draw: st.DrawFn, order_id: str, tracking: str, number: int
) -> list[Observation]:
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return []
    if kind == 1:
        status = draw(_FAILURES)
        return [
            failed("track_shipment", "tracking_id", tracking, status, number=number)
        ]
    return [
        shipment(
            tracking,
            order_id,
            draw(st.sampled_from(list(ParcelStatus))).value,
            draw(_PLACES),
            number=number,
            estimated_delivery_at=draw(_TIMES),
            delivered_at=draw(_TIMES),
        )
    ]


@st.composite
def _refunds(draw: st.DrawFn, order_id: str, number: int) -> list[Observation]:
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return []
    if kind == 1:
        return [
            failed("get_refund", "order_id", order_id, draw(_FAILURES), number=number)
        ]
    rows: list[Any] = [
        {
            "refund_id": f"RF-{number}{index}",
            "status": draw(st.sampled_from(list(RefundStatus))).value,
            "amount": draw(_MONEY),
            "requested_at": draw(_TIMES),
            "settled_at": draw(_TIMES),
            "expected_at": draw(_TIMES),
            "method": "original",
        }
        for index in range(draw(st.integers(0, 2)))
    ]
    fields: dict[str, Any] = {"order_id": order_id, "refunds": rows}
    return [seen("get_refund", {"order_id": order_id}, fields, number=number)]


def _worded(
    question: Question, found: list[Observation], language: Language, zone: str
) -> tuple[str, Coverage]:
    """The answer that code words, and what the check says of it."""
    background = Background(language=language, time_zone=zone)
    slots = question_slots(
        question=question, observations=found, proofs=PROOFS, background=background
    )
    answer = answer_from_slots(slots, found, language=language, time_zone=zone)
    coverage = answer_covers_question(
        answer,
        question=question,
        observations=found,
        proofs=PROOFS,
        background=background,
    )
    return answer, coverage


@settings(max_examples=100, deadline=None)
@given(
    found=st.builds(
        lambda first, second: first + second,
        _orders("O-204", 10),
        st.just([]) | _orders("O-205", 30),
    ),
    needs=_NEEDS,
    language=st.sampled_from(["en", "zh"]),
    zone=st.sampled_from(["Asia/Shanghai", "Europe/Paris", "America/New_York", "UTC"]),
)
def test_whatever_code_words_passes_the_check_as_far_as_it_was_asked(
    found: list[Observation], needs: list[Need], language: Language, zone: str
) -> None:
    both = any(one.id == "obs-30" for one in found)
    text = "O-204, O-205" if both else "O-204"
    question = replace(
        read_question(text, language=language), needs=tuple(needs), out_of_scope=False
    )
    answer, coverage = _worded(question, found, language, zone)
    assert not coverage.unsupported, (answer, coverage.unsupported)
    assert {slot.state for slot in coverage.unanswered} <= {SlotState.OPEN}, (
        answer,
        coverage.unanswered,
    )


def test_an_answer_says_what_was_found_from_where_and_as_of_when() -> None:
    found = [order(), shipment()]
    question = read_question("Has O-204 shipped, and where is it now?")
    background = Background(time_zone="Europe/Paris")
    slots = question_slots(
        question=question, observations=found, proofs=PROOFS, background=background
    )
    assert answer_from_slots(slots, found, language="en", time_zone="Europe/Paris") == (
        "Order O-204 shipped on 28 November, 09:00. Parcel N-88 (UPS) is in transit;"
        " its latest place is Lyon hub (30 November, 23:15). This is what the"
        " shop and the carrier say as of 1 December, 10:32."
    )
    assert answer_from_slots(
        slots, found, language="zh", time_zone="Asia/Shanghai"
    ) == (
        "订单 O-204 已于 11月28日 16:00 发货。包裹 N-88（UPS）正在运输中，最新位置是"
        " Lyon hub（12月1日 06:15）。"
        "以上来自店铺系统和快递系统，截至 12月1日 17:32。"
    )


def test_a_list_of_orders_names_each_with_its_own_status_and_sum() -> None:
    rows: list[Any] = [
        {
            "order_id": "O-205",
            "status": "paid",
            "placed_at": (NOW - timedelta(days=1)).isoformat(),
            "total": {"amount": "120.00", "currency": "CNY"},
            "parcels": [],
        },
        {
            "order_id": "O-204",
            "status": "shipped",
            "placed_at": None,
            "total": {"amount": "199.00", "currency": "CNY"},
            "parcels": [{"tracking_id": "N-88", "status": "in_transit"}],
        },
    ]
    found = seen("list_my_orders", {}, {"orders": rows, "total_orders": 2})
    for language in ("en", "zh"):
        text = orders_listed(found, language=language, time_zone="UTC")
        coverage = answer_covers_question(
            text,
            question=read_question(
                "我有哪些订单" if language == "zh" else "my orders?"
            ),
            observations=[found],
            proofs=PROOFS,
            background=Background(),
        )
        assert coverage.passed, (text, coverage.unsupported, coverage.unanswered)


def test_an_article_is_quoted_with_its_title_and_link() -> None:
    rows: list[Any] = [
        {
            "slug": "returns",
            "title": "Returns",
            "excerpt": "You may return an item within 14 days. Postage is free.",
            "url": "/help/returns/",
            "language": "en",
        }
    ]
    found = seen("search_help", {"query": "returns"}, {"articles": rows})
    text = articles_quoted(found, language="en", time_zone="UTC")
    assert text == (
        "Our help centre says under “Returns”: You may return an item within 14 days."
        " Postage is free. Read more: /help/returns/"
    )
    coverage = answer_covers_question(
        text,
        question=replace(read_question("How do returns work?"), needs=(Need.POLICY,)),
        observations=[found],
        proofs=PROOFS,
        background=Background(),
    )
    assert coverage.passed, (coverage.unsupported, coverage.unanswered)


@settings(max_examples=150, deadline=None)
@given(
    ago=st.timedeltas(timedelta(minutes=1), timedelta(days=40)),
    due=st.timedeltas(timedelta(days=-10), timedelta(days=10)),
    language=st.sampled_from(["en", "zh"]),
    zone=st.sampled_from(["Asia/Shanghai", "Europe/Paris", "America/New_York", "UTC"]),
    status=st.sampled_from(["picked_up", "in_transit", "out_for_delivery"]),
)
def test_how_long_something_waits_is_reckoned_from_what_was_observed(
    ago: timedelta, due: timedelta, language: Language, zone: str, status: str
) -> None:
    then = (NOW - ago).isoformat()
    found = [
        order(number=1),
        shipment(
            "N-88",
            "O-204",
            status,
            "Lyon hub",
            last_event_at=then,
            estimated_delivery_at=(NOW + due).isoformat(),
            number=2,
        ),
        order("O-205", "paid", [], number=3, paid_at=then),
    ]
    page = Page(found, language, zone)
    parcel = page.parcel("O-204", "N-88")
    page.say(page.words.parcel(parcel, page.now), "obs-2")
    page.say(page.words.standstill(parcel, page.now))
    page.say(page.words.arrival(parcel, page.now))
    waiting = page.record("O-205")
    page.say(page.words.order(waiting, page.now), "obs-3")
    page.say(page.words.waiting(waiting, page.now))
    page.as_of()
    coverage = answer_covers_question(
        page.text(),
        question=read_question("O-204, O-205", language=language),
        observations=found,
        proofs=PROOFS,
        background=Background(language=language, time_zone=zone),
    )
    assert not coverage.unsupported, (page.text(), coverage.unsupported)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("status", list(RefundStatus))
def test_a_refund_of_another_year_is_proved_as_well(
    language: Language, status: str
) -> None:
    """A date with its year is longer."""
    then = (NOW - timedelta(days=400)).isoformat()
    row: Json = {
        "refund_id": "RF-1",
        "status": status,
        "amount": {"amount": "5.00", "currency": "CNY"},
        "requested_at": then,
        "settled_at": then if status == "settled" else None,
        "expected_at": None,
        "method": "original",
    }
    found = [
        order("O-204", "refunded", [], number=1),
        seen(
            "get_refund",
            {"order_id": "O-204"},
            {"order_id": "O-204", "refunds": [row]},
            number=2,
        ),
    ]
    question = replace(
        read_question("O-204", language=language), needs=(Need.REFUND_STATUS,)
    )
    answer, coverage = _worded(question, found, language, "Asia/Shanghai")
    assert not coverage.unsupported, (answer, coverage.unsupported)
    assert not coverage.unanswered, (answer, coverage.unanswered)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"amount": "207.00", "currency": "CNY"}, "¥207.00"),
        ({"amount": "1207.5", "currency": "USD"}, "$1,207.50"),
        ({"amount": "97.00", "currency": "SEK"}, "97.00 SEK"),
        (None, ""),
    ],
)
def test_money_is_told_in_one_way(
    value: dict[str, str] | None, told: str, language: Language
) -> None:
    assert as_money(value, language=language) == told
