"""How well the understanding reads real questions: ``manage.py evaluate questions``.

Every row of the file is a JSON object with ``id``, ``text``, ``lang``, ``needs``,
``out_of_scope``, ``multi`` and ``accept``; ``prev_agent`` is optional. ``none`` counts
as a need like any other.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from chatbot.understanding.needs import Need, Question, read_question

Reader: TypeAlias = Callable[[str, str], Question]
Scores: TypeAlias = dict[str, Any]
LANGUAGES = ("en", "zh", "all")


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled question; ``accept`` are needs that are right as well."""

    id: str
    text: str
    lang: str
    needs: frozenset[str]
    accept: frozenset[str] = frozenset()
    out_of_scope: bool = False
    previous_agent: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read in a row, and in how many milliseconds of one core."""

    row: Row
    needs: frozenset[str]
    out_of_scope: bool
    milliseconds: float = 0.0

    @property
    def is_right(self) -> bool:
        return self.needs == self.row.needs and (
            self.out_of_scope == self.row.out_of_scope
        )


@dataclass(slots=True)
class Tally:
    """True and false positives, and misses."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, right: int, wrong: int, missed: int) -> None:
        self.right += right
        self.wrong += wrong
        self.missed += missed

    def as_scores(self) -> dict[str, float]:
        precision = _share(self.right, self.right + self.wrong)
        recall = _share(self.right, self.right + self.missed)
        total = precision + recall
        f1 = 2 * precision * recall / total if total else 0.0
        return {
            "precision": round(precision, 4),
            "recall": round(recall, 4),
            "f1": round(f1, 4),
        }


def read_rows(path: Path) -> list[Row]:
    """The rows of a JSON-lines file; ValueError names the line that is not one."""
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
    known = {need.value for need in Need}
    needs = frozenset(fields["needs"])
    if not needs <= known:
        raise ValueError(f"unknown needs {sorted(needs - known)}")
    return Row(
        id=str(fields.get("id", "")),
        text=fields["text"],
        lang=fields["lang"],
        needs=needs,
        accept=frozenset(fields.get("accept") or ()),
        out_of_scope=bool(fields.get("out_of_scope")),
        previous_agent=fields.get("prev_agent") or "",
    )


def read_answers(rows: Iterable[Row], read: Reader) -> list[Answer]:
    answers = []
    for row in rows:
        started = time.thread_time()
        question = read(row.text, row.previous_agent)
        spent = (time.thread_time() - started) * 1000
        needs = frozenset(need.value for need in question.needs)
        answers.append(Answer(row, needs, question.out_of_scope, spent))
    return answers


def score(answers: Sequence[Answer]) -> Scores:
    """Precision, recall and so on of the answers, as ``--json`` prints them.

    Leniently, an accepted need is never wrong, and it stands in for a need that was
    missed in the same row, one for one.
    """
    strict, lenient = Tally(), Tally()
    by_need = {need.value: Tally() for need in Need}
    scope = Tally()
    for answer in answers:
        _count_needs(answer, strict, lenient, by_need)
        said, is_so = answer.out_of_scope, answer.row.out_of_scope
        scope.add(said and is_so, said and not is_so, is_so and not said)
    human = by_need[Need.HUMAN].as_scores()
    outside = scope.as_scores()
    several = [answer for answer in answers if len(answer.row.needs) > 1]
    return {
        "n": len(answers),
        "strict": strict.as_scores(),
        "lenient": lenient.as_scores(),
        "exact": _rounded_share(
            sum(answer.needs == answer.row.needs for answer in answers), len(answers)
        ),
        "multi_recall": _rounded_share(
            sum(len(answer.needs & answer.row.needs) for answer in several),
            sum(len(answer.row.needs) for answer in several),
        ),
        "out_of_scope": {key: outside[key] for key in ("precision", "recall")},
        "human": {key: human[key] for key in ("precision", "recall")},
        "by_need": {need: tally.as_scores() for need, tally in by_need.items()},
    }


def _count_needs(
    answer: Answer, strict: Tally, lenient: Tally, by_need: Mapping[str, Tally]
) -> None:
    wanted, said = answer.row.needs, answer.needs
    right, extra, missed = wanted & said, said - wanted, wanted - said
    strict.add(len(right), len(extra), len(missed))
    accepted = extra & answer.row.accept
    excused = min(len(accepted), len(missed))
    lenient.add(len(right) + excused, len(extra) - len(accepted), len(missed) - excused)
    for need in wanted | said:
        by_need[need].add(need in right, need in extra, need in missed)


def _share(part: int, whole: int) -> float:
    """Nothing wanted and nothing said is not a fault."""
    return part / whole if whole else 1.0


def _rounded_share(part: int, whole: int) -> float:
    return round(_share(part, whole), 4)


def report(answers: Sequence[Answer], growth_mb: float) -> dict[str, Scores]:
    """The scores under ``en``, ``zh`` and ``all``, with time and memory."""
    result = {}
    for language in LANGUAGES:
        chosen = [a for a in answers if language in (a.row.lang, "all")]
        spent = sum(answer.milliseconds for answer in chosen)
        result[language] = score(chosen) | {
            "ms_per_question": round(spent / len(chosen), 4) if chosen else 0.0,
            "rss_growth_mb": round(growth_mb, 1),
        }
    return result


def print_report(
    result: Mapping[str, Scores], answers: Sequence[Answer], out: TextIO
) -> None:
    for language, scores in result.items():
        out.write(f"\n{language}: {scores['n']} questions\n")
        for name in ("strict", "lenient", "out_of_scope", "human"):
            out.write(f"  {name:<15}{_in_words(scores[name])}\n")
        for name in ("exact", "multi_recall", "ms_per_question", "rss_growth_mb"):
            out.write(f"  {name:<15}{scores[name]}\n")
        for need, values in scores["by_need"].items():
            out.write(f"    {need:<15}{_in_words(values)}\n")
    confused = [answer for answer in answers if not answer.is_right]
    out.write(f"\nConfused rows: {len(confused)}\n")
    for answer in confused:
        out.write(f"  {_labels(answer.row.needs, answer.row.out_of_scope)} read as ")
        out.write(f"{_labels(answer.needs, answer.out_of_scope)}  {answer.row.id}: ")
        out.write(" ".join(answer.row.text.split())[:200] + "\n")


def _in_words(values: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:.3f}" for name, value in values.items())


def _labels(needs: frozenset[str], out_of_scope: bool) -> str:
    return "+".join(sorted(needs)) + (" (out of scope)" if out_of_scope else "")


def resident_mb() -> float:
    """Megabytes of this process in memory now; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * 4096 / 1_000_000


def _read(text: str, previous_agent: str) -> Question:
    return read_question(text, previous_agent=previous_agent)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: Mapping[str, Any]) -> int:
    """Read every question of the file and print how well that went; 2 on a bad file."""
    try:
        rows = read_rows(options["questions"])
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    before = resident_mb()
    # The first question loads the classifier; what counts is the time after that.
    _read("", "")
    answers = read_answers(rows, _read)
    result = report(answers, resident_mb() - before)
    if options["json"]:
        sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")
    else:
        print_report(result, answers, sys.stdout)
    return 0
