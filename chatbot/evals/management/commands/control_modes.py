from __future__ import annotations

import json
import logging
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from chatbot.evals.control_modes.demonstration import demonstrate
from chatbot.evals.control_modes.models import TASKS
from chatbot.evals.control_modes.trace import as_json, side_by_side


class Command(BaseCommand):
    help = (
        "One task with contradictory rules through ReAct, Plan-and-Execute and "
        "Workflow, on the same tools and gateway, in a scratch database; side by side."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--model", choices=("offline", "openai"), default="offline")
        parser.add_argument("--language", choices=("zh", "en"), default="en")
        parser.add_argument("--width", type=int, default=170, help="columns")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        language = options["language"]
        # What the naive executor provokes is in its trace.
        logging.disable(logging.CRITICAL)
        try:
            traces = demonstrate(language, options["model"])
        finally:
            logging.disable(logging.NOTSET)
        task = TASKS[language]
        if options["json"]:
            found = as_json(traces, task)
            self.stdout.write(json.dumps(found, ensure_ascii=False))
        else:
            shown = side_by_side(traces, task, width=options["width"])
            self.stdout.write(shown, ending="")
