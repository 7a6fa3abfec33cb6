"""``manage.py replay_events``: does the present code decide as it was recorded?"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chatbot.evals.replay import Report, replay_requests, replay_runs


class Command(BaseCommand):
    help = (
        "Play recorded runs and requests again with effects off and print where the "
        "present code differs from what was recorded. Fails where it does."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--run", type=UUID, help="one run alone")
        parser.add_argument("--limit", type=int, default=200, help="the newest of each")

    def handle(
        self, *args: Any, run: UUID | None = None, limit: int, **options: Any
    ) -> None:
        reports = {"runs": replay_runs(limit=limit, only=run)}
        if run is None:
            reports["requests"] = replay_requests(limit=limit)
        for name, report in reports.items():
            self._print(name, report)
        if any(report.differ for report in reports.values()):
            raise CommandError("the present code decides differently")

    def _print(self, name: str, report: Report) -> None:
        for line in report.differ:
            self.stdout.write(f"differs  {line}")
        for line in report.skipped:
            self.stdout.write(f"skipped  {line}")
        self.stdout.write(
            f"{name}: {report.same} the same, {len(report.differ)} different, "
            f"{len(report.skipped)} skipped"
        )
