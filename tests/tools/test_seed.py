"""The demo shop: whole, plausible, the same for everyone, and never overwritten."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import Count, F, Sum
from django.test.utils import CaptureQueriesContext

from chatbot.understanding.carriers import carrier_of
from tools.backends.store import models as store
from tools.backends.store.seeding.shop import seed_store
from tools.contracts import OrderStatus, ParcelStatus, RefundStatus

pytestmark = pytest.mark.django_db
DAY = datetime(2026, 3, 14, 15, 9, tzinfo=UTC)
MIDNIGHT = DAY.replace(hour=0, minute=0)


@pytest.fixture
def shop() -> None:
    seed_store(now=DAY)


def _content() -> list[list[Any]]:
    """Every row of the shop, without the keys that the database gives."""
    tables: tuple[Any, ...] = (
        store.Customer, store.Address, store.PaymentMethod, store.Variant,
        store.Order, store.OrderLine, store.Parcel, store.TrackingEvent,
        store.Payment, store.Refund, store.Return,
    )  # fmt: skip
    given = {"id", "order_id", "parcel_id", "product_id", "variant_id"}
    return [
        [
            {key: value for key, value in row.items() if key not in given}
            for row in table.objects.order_by("pk").values()
        ]
        for table in tables
    ]


def test_the_same_day_gives_the_same_shop() -> None:
    seed_store(now=DAY)
    first = _content()
    for table in (store.Order, store.Customer, store.Product, store.Carrier):
        table.objects.all().delete()
    seed_store(now=DAY + timedelta(hours=8))
    assert _content() == first


@pytest.mark.usefixtures("shop")
def test_it_is_as_large_as_a_shop() -> None:
    assert store.Customer.objects.count() == 40
    assert store.Product.objects.count() == 60
    assert store.Order.objects.count() == 300
    assert store.Variant.objects.filter(available=False).exists()
    several = store.Customer.objects.annotate(n=Count("addresses")).filter(n__gt=1)
    assert several.exists()
    several = store.Customer.objects.annotate(n=Count("payment_methods"))
    assert several.filter(n__gt=1).exists()


@pytest.mark.usefixtures("shop")
def test_every_state_is_there() -> None:
    orders = Counter(store.Order.objects.values_list("status", flat=True))
    parcels = Counter(store.Parcel.objects.values_list("status", flat=True))
    refunds = Counter(store.Refund.objects.values_list("status", flat=True))
    assert set(orders) == set(OrderStatus)
    assert set(parcels) == set(ParcelStatus)
    assert set(refunds) == set(RefundStatus)
    split = store.Order.objects.annotate(n=Count("parcels")).filter(n__gt=1)
    assert split.count() >= 10
    unnumbered = store.Parcel.objects.filter(tracking_number="", shipped_at__lt=DAY)
    assert unnumbered.count() >= 10


@pytest.mark.usefixtures("shop")
def test_the_cast_owns_what_every_walk_names() -> None:
    owners = dict(store.Order.objects.values_list("number", "customer"))
    assert (owners["O-204"], owners["O-205"], owners["O-305"]) == (
        "C-LIN", "C-LIN", "C-MEI",
    )  # fmt: skip
    parcel = store.Parcel.objects.get(tracking_number="N-88")
    assert (parcel.order.number, parcel.order.status) == ("O-204", "shipped")
    assert parcel.status == ParcelStatus.IN_TRANSIT
    paid = store.Order.objects.get(number="O-205")
    assert (paid.status, paid.shipped_at) == ("paid", None)


@pytest.mark.usefixtures("shop")
def test_nothing_happens_before_its_cause_or_after_today() -> None:
    for order in store.Order.objects.prefetch_related("parcels__events", "refunds"):
        moments = [order.placed_at, order.paid_at, order.shipped_at, order.delivered_at]
        known = [moment for moment in moments if moment]
        assert known == sorted(known), order.number
        assert known[-1] <= MIDNIGHT
        if order.shipped_at and order.paid_at:
            # What the help centre promises.
            assert order.shipped_at - order.paid_at <= timedelta(hours=48)
        for parcel in order.parcels.all():
            events = sorted(parcel.events.all(), key=lambda event: event.at)
            assert all(event.at <= MIDNIGHT for event in events), order.number
            if events:
                assert order.shipped_at
                assert order.shipped_at <= events[0].at
                assert events[-1].status == parcel.status, order.number
            if parcel.estimated_delivery_at:
                assert parcel.estimated_delivery_at > MIDNIGHT
        for refund in order.refunds.all():
            assert order.paid_at
            assert order.paid_at < refund.requested_at <= MIDNIGHT + timedelta(hours=1)


@pytest.mark.usefixtures("shop")
def test_money_goes_back_after_the_goods_have_come_back() -> None:
    returns = store.Return.objects.select_related("order")
    assert returns.filter(received_at=None).exists()
    received = returns.exclude(received_at=None)
    assert received.exists()
    for one in received:
        assert one.received_at
        assert one.requested_at < one.received_at <= MIDNIGHT
        refund = one.order.refunds.get()
        assert refund.settled_at
        assert one.received_at < refund.settled_at


@pytest.mark.usefixtures("shop")
def test_the_states_of_an_order_and_its_parcels_agree() -> None:
    unpaid = store.Order.objects.filter(status="unpaid")
    assert not unpaid.filter(paid_at__isnull=False).exists()
    assert all(MIDNIGHT - one.placed_at < timedelta(hours=24) for one in unpaid)
    unshipped = store.Order.objects.filter(status__in=["unpaid", "paid", "packed"])
    assert not unshipped.filter(shipped_at__isnull=False).exists()
    delivered = store.Order.objects.filter(status="delivered")
    assert not delivered.filter(delivered_at=None).exists()
    assert not delivered.exclude(parcels__status="delivered").exists()
    numbered = store.Parcel.objects.exclude(tracking_number="")
    assert not numbered.exclude(status="pending").filter(events=None).exists()
    assert not store.Parcel.objects.filter(lines=None).exists()


@pytest.mark.usefixtures("shop")
def test_the_money_adds_up() -> None:
    for order in store.Order.objects.annotate(
        goods=Sum(F("lines__price") * F("lines__quantity"))
    ):
        assert order.total == order.goods + order.shipping_fee
        moved = Counter(
            {
                way: sum(
                    order.payments.filter(direction=way).values_list(
                        "amount", flat=True
                    )
                )
                for way in ("payment", "refund")
            }
        )
        assert moved["payment"] == (order.total if order.paid_at else 0)
        assert moved["refund"] <= moved["payment"]
        settled = order.refunds.filter(status="settled")
        assert moved["refund"] == sum(settled.values_list("amount", flat=True))


@pytest.mark.usefixtures("shop")
def test_tracking_numbers_have_their_carriers_form_and_check_digit() -> None:
    """Told apart by the code that reads them in customers' messages."""
    # ZTO and the Chinese post use forms without a sign of their own.
    named = {"sf", "yto", "jd", "ups", "usps", "fedex", "dhl"}
    parcels = store.Parcel.objects.exclude(tracking_number__in=["", "N-88"])
    seen = Counter[str]()
    for parcel in parcels:
        seen[parcel.carrier_id] += 1
        if parcel.carrier_id in named:
            assert carrier_of(parcel.tracking_number) == parcel.carrier_id
        if parcel.carrier_id == "ems":
            assert carrier_of(parcel.tracking_number) == "s10"
    assert seen.keys() >= {"sf", "zto", "yto", "jd", "ems", "dhl", "ups", "fedex"}
    assert len(set(parcels.values_list("tracking_key", flat=True))) == len(parcels)


