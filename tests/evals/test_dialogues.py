"""The scripted customers, in short: a handful of them, undisturbed and disturbed."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from chatbot.evals import dialogues
from chatbot.evals.dialogue_cases import DialogueCase, read_cases
from chatbot.evals.dialogue_grading import problems, unsupported_facts
from chatbot.evals.dialogue_play import DialoguePlayed, Trial, disturbances, play
from chatbot.evals.dialogues import Graded, figures, pass_hat, play_all
from tools.contracts import ObservationStatus

SHORT = (
    "zh-two-steps",
    "en-parted",
    "zh-facts-first",
    "en-burst",
    "zh-delivered-not-received",
    "en-ask-back",
    "zh-three-parcels",
)
CASES = {case.id: case for case in read_cases()}


@pytest.fixture
def shop(transactional_db: None) -> None:
    call_command("bootstrap", quiet=True, stdout=StringIO())


def _play(case: DialogueCase, number: int = 0) -> DialoguePlayed:
    return asyncio.run(play(case, Trial(number), model_name="offline"))


@pytest.mark.usefixtures("shop")
def test_a_handful_of_customers_is_served_right_twice() -> None:
    cases = [CASES[name] for name in SHORT]
    graded = asyncio.run(play_all(cases, runs=2, seed=1, model_name="offline"))
    result = figures(graded, runs=2, model="offline")
    assert result["pass"] == {"1": 1.0, "2": 1.0}, result["failures"]
    assert result["unsafe_effects"] == result["unsupported_facts"] == 0
    assert result["faults"]
    assert result["resends"]


@pytest.mark.usefixtures("shop")
def test_an_answer_that_is_not_as_expected_is_found() -> None:
    played = _play(CASES["zh-two-steps"])
    assert not problems(played)
    assert not unsupported_facts(played)
    turn = played.turns[0]
    turn.answer = turn.answer.replace("N-88", "N-91").replace("运输", "签收")
    found = " ".join(problems(played))
    assert "does not tell 'N-88'" in found
    assert "says" in found
    assert unsupported_facts(played) == ["N-91", "N-91"]
    turn.answer = "The parcel is somewhere."
    assert "answered in en" in " ".join(problems(played))


@pytest.mark.usefixtures("shop")
def test_a_failed_lookup_has_to_be_admitted() -> None:
    case = CASES["zh-full-width"]
    number = next(n for n in range(1, 40) if _fails_first(case, n))
    played = _play(case, number)
    assert played.turns[0].failed_tool == "get_order"
    assert played.turns[0].stop == "tool_failed"
    assert not problems(played)
    played.turns[0].answer = "订单 O-204 一切顺利。"
    assert "hides that get_order failed" in " ".join(problems(played))


def _fails_first(case: DialogueCase, number: int) -> bool:
    first = disturbances(case, Trial(number))[0]
    return first.fails_at == 0 and first.status is ObservationStatus.TIMEOUT


def test_the_same_trial_disturbs_in_the_same_way() -> None:
    case = CASES["zh-eleven-turns"]
    assert disturbances(case, Trial(3)) == disturbances(case, Trial(3))
    assert disturbances(case, Trial(3)) != disturbances(case, Trial(4))
    assert all(one.fails_at is None for one in disturbances(case, Trial(0)))


def test_there_are_enough_customers_of_every_kind_in_both_languages() -> None:
    assert len(CASES) >= 60
    assert len(CASES) == len(read_cases()), "an id is there twice"
    for language in ("en", "zh"):
        spoken = [case for case in CASES.values() if case.language == language]
        assert len(spoken) >= 30
        assert max(len(case.turns) for case in spoken) >= 10
    kinds = {case.kind for case in CASES.values()}
    assert {"patient", "impatient", "changes_mind", "others_order", "silent"} <= kinds


def test_pass_k_needs_k_right_plays_of_one_dialogue() -> None:
    one, other = CASES["zh-two-steps"], CASES["en-two-steps"]
    right = Graded(DialoguePlayed(one, Trial(0), "UTC"), (), ())
    wrong = replace(right, problems=("x",))
    always = [
        replace(right, played=DialoguePlayed(other, Trial(n), "UTC")) for n in range(4)
    ]
    graded = [right, right, right, wrong, *always]
    assert pass_hat(graded, 1, runs=4) == pytest.approx((3 / 4 + 1) / 2)
    assert pass_hat(graded, 2, runs=4) == pytest.approx((3 / 6 + 1) / 2)
    assert pass_hat(graded, 4, runs=4) == pytest.approx(0.5)


def test_a_dialogue_that_is_none_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "patient.json"
    broken.write_text(json.dumps([{"id": "x", "as": "C-1", "turns": [{"sya": "?"}]}]))
    with pytest.raises(ValueError, match=r"patient\.json, x"):
        read_cases(tmp_path)


def test_nothing_to_play_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    options = {"only": "no-such", "runs": 8, "seed": 1, "model": "offline"}
    assert dialogues.run({**options, "json": False}) == 2
    assert "nothing to play" in capsys.readouterr().err
