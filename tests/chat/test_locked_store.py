"""A SQLite file that somebody else holds: a page hears yes or no, and never nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager

import pytest
from django.db import connection, connections

from chatbot.chat.models import Conversation, Message, Speaker
from tests.chat.conftest import TWO_STEPS, Browser, World, kinds, until_stopped
from tools.database import close_threads, in_database

pytestmark = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="a database of rows has no lock for all"
)


@contextmanager
def held() -> Iterator[None]:
    """Another program writes, and does not come to an end."""
    path = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(str(path), timeout=20)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.rollback()


@pytest.fixture
async def impatient(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[None]:
    """Connections that wait for the file for a moment only."""
    options = connections.settings["default"]["OPTIONS"]
    close_threads()
    monkeypatch.setitem(options, "timeout", 0.05)
    yield
    close_threads()


def said(conversation: Conversation) -> list[str]:
    own = Message.objects.filter(conversation=conversation, speaker=Speaker.CUSTOMER)
    return list(own.values_list("text", flat=True))


async def test_a_message_waits_for_the_file_and_is_accepted_once(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    page = await browser.opened(conversation)
    with held():
        first = await page.say("Where is O-204?")
        again = await page.say("Where is O-204?", first)
        assert first == again
    for _ in range(2):
        accepted = await page.hear_until("message.accepted")
        assert (accepted["client_id"], accepted["seq"]) == (first, 1)
    await until_stopped(conversation)
    assert await in_database(said, conversation) == ["Where is O-204?"]


@pytest.mark.usefixtures("impatient")
async def test_a_file_that_is_held_for_too_long_is_told_and_nothing_is_stored(
    browser: Browser, world: World, conversation: Conversation
) -> None:
    world.plays(*TWO_STEPS)
    page = await browser.opened(conversation)
    with held():
        client_id = await page.say("Where is O-204?")
        error = await page.hear_until("error")
        assert (error["code"], error["client_id"]) == ("unavailable", client_id)
    assert await in_database(said, conversation) == []
    await page.say("Where is O-204?", client_id)
    assert (await page.hear_until("message.accepted"))["seq"] == 1
    await until_stopped(conversation)
    assert (await in_database(kinds, conversation)).count("assistant") == 1