@pytest.mark.usefixtures("shop")
def test_places_and_names_are_chinese_and_english_in_their_own_zones() -> None:
    zones = set(store.TrackingEvent.objects.values_list("time_zone", flat=True))
    assert {"Asia/Shanghai", "America/Los_Angeles", "Europe/London"} <= zones
    languages = Counter(store.Customer.objects.values_list("language", flat=True))
    assert min(languages["zh"], languages["en"]) >= 10
    for one in (*store.Customer.objects.all(), *store.Order.objects.all()[:30]):
        one.full_clean()


@pytest.mark.usefixtures("shop")
def test_a_filled_shop_is_left_as_an_operator_made_it() -> None:
    store.Order.objects.filter(number="O-205").update(status="cancelled")
    store.Order.objects.filter(number="O-204").update(number="X-1", number_key="X1")
    store.Carrier.objects.filter(code="sf").update(name="Swift")
    with CaptureQueriesContext(connection) as queries:
        assert seed_store(now=DAY + timedelta(days=3)) == 0
    changes = [
        one for one in queries if "INSERT" in one["sql"] or "UPDATE" in one["sql"]
    ]
    assert changes == []
    assert store.Order.objects.get(number="O-205").status == "cancelled"
    assert not store.Order.objects.filter(number="O-204").exists()
    assert store.Carrier.objects.get(code="sf").name == "Swift"


def test_the_command_says_what_it_added(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_store")
    assert "300 orders and 110 help articles added." in capsys.readouterr().out
    call_command("seed_store")
    assert "0 orders and 0 help articles added." in capsys.readouterr().out
