"""How well the completion check tells answers: ``manage.py evaluate answers``.

Every row of ``cases/answers.jsonl`` is a question, the names of observations, a draft
answer, and whether a careful reader lets it pass. Three rows of ten, chosen by a hash
of their id, are left out by ``--seen-only``, for work on the check. Every fault found
is repaired and its row stays, so the whole file tells what is known to work; how well
the check does on answers that it has never seen, only new rows tell.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from chatbot.assistant.proofs import PROOFS
from chatbot.react.coverage import answer_covers_question
from chatbot.react.types import Background, Coverage
from chatbot.understanding.needs import Language, Need, read_question
from tools.contracts import Observation, ObservationStatus

CASES = Path(__file__).parent / "cases"
ROWS = CASES / "answers.jsonl"
OBSERVATIONS = CASES / "answer_observations.json"
CATCH_RATE = 0.98
FALSE_ALARMS = 0.02

_TIME_ZONES: Mapping[Language, str] = {"en": "Europe/Paris", "zh": "Asia/Shanghai"}
Figures: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """``verdict`` is "pass" or "reject"; ``kind`` says in what way. ``needs``, where
    there are any, stand for what the question asks, so that the rows judge this check
    and not the reading of questions."""

    id: str
    lang: Language
    question: str
    observations: tuple[str, ...]
    answer: str
    verdict: str
    kind: str
    needs: tuple[Need, ...] = ()
    secrets: tuple[str, ...] = ()

    @property
    def is_kept_aside(self) -> bool:
        return hashlib.sha256(self.id.encode()).digest()[0] % 10 < 3


@dataclass(frozen=True, slots=True)
class Judged:
    row: Row
    coverage: Coverage
    milliseconds: float

    @property
    def is_right(self) -> bool:
        return self.coverage.passed == (self.row.verdict == "pass")


def read_rows(path: Path = ROWS) -> list[Row]:
    """The rows of the file; ValueError names the line that is not one."""
    rows = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(_row(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}, line {number}: {error!r}") from error
    return rows


def _row(fields: Mapping[str, Any]) -> Row:
    if fields["verdict"] not in ("pass", "reject") or fields["lang"] not in _TIME_ZONES:
        raise ValueError("verdict or lang is unknown")
    return Row(
        id=str(fields["id"]),
        lang=fields["lang"],
        question=fields["question"],
        observations=tuple(fields["observations"]),
        answer=fields["answer"],
        verdict=fields["verdict"],
        kind=fields["kind"],
        needs=tuple(Need(name) for name in fields.get("needs", ())),
        secrets=tuple(fields.get("secrets", ())),
    )


def read_observations(path: Path = OBSERVATIONS) -> dict[str, Observation]:
    """The observations that rows name."""
    return {
        name: Observation(
            id=f"obs-{number}",
            call_id=f"call-{number}",
            tool=fields["tool"],
            arguments=fields["arguments"],
            status=ObservationStatus(fields["status"]),
            fields=fields["fields"],
            observed_at=datetime.fromisoformat(fields["observed_at"]),
            source=fields["source"],
        )
        for number, (name, fields) in enumerate(
            json.loads(path.read_text("utf-8")).items(), start=1
        )
    }


def judge(rows: Iterable[Row], known: Mapping[str, Observation]) -> list[Judged]:
    judged = []
    for row in rows:
        started = time.perf_counter()
        question = read_question(row.question, language=row.lang)
        if row.needs:
            question = replace(question, needs=row.needs, out_of_scope=False)
        coverage = answer_covers_question(
            row.answer,
            question=question,
            observations=[known[name] for name in row.observations],
            proofs=PROOFS,
            background=Background(language=row.lang, time_zone=_TIME_ZONES[row.lang]),
            secrets=row.secrets,
        )
        spent = (time.perf_counter() - started) * 1000
        judged.append(Judged(row, coverage, spent))
    return judged


def figures(judged: Sequence[Judged]) -> Figures:
    """Catch rate and false alarms, for each part and language, and the kinds missed."""
    parts = {
        "seen": [one for one in judged if not one.row.is_kept_aside],
        "kept_aside": [one for one in judged if one.row.is_kept_aside],
        "all": list(judged),
    }
    return {
        name: {
            lang: _rates([one for one in part if lang in (one.row.lang, "all")])
            for lang in ("en", "zh", "all")
        }
        for name, part in parts.items()
    }


def _rates(judged: Sequence[Judged]) -> Figures:
    bad = [one for one in judged if one.row.verdict == "reject"]
    good = [one for one in judged if one.row.verdict == "pass"]
    missed = [one for one in bad if not one.is_right]
    alarms = [one for one in good if not one.is_right]
    spent = sum(one.milliseconds for one in judged)
    return {
        "n": len(judged),
        "to_reject": len(bad),
        "to_pass": len(good),
        "catch_rate": _share(len(bad) - len(missed), len(bad), 1.0),
        "false_alarms": _share(len(alarms), len(good), 0.0),
        "ms_per_answer": round(spent / len(judged), 3) if judged else 0.0,
    }


def _share(part: int, whole: int, none: float) -> float:
    return round(part / whole, 4) if whole else none


def reaches_targets(result: Figures) -> bool:
    rates = result["all"]["all"]
    return bool(
        rates["catch_rate"] >= CATCH_RATE and rates["false_alarms"] <= FALSE_ALARMS
    )


def print_report(result: Figures, judged: Sequence[Judged], out: TextIO) -> None:
    for name, part in result.items():
        for lang, rates in part.items():
            out.write(f"{name:<11}{lang:<4}")
            out.write("  ".join(f"{key} {value}" for key, value in rates.items()))
            out.write("\n")
    for one in judged:
        if not one.is_right:
            out.write(f"\n{one.row.id} should {one.row.verdict} ({one.row.kind}): ")
            out.write(f"{one.row.answer}\n  {one.row.question}\n")
            for claim in one.coverage.unsupported:
                out.write(f"  refused {claim.kind} {claim.text!r}: {claim.why}\n")
            for slot in one.coverage.unanswered:
                out.write(f"  unsaid {slot.need} {slot.order}: {slot.state}\n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--answers", type=Path, default=ROWS, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--seen-only",
        action="store_true",
        help="leave out the rows kept aside, for work on the check",
    )


def run(options: Mapping[str, Any]) -> int:
    """Judge every row and print how well that went; 1 below the targets, 2 on a bad
    file."""
    try:
        rows, known = read_rows(options["answers"]), read_observations()
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.get("seen_only"):
        rows = [row for row in rows if not row.is_kept_aside]
    judged = judge(rows, known)
    result = figures(judged)
    if options["json"]:
        sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")
    else:
        print_report(result, judged, sys.stdout)
    return 0 if reaches_targets(result) else 1
