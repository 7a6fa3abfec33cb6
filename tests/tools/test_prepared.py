"""Prepared queries do what Django's own would, on either database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F

from tools.backends.store.models import Carrier, Customer, Order
from tools.prepared import (
    Place,
    Select,
    Update,
    UpdateReturning,
    insert_row,
    insert_rows,
    inserting,
    numbered,
    places,
    together,
    update_row,
    updating,
)

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 1, 5, 10, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture
def order() -> Order:
    customer = Customer.objects.create(id="C-PREPARED", name="P")
    made = Order(
        number="P-1", customer=customer, status="paid", total=100, placed_at=NOW
    )
    made.number_key = "P1"
    insert_row(made)
    return made


def test_an_inserted_row_learns_its_key_and_reads_back_as_it_was(order: Order) -> None:
    stored = Order.objects.get(pk=order.pk)
    assert (stored.number, stored.placed_at, stored.paid_at) == ("P-1", NOW, None)


def test_a_second_row_of_one_number_is_refused_as_by_django(order: Order) -> None:
    twin = Order(
        number="P-1",
        customer_id="C-PREPARED",
        status="paid",
        total=1,
        placed_at=NOW,
        number_key="P1",
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_row(twin)


def test_many_rows_are_inserted_in_their_order_whatever_their_number() -> None:
    carriers = [Carrier(code=f"c{n:02}", name=f"name {n}") for n in range(43)]
    insert_rows(carriers)
    made = Carrier.objects.filter(code__in=[one.code for one in carriers])
    assert list(made.order_by("code").values_list("name", flat=True)) == [
        f"name {n}" for n in range(43)
    ]
    insert_rows([])


def test_values_come_back_as_python_has_them(order: Order) -> None:
    found = Select(
        lambda: Order.objects.filter(
            pk=Place("order"), placed_at__lte=Place("now")
        ).values_list("placed_at", "total", "paid_at")
    )
    assert found.rows(order=order.pk, now=NOW) == [(NOW, 100, None)]
    earlier = NOW - timedelta(microseconds=1)
    assert found.first(order=order.pk, now=earlier) is None


def test_an_update_says_how_many_rows_it_met(order: Order) -> None:
    pay = Update(
        lambda: Order.objects.filter(pk=Place("order"), status="paid"),
        status="shipped",
        total=F("total") + Place("more"),
    )
    assert pay(order=order.pk, more=5) == 1
    assert pay(order=order.pk, more=5) == 0
    order.refresh_from_db()
    assert (order.status, order.total) == ("shipped", 105)


def test_columns_of_one_row_are_set_by_its_key(order: Order) -> None:
    update_row(Order, order.pk, {"paid_at": NOW, "note": "so"})
    order.refresh_from_db()
    assert (order.paid_at, order.note) == (NOW, "so")


@pytest.mark.parametrize("count", [1, 3, 32, 33, 70])
def test_an_in_of_any_size_meets_just_its_members(order: Order, count: int) -> None:
    wanted = places([order.pk, *(order.pk + 1 + n for n in range(count - 1))])
    found = Select(
        lambda: Order.objects.filter(pk__in=numbered(len(wanted))).values_list("pk")
    )
    assert found.rows(**wanted) == [(order.pk,)]


def test_an_update_gives_what_stands_there_then(order: Order) -> None:
    until = NOW + timedelta(days=1)
    paid = UpdateReturning(
        lambda: Order.objects.filter(pk=Place("order"), status=Place("was")),
        ("number", "total", "paid_at", "customer_id"),
        status="shipped",
        paid_at=Place("at"),
        total=F("total") + Place("more"),
    )
    values = {"order": order.pk, "was": "paid", "at": until, "more": 5}
    assert paid.first(**values) == ("P-1", 105, until, "C-PREPARED")
    assert paid.first(**values) is None


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps its own")
def test_postgresql_plans_a_prepared_query_once() -> None:
    found = Select(
        lambda: Order.objects.filter(pk=Place("order")).values_list("pk", "note")
    )

    def prepared() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_prepared_statements")
            return int(cursor.fetchone()[0])

    before = prepared()
    for number in range(3):
        found.rows(order=number)
    assert prepared() == before + 1


def test_after_a_rollback_prepared_queries_are_still_there() -> None:
    """The driver lets go of whatever has been prepared, if it has prepared anything."""
    found = Select(lambda: Order.objects.filter(pk=Place("order")).values_list("pk"))
    found.rows(order=1)
    for number in range(10):
        list(Order.objects.filter(pk=number))
    with transaction.atomic():
        transaction.set_rollback(True)
    assert found.rows(order=3) == []


def test_queries_that_are_asked_together_each_give_their_own(order: Order) -> None:
    total = Select(
        lambda: Order.objects.filter(number=Place("number")).values_list("total")
    )
    raised = Update(
        lambda: Order.objects.filter(number=Place("number")),
        total=F("total") + Place("more"),
    )
    with transaction.atomic():
        got = together(
            [
                total.asked(number="P-1"),
                raised.asked(number="P-1", more=5),
                updating(Order, order.pk, {"note": "seen"}),
                total.asked(number="P-1"),
                total.asked(number="P-2"),
            ]
        )
    assert got == [[(100,)], 1, None, [(105,)], []]
    assert together([]) == []


def test_of_queries_asked_together_the_first_that_fails_is_raised() -> None:
    """Those before it are undone with the transaction, those after it never run."""
    carrier = Carrier(code="twice", name="Twice")
    again = Carrier(code="twice", name="Once more")
    last = Carrier(code="never", name="Never")
    asked = [*inserting([carrier]), *inserting([again]), *inserting([last])]
    with pytest.raises(IntegrityError), transaction.atomic():
        together(asked)
    assert not Carrier.objects.filter(code__in=["twice", "never"]).exists()
    # The connection is as good as before, and so is what could not be prepared.
    together(inserting([last]))
    assert Carrier.objects.filter(code="never").exists()
