"""The payment provider reports late, twice, out of order or never; books agree."""

from __future__ import annotations

import asyncio
import json
import random
from datetime import timedelta
from time import time
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from chatbot.workflow.models import Alert, Delivery, Event
from chatbot.workflow.refunds import look_for_overdue
from chatbot.workflow.views import SIGNATURE, WINDOW, signature
from tests.workflow.conftest import later, sweep
from tools.backends.store.ledger import refund
from tools.backends.store.models import Order, PaymentMethod, Refund
from tools.contracts import RefundStatus

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "k" * 40


class Provider:
    """A payment provider that pays out refunds and reports each of them, badly."""

    def __init__(self, *, seed: int) -> None:
        self.chance = random.Random(seed)
        self.client = Client()
        self.calls: list[bytes] = []
        self.sent = 0

    def pays_out(self, number: str) -> None:
        settled = {"type": "refund.settled", "refund": number}
        body = json.dumps({**settled, "settled_at": timezone.now().isoformat()})
        # It does not know which of its calls came through: each is made several times.
        self.calls += [body.encode()] * self.chance.randint(1, 4)

    def reports(self) -> None:
        self.chance.shuffle(self.calls)
        for body in self.calls:
            assert self.call(body).status_code == 200
            self.sent += 1

    def call(self, body: bytes, *, at: int | None = None, key: str = KEY) -> Any:
        signed = signature(body, key=key, at=int(time()) if at is None else at)
        return self.client.post(
            "/hooks/payment/",
            body,
            content_type="application/json",
            headers={SIGNATURE: signed},
        )


@pytest.fixture
def provider(settings: Settings, shop: None) -> Provider:
    settings.PAYMENT_HOOK_KEY = KEY
    return Provider(seed=7)


def refunds(count: int) -> list[str]:
    """So many refunds on their way to Lin's card."""
    order = Order.objects.get(number="O-205")
    method = PaymentMethod.objects.filter(customer=order.customer, balance=None).first()
    assert method is not None
    for _ in range(count):
        refund(order, method, 100, timezone.now())
    return [one.number for one in order.refunds.order_by("number")]


def settled_events() -> int:
    return Event.objects.filter(name="refund.settled").count()


def test_each_refund_is_settled_once_however_often_and_in_whatever_order_it_is_told(
    provider: Provider,
) -> None:
    numbers = refunds(12)
    for number in numbers:
        provider.pays_out(number)
    provider.reports()
    sweep()
    sweep()
    assert provider.sent > len(numbers)
    assert settled_events() == len(numbers)
    for row in Refund.objects.filter(number__in=numbers):
        assert row.status == RefundStatus.SETTLED
        assert row.settled_at is not None


def test_the_first_report_counts_and_a_later_one_changes_nothing(
    provider: Provider,
) -> None:
    [number] = refunds(1)
    first = timezone.now() - timedelta(hours=2)
    for at in (first, timezone.now()):
        told = {"type": "refund.settled", "refund": number}
        provider.call(json.dumps({**told, "settled_at": at.isoformat()}).encode())
        sweep()
    assert Refund.objects.get(number=number).settled_at == first


def test_a_report_that_comes_before_its_refund_waits_for_it(
    provider: Provider,
) -> None:
    provider.pays_out("R-O205-1")
    provider.reports()
    sweep()
    assert Delivery.objects.get().state == "waiting"
    assert refunds(1) == ["R-O205-1"]
    later()
    sweep()
    assert Refund.objects.get(number="R-O205-1").status == RefundStatus.SETTLED


def test_a_report_of_what_nobody_asked_for_ends_as_a_dead_letter(
    provider: Provider,
) -> None:
    provider.pays_out("R-O205-9")
    provider.reports()
    for _ in range(7):
        sweep(1)
        later()
    assert Delivery.objects.get().state == "dead"
    assert Alert.objects.get().kind == "dead_letter"


def test_a_report_that_is_lost_is_missed_after_a_while_once(
    provider: Provider,
) -> None:
    [number] = refunds(1)
    asyncio.run(look_for_overdue())
    assert not Alert.objects.exists()
    Refund.objects.update(expected_at=timezone.now() - timedelta(days=3))
    asyncio.run(look_for_overdue())
    asyncio.run(look_for_overdue())
    assert Alert.objects.get(kind="refund_overdue").ids == {"refund": number}


BODY = json.dumps(
    {
        "type": "refund.settled",
        "refund": "R-O205-1",
        "settled_at": "2026-12-01T00:00:00+00:00",
    }
).encode()


@pytest.mark.parametrize("age", [WINDOW + 5, -WINDOW - 5])
def test_an_old_call_or_one_from_the_future_is_refused(
    provider: Provider, age: int
) -> None:
    assert provider.call(BODY, at=int(time()) - age).status_code == 401
    assert settled_events() == 0


def test_only_whoever_has_the_key_is_heard(
    provider: Provider, settings: Settings
) -> None:
    assert provider.call(BODY, key="another key").status_code == 401
    for header in ("", "t=1,v1=", "t=x,v1=" + "0" * 64, f"v1={'0' * 64}"):
        reply = provider.client.post(
            "/hooks/payment/",
            BODY,
            content_type="application/json",
            headers={SIGNATURE: header},
        )
        assert reply.status_code == 401
    settings.PAYMENT_HOOK_KEY = ""
    assert provider.call(BODY, key="").status_code == 401
    assert settled_events() == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"type": "refund.settled"}',
        b'{"type": "other", "refund": "R-1", "settled_at": "2026-12-01T00:00:00Z"}',
        b'{"type": "refund.settled", "refund": "R 1", "settled_at": "2026-12-01"}',
        b'{"type": "refund.settled", "refund": "R-1", "settled_at": "2026-12-01"}',
        b'{"type": "refund.settled", "refund": "R-1", "refund": "R-2"}',
    ],
)
def test_a_body_that_says_nothing_is_refused(provider: Provider, body: bytes) -> None:
    assert provider.call(body).status_code == 400
    assert settled_events() == 0


def test_a_call_is_a_post(provider: Provider) -> None:
    assert provider.client.get("/hooks/payment/").status_code == 405
