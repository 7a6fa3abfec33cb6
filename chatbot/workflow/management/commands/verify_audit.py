"""``manage.py verify_audit``: is the audit whole?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chatbot.workflow.models import AuditEntry
from chatbot.workflow.verify import problems


class Command(BaseCommand):
    help = (
        "Check every chain of the audit and every fact that must stand in it; "
        "fails where something was changed or is missing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(problems())
        for line in found:
            self.stdout.write(line)
        entries = AuditEntry.objects.count()
        chains = AuditEntry.objects.values("chain").distinct().count()
        if found:
            raise CommandError(f"{len(found)} problems in {entries} entries")
        self.stdout.write(f"{entries} entries in {chains} chains, all as written")
