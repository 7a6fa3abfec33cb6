"""The database of a case is the migrated one, whoever is still connected to that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.contrib.auth.models import Group
from django.db import connection, connections

from chatbot.evals.cases.house import case_database


@contextmanager
def somebody_connected() -> Iterator[None]:
    """A thread that keeps its connection, as those of libraries do."""
    ready, over = Event(), Event()

    def stay() -> None:
        connection.ensure_connection()
        ready.set()
        over.wait(60)
        connections.close_all()

    thread = Thread(target=stay)
    thread.start()
    assert ready.wait(10)
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_copy_holds_exactly_what_was_committed(transactional_db: None) -> None:
    with somebody_connected():
        Group.objects.create(name="kept")
        Group.objects.create(name="gone")
        Group.objects.filter(name="gone").delete()
        with case_database(91):
            assert set(Group.objects.values_list("name", flat=True)) >= {"kept"}
            assert not Group.objects.filter(name="gone").exists()
            Group.objects.all().delete()
        assert Group.objects.filter(name="kept").exists()
