from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from chatbot.evals.questions import Answer, Row, read_rows, score

ROWS: list[dict[str, object]] = [
    {"id": "1", "text": "where is my order", "lang": "en", "needs": ["location"]},
    {"id": "2", "text": "转人工", "lang": "zh", "needs": ["human"], "accept": []},
    {
        "id": "3",
        "text": "帮我订个酒店",
        "lang": "zh",
        "needs": ["none"],
        "out_of_scope": True,
        "prev_agent": "您好",
    },
]


def written(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def answer(
    needs: set[str],
    said: set[str],
    accept: frozenset[str] = frozenset(),
) -> Answer:
    row = Row("1", "", "en", frozenset(needs), accept)
    return Answer(row, frozenset(said), out_of_scope=False)


def test_one_json_object_tells_each_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, ROWS)
    call_command("evaluate", "questions", "--questions", str(path), "--json")
    result = json.loads(capsys.readouterr().out)
    assert set(result) == {"en", "zh", "all"}
    assert [result[language]["n"] for language in ("en", "zh", "all")] == [1, 2, 3]
    assert set(result["all"]) == {
        "n", "strict", "lenient", "exact", "multi_recall", "out_of_scope", "human",
        "by_need", "ms_per_question", "rss_growth_mb",
    }  # fmt: skip
    assert result["all"]["strict"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert result["zh"]["out_of_scope"] == {"precision": 1.0, "recall": 1.0}
    assert result["zh"]["human"] == {"precision": 1.0, "recall": 1.0}


def test_the_confused_rows_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, [{**ROWS[0], "id": "odd", "needs": ["invoice"]}])
    call_command("evaluate", "questions", "--questions", str(path))
    out = capsys.readouterr().out
    assert "Confused rows: 1" in out
    assert "invoice read as location  odd: where is my order" in out


@pytest.mark.parametrize("needs", [["lunch"], None])
def test_a_bad_row_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], needs: object
) -> None:
    path = written(tmp_path, [ROWS[0], {**ROWS[1], "needs": needs}])
    with pytest.raises(SystemExit) as caught:
        call_command("evaluate", "questions", "--questions", str(path))
    assert caught.value.code == 2
    assert "line 2" in capsys.readouterr().err


def test_an_unknown_evaluation_is_refused() -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("evaluate", "horoscopes")


def test_strictly_an_extra_need_is_wrong_and_a_missing_one_missed() -> None:
    scores = score([answer({"eta", "shipped"}, {"eta", "location"})])
    assert scores["strict"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert scores["exact"] == 0.0
    assert scores["multi_recall"] == 0.5
    assert scores["by_need"]["location"]["precision"] == 0.0


def test_leniently_an_accepted_need_stands_in_for_a_missed_one() -> None:
    one = answer({"order_status"}, {"eta"}, frozenset({"eta", "location"}))
    assert score([one])["lenient"]["f1"] == 1.0
    two = answer({"order_status"}, {"order_status", "eta"}, frozenset({"eta"}))
    assert score([two])["lenient"]["f1"] == 1.0
    none = answer({"order_status", "return"}, {"eta"}, frozenset({"eta"}))
    assert score([none])["lenient"] == {"precision": 1.0, "recall": 0.5, "f1": 0.6667}


PUBLIC = Path(__file__).parents[3] / "shared" / "data" / "questions.jsonl"


@pytest.mark.skipif(not PUBLIC.exists(), reason="the real questions are not at hand")
def test_real_questions_are_read_as_well_as_before() -> None:
    """Kept in ``../shared``, beside the project: their licences forbid to ship them."""
    from chatbot.evals.questions import _read, read_answers, report

    result = report(read_answers(read_rows(PUBLIC), _read), 0.0)
    for language in ("en", "zh"):
        assert result[language]["strict"]["f1"] > 0.75
