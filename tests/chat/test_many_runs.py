"""One process carries hundreds of runs that wait, on as few connections as ever."""

from __future__ import annotations

import threading

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from chatbot.chat.launch import launcher
from chatbot.chat.models import Conversation, Run
from chatbot.chat.services import start_conversation
from tests.cast import Person
from tests.chat.conftest import TWO_STEPS, World, accept, kinds, say, until
from tools.database import in_database

RUNS = 500


def begin_all(account: Person) -> list[Conversation]:
    made = []
    for _ in range(RUNS):
        now = timezone.now()
        made.append(start_conversation(account=account.account, now=now))
        accept(made[-1], limited=False)
    return made


def ended() -> int:
    return Run.objects.filter(phase="stopped", stop_reason="answered").count()


def connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        )
        return int(cursor.fetchone()[0])


@pytest.mark.skipif(connection.vendor != "postgresql", reason="a server's connections")
async def test_five_hundred_runs_wait_in_one_process_and_all_end(
    world: World, lin: Person
) -> None:
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    conversations = await in_database(begin_all, lin)

    async def all_wait() -> bool:
        return len(world.models) == RUNS

    await until(all_wait, seconds=120)
    assert launcher().carried == RUNS
    database = [one for one in threading.enumerate() if "database" in one.name]
    assert 0 < len(database) <= django_settings.DATABASE_THREADS
    # One more of Django's own synchronous thread, one of the suite's.
    allowed = django_settings.DATABASE_THREADS + 2
    assert await in_database(connections) <= allowed
    world.before_model.opened.set()

    async def all_ended() -> bool:
        return await in_database(ended) == RUNS

    await until(all_ended, seconds=240)
    for conversation in conversations:
        log = await in_database(kinds, conversation)
        assert log.count("assistant") == log.count("stopped") == 1


async def test_what_has_no_room_waits_for_it(
    world: World, lin: Person, settings: Settings
) -> None:
    """At the limit a run is carried; one beyond is left to the sweep, not lost."""
    settings.RUN_MAX_AT_ONCE = 2
    world.plays(*TWO_STEPS)
    world.before_model.shut()
    made = []
    for _ in range(3):
        now = timezone.now()
        one = await in_database(start_conversation, account=lin.account, now=now)
        made.append(one)
        await say(one)

    async def two_wait() -> bool:
        return len(world.models) == 2

    await until(two_wait)
    assert launcher().carried == 2
    launcher().sweep(hands_on=False)
    world.before_model.opened.set()

    async def all_ended() -> bool:
        return await in_database(ended) == 3

    await until(all_ended)
