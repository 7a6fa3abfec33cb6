from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatbot.evals import answers
from chatbot.evals.answers import (
    CATCH_RATE,
    FALSE_ALARMS,
    figures,
    judge,
    reaches_targets,
    read_observations,
    read_rows,
)


def test_the_check_catches_bad_answers_and_lets_good_ones_pass() -> None:
    judged = judge(read_rows(), read_observations())
    wrong = [one for one in judged if not one.is_right]
    rates = figures(judged)["all"]["all"]
    assert rates["catch_rate"] >= CATCH_RATE, [one.row.id for one in wrong]
    assert rates["false_alarms"] <= FALSE_ALARMS, [one.row.id for one in wrong]


def test_there_are_enough_rows_of_every_kind_in_both_languages() -> None:
    rows = read_rows()
    assert len(rows) >= 300
    assert len({row.id for row in rows}) == len(rows)
    asked_for = {
        "complete", "half_answered", "invented_date", "invented_tracking",
        "wrong_amount", "other_order", "overstated", "promise", "effect", "honest",
    }  # fmt: skip
    for language in ("en", "zh"):
        assert asked_for <= {row.kind for row in rows if row.lang == language}


def test_every_row_names_observations_that_exist() -> None:
    known = read_observations()
    assert all(name in known for row in read_rows() for name in row.observations)


def test_a_share_of_the_rows_is_kept_aside() -> None:
    rows = read_rows()
    share = sum(row.is_kept_aside for row in rows) / len(rows)
    assert 0.2 < share < 0.4


def test_a_check_that_lets_everything_pass_misses_the_targets() -> None:
    judged = judge(
        [row for row in read_rows() if row.verdict == "pass"], read_observations()
    )
    assert reaches_targets(figures(judged))
    blind = [one for one in judged if one.row.kind == "complete"]
    assert figures(blind)["all"]["all"]["to_reject"] == 0


def test_the_figures_are_printed_as_one_object(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = answers.run({"answers": answers.ROWS, "json": True, "seen_only": True})
    printed = json.loads(capsys.readouterr().out)
    assert code == 0
    assert printed["kept_aside"]["all"]["n"] == 0
    assert set(printed["all"]["zh"]) >= {"n", "catch_rate", "false_alarms"}


def test_a_file_that_is_none_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "rows.jsonl"
    broken.write_text('{"id": "1"}\n')
    assert answers.run({"answers": broken, "json": False}) == 2
    assert "line 1" in capsys.readouterr().err
