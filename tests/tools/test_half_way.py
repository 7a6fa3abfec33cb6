"""A change of two movements of money that stops between them: whole, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.utils import timezone

from tests.servers.shop_in_parts import PARTS, ShopInParts
from tests.servers.shop_server import KEY
from tests.tools.test_http_backend import SHOP
from tools import gateway
from tools.actions import performing, requests
from tools.actions.models import ActionRequest
from tools.actions.states import RequestState
from tools.backends.http_api import HttpShop
from tools.backends.store import money_changes
from tools.backends.store.changing import StoreChanges
from tools.backends.store.models import (
    Order,
    Payment,
    PaymentKind,
    PaymentMethod,
    Refund,
    StoreEffect,
)
from tools.backends.store.seeding.shop import seed_the_named
from tools.contracts import ActionKind, Actor, Role

pytestmark = pytest.mark.django_db(transaction=True)

KIND = ActionKind.CHANGE_PAYMENT
LIN = Actor(Role.CUSTOMER, "C-LIN")


@pytest.fixture
def store() -> None:
    seed_the_named(now=timezone.now())
    PaymentMethod.objects.create(
        pk="GIFT-LIN", customer_id="C-LIN", kind=PaymentKind.GIFT_CARD, balance=90_000
    )


@pytest.fixture
def server(settings: Any, store: None) -> Iterator[ShopInParts]:
    with ShopInParts(SHOP) as running:
        settings.SHOP_API_URL = running.url
        settings.SHOP_API_KEY = KEY
        yield running


def agreed(shop: Any) -> ActionRequest:
    """Lin's payment of O-205 by another method, confirmed and approved by the rules."""
    wish = {"order_id": "O-205", "payment_method": "GIFT-LIN"}
    preview = asyncio.run(shop.preview("C-LIN", KIND, wish))
    now = timezone.now()
    request = gateway.request(
        KIND, preview, actor=LIN, conversation_id=uuid4(), run_id=uuid4(), now=now
    )
    request = requests.confirm(
        request,
        customer_id="C-LIN",
        arguments_hash=request.arguments_hash,
        preview=preview,
        now=now,
    )
    assert request.state == RequestState.APPROVED
    return request


def attempt(request: ActionRequest, shop: Any, number: int) -> ActionRequest:
    """The attempt of that number, after every wait before it is over."""
    later = timezone.now() + timedelta(seconds=40 * number)
    return asyncio.run(performing.perform(request.pk, shop=shop, now=later))


@pytest.mark.parametrize("stop", ["before charge", "before refund", "before reply"])
def test_a_shop_that_stopped_half_way_is_asked_to_go_on(
    server: ShopInParts, stop: str
) -> None:
    shop, server.stops = HttpShop(), {1: stop}
    request = agreed(shop)
    assert attempt(request, shop, 0).state == RequestState.RETRY_WAIT
    assert attempt(request, shop, 1).state == RequestState.SUCCEEDED
    assert server.booked == list(PARTS)


@pytest.mark.parametrize("part", ["charge", "refund"])
@pytest.mark.parametrize("done", [True, False])
def test_while_one_part_is_unknown_nothing_is_asked_for_or_taken_back(
    server: ShopInParts, part: str, done: bool
) -> None:
    shop, server.stops = HttpShop(), {1: f"{part} unknown"}
    request = agreed(shop)
    assert attempt(request, shop, 0).state == RequestState.RETRY_WAIT
    booked = list(server.booked)
    for number in (1, 2, 3):
        assert attempt(request, shop, number).state == RequestState.RETRY_WAIT
    assert (server.attempts, server.booked) == (1, booked)
    server.provider_says(done=done)
    assert attempt(request, shop, 4).state == RequestState.SUCCEEDED
    assert sorted(server.booked) == sorted(PARTS)


def test_what_stays_unknown_waits_for_the_provider_and_is_then_found(
    server: ShopInParts,
) -> None:
    shop, server.stops = HttpShop(), {1: "refund unknown"}
    request = agreed(shop)
    for number in range(6):
        left = attempt(request, shop, number)
    assert left.state == RequestState.UNKNOWN
    looked = performing.reconcile(request.pk, shop=shop, now=timezone.now())
    assert asyncio.run(looked).state == RequestState.UNKNOWN
    assert server.booked == ["charge new"]
    server.provider_says(done=True)
    performing.requeue(left, now=timezone.now() - timedelta(seconds=1))
    assert attempt(request, shop, 0).state == RequestState.SUCCEEDED
    assert server.booked == list(PARTS)


def test_a_part_that_cannot_be_done_is_a_refusal_and_the_other_is_taken_back(
    server: ShopInParts,
) -> None:
    shop, server.stops = HttpShop(), {1: "before refund", 2: "refund refused"}
    request = agreed(shop)
    attempt(request, shop, 0)
    ended = attempt(request, shop, 1)
    assert (ended.state, ended.reason) == (RequestState.REFUSED, "payment_refused")
    assert server.booked == ["charge new", "refund new"]


WRITES = {
    "the charge": (money_changes, "pay"),
    "the refund": (money_changes, "refund"),
    "the memory of the key": (StoreEffect.objects, "create"),
}


@pytest.mark.parametrize("written", WRITES)
@pytest.mark.parametrize("after", [False, True])
def test_the_embedded_shop_stops_between_its_own_rows(
    store: None, monkeypatch: pytest.MonkeyPatch, written: str, after: bool
) -> None:
    order = Order.objects.get(number="O-205")
    before = list(Payment.objects.filter(order=order).values_list("pk", flat=True))
    request = agreed(StoreChanges())
    place, name = WRITES[written]
    write = getattr(place, name)

    def stops(*args: Any, **named: Any) -> None:
        if after:
            write(*args, **named)
        raise OperationalError("the connection is gone")

    with monkeypatch.context() as broken:
        broken.setattr(place, name, stops)
        assert attempt(request, StoreChanges(), 0).state == RequestState.RETRY_WAIT
    rows = Payment.objects.filter(order=order)
    assert list(rows.values_list("pk", flat=True)) == before
    assert not Refund.objects.filter(order=order).exists()
    assert attempt(request, StoreChanges(), 1).state == RequestState.SUCCEEDED
    moved = rows.exclude(pk__in=before).order_by("pk")
    total = order.total
    assert list(moved.values_list("direction", "amount")) == [
        ("payment", total),
        ("refund", total),
    ]
    card = PaymentMethod.objects.get(pk="GIFT-LIN")
    assert card.balance == 90_000 - total
    assert StoreEffect.objects.filter(key=str(request.pk)).count() == 1
