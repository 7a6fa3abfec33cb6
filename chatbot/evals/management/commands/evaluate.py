from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, Protocol

from django.core.management.base import BaseCommand, CommandParser

from chatbot.evals import answers, dialogues, questions, retail
from chatbot.evals.cases import run as cases


class Evaluation(Protocol):
    """A module of ``chatbot.evals`` that measures one thing."""

    def add_arguments(self, parser: ArgumentParser) -> None: ...

    def run(self, options: Mapping[str, Any]) -> int:
        """Measure, print, and return the exit code of the command."""
        ...


EVALUATIONS: dict[str, Evaluation] = {
    "questions": questions,
    "answers": answers,
    "dialogues": dialogues,
    "retail": retail,
    "cases": cases,
}


class Command(BaseCommand):
    help = "Measure how well the assistant works: " + ", ".join(EVALUATIONS) + "."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        subparsers = parser.add_subparsers(dest="evaluation", required=True)
        for name, evaluation in EVALUATIONS.items():
            evaluation.add_arguments(subparsers.add_parser(name))

    def handle(self, *args: Any, **options: Any) -> None:
        code = EVALUATIONS[options["evaluation"]].run(options)
        if code:
            sys.exit(code)
