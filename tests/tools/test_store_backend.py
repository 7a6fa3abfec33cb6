"""The embedded shop keeps the contract of every backend, and its own promises."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.tools.backend_contract import (
    LIN,
    MEI,
    PROVED,
    BackendContract,
    ContactContract,
)
from tools.backends.base import OrderBackend, Owner
from tools.backends.carriers import CARRIERS, tracking_link, trusted_link
from tools.backends.contacts import ContactBook
from tools.backends.store import backend as store
from tools.backends.store.backend import StoreBackend
from tools.backends.store.contacts import StoreContacts
from tools.backends.store.models import Carrier, Order, Parcel, TrackingEvent
from tools.backends.store.seeding.shop import seed_the_named
from tools.database import in_database
from tools.errors import BadResult

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _shop(transactional_db: None) -> None:
    seed_the_named(now=timezone.now())


class TestStoreBackend(BackendContract):
    @pytest.fixture
    def backend(self) -> OrderBackend:
        return StoreBackend()


class TestStoreContacts(ContactContract):
    @pytest.fixture
    def book(self) -> ContactBook:
        for number, email, phone in (
            ("O-204", "lin@example.com", "+86 138 0000 1204"),
            ("O-305", "", "13900001305"),
        ):
            order = Order.objects.get(number=number)
            order.customer.email, order.customer.phone = email, ""
            order.customer.save()
            Order.objects.filter(pk=order.pk).update(phone=phone)
        return StoreContacts()


@pytest.mark.parametrize("owner", [MEI, PROVED])
def test_foreign_and_missing_cost_the_same_queries(owner: Owner) -> None:
    """Time itself is too noisy to assert; what is asked of the database is not."""
    spent = {}
    for number in ("O-205", "O-999"):
        with CaptureQueriesContext(connection) as queries:
            assert store._get_order(owner, number) is None
            assert store._refunds(owner, number) is None
            assert store._track(owner, number) is None
        spent[number] = [one["sql"].replace("O205", "O999") for one in queries]
    assert len(spent["O-999"]) == 3
    assert spent["O-205"] == spent["O-999"]


def test_an_order_costs_the_same_queries_however_much_is_in_it() -> None:
    order = Order.objects.get(number="O-204")
    with CaptureQueriesContext(connection) as before:
        store._get_order(LIN, "O-204")
    for number in range(30):
        Parcel.objects.create(
            order=order, carrier_id="sf", tracking_number=f"T{number}", status="pending"
        )
    with CaptureQueriesContext(connection) as after:
        store._get_order(LIN, "O-204")
    assert len(after) == len(before)


async def test_a_status_that_is_none_is_a_bad_result() -> None:
    await in_database(Order.objects.filter(number="O-204").update, status="trust me")
    with pytest.raises(BadResult, match="OrderStatus"):
        await StoreBackend().get_order(LIN, "O-204")


async def test_an_event_keeps_the_time_zone_of_its_place() -> None:
    await in_database(TrackingEvent.objects.update, time_zone="America/New_York")
    shipment = await StoreBackend().track(LIN, "N-88")
    assert shipment is not None
    assert {str(event.at.tzinfo) for event in shipment.events} == {"America/New_York"}
    await in_database(TrackingEvent.objects.update, time_zone="Middle-earth/Shire")
    again = await StoreBackend().track(LIN, "N-88")
    assert again is not None
    assert [event.at for event in again.events] == [one.at for one in shipment.events]


async def test_the_newest_parcel_of_a_number_used_twice_is_meant() -> None:
    newer = await in_database(Order.objects.get, number="O-205")
    await in_database(
        Parcel.objects.create,
        order=newer,
        carrier_id="sf",
        tracking_number="n 88",
        status="pending",
    )
    shipment = await StoreBackend().track(LIN, "N-88")
    assert shipment is not None
    assert shipment.order_id == "O-205"


def test_a_number_and_its_key_are_written_together() -> None:
    [parcel] = Parcel.objects.bulk_create(
        [Parcel(order=Order.objects.all()[0], carrier_id="sf",
                tracking_number="ｎ－ 9 1", status="pending")]
    )  # fmt: skip
    assert Parcel.objects.get(pk=parcel.pk).tracking_key == "N91"
    parcel.tracking_number = "N-92"
    parcel.save()
    assert Parcel.objects.get(pk=parcel.pk).tracking_key == "N92"


@pytest.mark.parametrize(
    "url",
    [
        "http://www.ups.com/track",
        "https://www.ups.com.evil.example/track",
        "https://evil.example/www.ups.com",
        "https://www.ups.com@evil.example/",
        "https://www.ups.com:444/",
        "https://www.ups.com\\@evil.example/",
        "//www.ups.com/track",
        "javascript:alert(1)//www.ups.com",
        " https://www.ups.com/track",
        "https://[www.ups.com/",
        "",
        None,
    ],
)
def test_a_link_that_leads_elsewhere_is_no_link(url: str | None) -> None:
    assert trusted_link(url) is None


@pytest.mark.parametrize("code", CARRIERS)
def test_every_carriers_own_page_is_trusted_and_the_number_quoted(code: str) -> None:
    link = tracking_link(CARRIERS[code].tracking_url, "A1/../?x=<b>&")
    assert trusted_link(link) == link
    assert link.endswith("A1%2F..%2F%3Fx%3D%3Cb%3E%26")


async def test_a_carrier_without_a_page_gives_no_link() -> None:
    await in_database(Carrier.objects.filter(code="sf").update, tracking_url="")
    shipment = await StoreBackend().track(LIN, "N-88")
    assert shipment is not None
    assert shipment.tracking_url is None
