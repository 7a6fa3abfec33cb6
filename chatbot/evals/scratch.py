"""A database of its own for an evaluation, gone when it ends."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection, connections
from django.test.utils import setup_databases, teardown_databases

from tools.database import close_threads

_PATIENT = " -c statement_timeout=120000"


@contextmanager
def scratch_database() -> Iterator[None]:
    """Migrated and empty, beside the real one and on the same server; no row is shared.

    SQLite's is a file: in memory its threads would share one cache and fail.
    """
    with tempfile.TemporaryDirectory(prefix="waybill-scratch-") as folder:
        for alias in connections:
            used = connections[alias]
            if used.vendor == "sqlite":
                name = str(Path(folder) / f"{alias}.sqlite3")
                used.settings_dict["TEST"]["NAME"] = name
            else:
                # Of this process alone: two evaluations may run at the same time.
                own = f"{used.settings_dict['NAME']}_scratch_{os.getpid()}"
                used.settings_dict["TEST"]["NAME"] = own
                # A whole database is made, copied and dropped: no statement of a page.
                used.settings_dict["OPTIONS"]["options"] += _PATIENT
        close_threads()
        made = setup_databases(verbosity=0, interactive=False, serialized_aliases=())
        try:
            yield
        finally:
            close_threads()
            teardown_databases(made, verbosity=0)


def end_other_connections() -> None:
    """End every connection to the database in use but this thread's.

    Threads of libraries outlive what they were used for and keep theirs; PostgreSQL
    neither copies nor drops a database that anybody is connected to.
    """
    close_threads()
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
