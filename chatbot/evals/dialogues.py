"""Scripted customers against the whole assistant: ``manage.py evaluate dialogues``.

Every dialogue of ``cases/dialogues`` is played several times on the demo shop in a
database of its own, each time with other faults, bursts and resends. pass^k is the
chance that k plays of one dialogue, drawn without putting back, are all right ("tau-
bench: A Benchmark for Tool-Agent-User Interaction", Yao et al., 2024).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from math import comb
from typing import Any, TextIO, TypeAlias

from django.core.management import call_command

from chatbot.evals.dialogue_cases import DialogueCase, read_cases
from chatbot.evals.dialogue_grading import problems, unsupported_facts
from chatbot.evals.dialogue_play import DialoguePlayed, Trial, play
from chatbot.evals.scratch import scratch_database
from chatbot.llm.pool import close_connections

RUNS = 8
Figures: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Graded:
    played: DialoguePlayed
    problems: Sequence[str]
    unsupported: Sequence[str]

    @property
    def passed(self) -> bool:
        return not self.problems and not self.unsupported


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", choices=("offline", "openai"), default="offline")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="K")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", metavar="ID", help="dialogues named so")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: Mapping[str, Any]) -> int:
    """Play and grade every dialogue; 1 where one of them failed, 2 on bad options."""
    try:
        cases = [one for one in read_cases() if options["only"] in one.id]
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not cases or options["runs"] < 1:
        sys.stderr.write("nothing to play\n")
        return 2
    with scratch_database():
        with redirect_stdout(StringIO()):
            call_command("bootstrap", quiet=True)
        graded = asyncio.run(
            play_all(
                cases,
                runs=options["runs"],
                seed=options["seed"],
                model_name=options["model"],
            )
        )
    result = figures(graded, runs=options["runs"], model=options["model"])
    if options["json"]:
        sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")
    else:
        print_report(result, sys.stdout)
    return 1 if result["failures"] or not provoked(result) else 0


async def play_all(
    cases: Sequence[DialogueCase], *, runs: int, seed: int, model_name: str | None
) -> list[Graded]:
    """Each dialogue ``runs`` times, one after the other."""
    graded = []
    for number in range(runs):
        for case in cases:
            played = await play(case, Trial(number, seed), model_name=model_name)
            facts = unsupported_facts(played)
            graded.append(Graded(played, problems(played), facts))
    await close_connections()
    return graded


# ---- figures


def figures(graded: Sequence[Graded], *, runs: int, model: str) -> Figures:
    turns = [turn for one in graded for turn in one.played.turns]
    solved = [one for one in graded if one.passed]
    return {
        "model": model,
        "dialogues": len({one.played.case.id for one in graded}),
        "runs": runs,
        "turns": len(turns),
        "pass": {
            str(k): round(pass_hat(graded, k, runs=runs), 4) for k in range(1, runs + 1)
        },
        "unsafe_effects": sum(one.played.unsafe_effects for one in graded),
        "unsupported_facts": sum(len(one.unsupported) for one in graded),
        "tokens_per_solved": _per_solved(solved, "tokens"),
        "seconds_per_solved": _per_solved(solved, "seconds"),
        "faults": sum(bool(turn.failed_tool) for turn in turns),
        "resends": sum(turn.disturbance.resends for turn in turns),
        "repeats": sum(
            turn.disturbance.repeats or turn.disturbance.repeats_midway
            for turn in turns
        ),
        "by_kind": _by_kind(graded),
        "failures": [_failure(one) for one in graded if not one.passed],
    }


def pass_hat(graded: Sequence[Graded], k: int, *, runs: int) -> float:
    """The mean over the dialogues of C(right, k) / C(runs, k)."""
    right: dict[str, int] = {}
    for one in graded:
        right[one.played.case.id] = right.get(one.played.case.id, 0) + one.passed
    return sum(comb(c, k) for c in right.values()) / (comb(runs, k) * len(right))


def provoked(result: Figures) -> bool:
    """Whether something went wrong on purpose, where more than one run was played."""
    return bool(result["runs"] == 1 or (result["faults"] and result["repeats"]))


def _per_solved(solved: Sequence[Graded], what: str) -> float:
    total = sum(getattr(turn, what) for one in solved for turn in one.played.turns)
    return round(total / len(solved), 3) if solved else 0.0


def _by_kind(graded: Sequence[Graded]) -> Figures:
    kinds: dict[str, list[bool]] = {}
    for one in graded:
        kinds.setdefault(one.played.case.kind, []).append(one.passed)
    return {kind: round(sum(all_) / len(all_), 4) for kind, all_ in kinds.items()}


def _failure(one: Graded) -> Figures:
    return {
        "id": one.played.case.id,
        "run": one.played.trial.number,
        "problems": list(one.problems),
        "unsupported": list(one.unsupported),
        "turns": [
            {
                "says": turn.case.says,
                "stop": turn.stop,
                "answer": turn.answer,
                "failed": turn.failed_tool,
            }
            for turn in one.played.turns
        ],
    }


def print_report(result: Figures, out: TextIO) -> None:
    for name, value in result.items():
        if name != "failures":
            out.write(f"{name:<20}{value}\n")
    for one in result["failures"]:
        out.write(f"\n{one['id']} (run {one['run']})\n")
        for problem in (*one["problems"], *one["unsupported"]):
            out.write(f"  ! {problem}\n")
        for turn in one["turns"]:
            failed = f" [{turn['failed']} failed]" if turn["failed"] else ""
            out.write(f"  > {' / '.join(turn['says'])}{failed}\n")
            out.write(f"  < [{turn['stop']}] {turn['answer']}\n")
