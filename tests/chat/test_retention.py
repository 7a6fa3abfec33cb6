"""What was kept for long enough goes by itself: each day once, whoever is running."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.utils import timezone

from chatbot.celery import app
from chatbot.chat import retention
from chatbot.chat.launch import sweeper
from chatbot.chat.models import Account, Conversation
from chatbot.chat.tasks import look_at_the_day
from chatbot.workflow import outbox
from chatbot.workflow.models import Delivery, DeliveryState, Event
from tests.cast import Person
from tests.chat.conftest import until
from tools.database import in_database

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def old(conversation: Conversation) -> Conversation:
    """One that nothing has touched for a second longer than it may be kept."""
    at = timezone.now() - timedelta(days=django_settings.CHAT_KEEP_DAYS, seconds=1)
    Conversation.objects.filter(pk=conversation.pk).update(updated_at=at)
    return conversation


def deliver(*owners: str) -> list[int]:
    async def together() -> list[int]:
        return await asyncio.gather(*(outbox.sweep(owner=owner) for owner in owners))

    return asyncio.run(together())


def test_many_processes_forget_once(
    old: Conversation, lin: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget, times = retention.forget_everything_old, []

    def counted(**known: Any) -> retention.Forgotten:
        times.append(known)
        return forget(**known)

    monkeypatch.setattr(retention, "forget_everything_old", counted)
    young = Conversation.objects.create(
        account=lin.account, created_at=timezone.now(), updated_at=timezone.now()
    )

    async def all_look() -> None:
        await asyncio.gather(*(retention.look_at_the_day() for _ in range(6)))

    asyncio.run(all_look())
    assert sum(deliver("one", "two", "three")) == 1
    assert len(times) == 1
    assert [*Conversation.objects.all()] == [young]
    asyncio.run(all_look())
    assert deliver("one", "two", "three") == [0, 0, 0]


def test_each_day_is_noted_for_itself() -> None:
    now = timezone.now().replace(hour=23, minute=59)
    for seconds in (0, 30, 60, 90):
        retention.note_the_day(now=now + timedelta(seconds=seconds))
    assert Event.objects.filter(name=retention.DUE).count() == 2


def test_it_is_tried_again_where_the_database_fails(
    old: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**_: object) -> None:
        raise OperationalError("canceling statement due to statement timeout")

    retention.note_the_day(now=timezone.now())
    with monkeypatch.context() as patch:
        patch.setattr(retention, "forget_everything_old", fails)
        deliver("one")
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, 1)
    Delivery.objects.update(due_at=timezone.now())
    deliver("two")
    assert not Conversation.objects.exists()


async def test_a_process_without_celery_sees_to_it(old: Conversation) -> None:
    async def is_gone() -> bool:
        return not await in_database(Conversation.objects.exists)

    running = sweeper()
    running.start()
    try:
        assert await until(is_gone)
    finally:
        await running.stop()


def test_beat_sees_to_it_too(old: Conversation) -> None:
    schedule = app.conf.beat_schedule
    assert look_at_the_day.name in {entry["task"] for entry in schedule.values()}
    look_at_the_day()
    deliver("a worker")
    assert not Conversation.objects.exists()


def test_whatever_beat_names_is_a_task() -> None:
    app.loader.import_default_modules()
    named = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert named <= set(app.tasks)


@pytest.mark.parametrize(("seconds", "stays"), [(86_390, True), (86_410, False)])
def test_where_a_customer_came_from_is_kept_for_a_day(
    lin: Person, seconds: int, stays: bool
) -> None:
    now = timezone.now()
    Account.objects.filter(pk=lin.account.pk).update(
        address="a digest", seen_at=now - timedelta(seconds=seconds)
    )
    retention.forget_everything_old(now=now)
    assert bool(Account.objects.get(pk=lin.account.pk).address) is stays


def test_sessions_that_have_ended_go_and_others_stay() -> None:
    ended, living = SessionStore(), SessionStore()
    for session, seconds in ((ended, -1), (living, 60)):
        session.set_expiry(seconds)
        session.save()
    retention.forget_everything_old(now=timezone.now())
    assert [one.session_key for one in Session.objects.all()] == [living.session_key]
