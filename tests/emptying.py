"""How the database is emptied after a test that commits.

Django's own way deletes from every table, then writes content types and permissions
anew: more work than most of these tests are. Here those two stay, and only tables that
hold something are emptied.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.test import TransactionTestCase

from chatbot.workflow.models import AuditEntry

# What ``migrate`` writes, and no test does.
STAYS = {"django_migrations", "django_content_type", "auth_permission"}


def empty_by_rows() -> None:
    """Let every test that commits end with ``empty_database()``."""
    TransactionTestCase._fixture_teardown = _fixture_teardown  # type: ignore[attr-defined]


def _fixture_teardown(case: TransactionTestCase) -> None:
    assert set(case.databases) == {DEFAULT_DB_ALIAS}
    empty_database()


def empty_database() -> None:
    """Delete all rows; those of the audit too, which the database itself forbids."""
    filled = _filled()
    if AuditEntry._meta.db_table in filled:
        _empty_audit()
    with transaction.atomic(), connection.cursor() as cursor:
        for table in filled:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


def _filled() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(_question())
        return [name for (name,) in cursor.fetchall()]


@cache
def _question() -> str:
    """One statement that names each table with a row in it."""
    tables = connection.introspection.django_table_names(only_existing=True)
    return " UNION ALL ".join(
        f"SELECT '{name}' WHERE EXISTS"
        f" (SELECT 1 FROM {connection.ops.quote_name(name)})"
        for name in sorted(set(tables) - STAYS)
    )


def _empty_audit() -> None:
    rule = import_module("chatbot.workflow.migrations.0002_audit_append_only")
    with connection.schema_editor() as editor:
        rule.remove(None, editor)
        AuditEntry.objects.all().delete()
        rule.add(None, editor)
