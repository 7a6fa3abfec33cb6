"""A fact is delivered to each handler until it is done, dead, or closed by hand."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from chatbot.workflow import outbox
from chatbot.workflow.models import Alert, Delivery, DeliveryState, Event
from chatbot.workflow.outbox import MAX_CRASHES, RETRY_WAITS, Retryable

pytestmark = pytest.mark.django_db(transaction=True)

calls: list[int] = []
fault: list[Exception] = []


async def handler(event: Event) -> None:
    calls.append(event.pk)
    if fault:
        raise fault[-1]


@pytest.fixture(autouse=True)
def routes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls.clear()
    fault.clear()
    route = {"thing.happened": (f"{__name__}.handler",)}
    monkeypatch.setattr(outbox, "EVENT_ROUTES", route)


def record(key: str = "thing:1") -> Event:
    return outbox.record_event(
        "thing.happened", key=key, now=timezone.now(), ids={"thing": 1}
    )


def sweep() -> int:
    return asyncio.run(outbox.sweep(owner="here"))


def make_due() -> None:
    Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def test_an_event_is_delivered_once_and_then_left_alone() -> None:
    event = record()
    assert sweep() == 1
    assert sweep() == 0
    assert calls == [event.pk]
    assert Delivery.objects.get().state == DeliveryState.DONE


def test_the_same_fact_recorded_twice_is_one_event() -> None:
    assert record() == record()
    sweep()
    assert len(calls) == 1


def test_nothing_is_delivered_when_the_fact_was_rolled_back() -> None:
    with transaction.atomic():
        record()
        transaction.set_rollback(True)
    assert sweep() == 0


def test_retryable_failures_wait_longer_each_time_and_end_as_a_dead_letter() -> None:
    record()
    fault.append(Retryable("503"))
    waits = []
    for _ in RETRY_WAITS:
        make_due()
        before = timezone.now()
        assert sweep() == 1
        row = Delivery.objects.get()
        assert row.state == DeliveryState.WAITING
        waits.append(round((row.due_at - before).total_seconds()))
    assert tuple(waits) == RETRY_WAITS
    assert not Alert.objects.exists()
    make_due()
    sweep()
    row = Delivery.objects.get()
    assert (row.state, row.attempts) == (DeliveryState.DEAD, 6)
    assert Alert.objects.get().ids["delivery"] == row.pk


def test_a_bug_is_not_tried_again() -> None:
    record()
    fault.append(ValueError("no such order"))
    sweep()
    row = Delivery.objects.get()
    assert row.state == DeliveryState.DEAD
    assert "ValueError" in row.problem
    assert Alert.objects.count() == 1


def test_a_process_that_dies_leaves_the_delivery_to_the_next_sweep() -> None:
    record()
    [claim] = outbox.claim_due(owner="dies", now=timezone.now())
    assert sweep() == 0
    Delivery.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert sweep() == 1
    row = Delivery.objects.get()
    assert (row.state, row.crashes, row.attempts) == (DeliveryState.DONE, 1, 0)
    # The dead process comes back late: its fence is gone and its word counts no more.
    outbox._again_or_bury(claim, problem="late", now=timezone.now())
    assert Delivery.objects.get().state == DeliveryState.DONE


def test_an_event_that_kills_each_process_is_given_up_with_an_alert() -> None:
    record()
    for _ in range(MAX_CRASHES):
        outbox.claim_due(owner="dies", now=timezone.now())
        Delivery.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert sweep() == 0
    assert Delivery.objects.get().state == DeliveryState.DEAD
    assert not calls
    assert Alert.objects.get().kind == "dead_letter"


def test_two_sweeps_at_once_deliver_once() -> None:
    record()
    now = timezone.now()
    first = outbox.claim_due(owner="a", now=now)
    second = outbox.claim_due(owner="b", now=now)
    assert (len(first), len(second)) == (1, 0)


def test_a_bad_event_does_not_hold_up_the_others() -> None:
    record("thing:bad")
    fault.append(Retryable("503"))
    sweep()
    fault.clear()
    good = record("thing:good")
    sweep()
    assert calls[-1] == good.pk


def test_a_dead_delivery_can_be_offered_again_or_closed_with_a_reason() -> None:
    record()
    fault.append(ValueError("x"))
    sweep()
    row = Delivery.objects.get()
    assert outbox.requeue(row.pk, reason="shop mended", now=timezone.now())
    fault.clear()
    assert sweep() == 1
    assert Delivery.objects.get().state == DeliveryState.DONE
    assert not outbox.resolve(row.pk, reason="too late", now=timezone.now())
