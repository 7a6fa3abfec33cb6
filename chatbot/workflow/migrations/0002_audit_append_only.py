"""Refuse UPDATE and DELETE of audit entries in the database itself."""

from __future__ import annotations

from typing import Any

from django.db import migrations

POSTGRESQL = """
CREATE FUNCTION workflow_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit entries are append-only';
END $$;
CREATE TRIGGER workflow_audit_append_only
    BEFORE UPDATE OR DELETE ON workflow_auditentry
    FOR EACH ROW EXECUTE FUNCTION workflow_audit_append_only();
"""
POSTGRESQL_BACK = """
DROP TRIGGER workflow_audit_append_only ON workflow_auditentry;
DROP FUNCTION workflow_audit_append_only();
"""
SQLITE = """
CREATE TRIGGER workflow_audit_no_{verb} BEFORE {verb} ON workflow_auditentry
BEGIN
    SELECT RAISE(ABORT, 'audit entries are append-only');
END
"""


def add(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL)
        return
    for verb in ("UPDATE", "DELETE"):
        schema_editor.execute(SQLITE.format(verb=verb))


def remove(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL_BACK)
        return
    for verb in ("UPDATE", "DELETE"):
        schema_editor.execute(f"DROP TRIGGER workflow_audit_no_{verb}")


class Migration(migrations.Migration):
    dependencies = [("workflow", "0001_initial")]
    operations = [migrations.RunPython(add, remove)]
