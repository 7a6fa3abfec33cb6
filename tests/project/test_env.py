from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from chatbot.env import (
    env_bool,
    env_choice,
    env_int,
    env_json,
    env_list,
    env_seconds,
    env_secret,
    env_text,
)


@pytest.fixture(autouse=True)
def _forget_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatbot.env.DECLARED", {})


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda value: monkeypatch.setenv("THING", value)


@pytest.mark.parametrize("value", ["1", "50", " 7 "])
def test_a_whole_number_within_its_bounds_is_taken(
    given: Callable[[str], None], value: str
) -> None:
    given(value)
    assert env_int("THING", 8, low=1, high=50, unit="steps") == int(value)


@pytest.mark.parametrize("value", ["0", "51", "-1", "1.5", "1_0", "８", "many", "1e1"])
def test_any_other_number_is_refused_by_name_unit_and_bounds(
    given: Callable[[str], None], value: str
) -> None:
    given(value)
    with pytest.raises(ImproperlyConfigured, match=r"THING .* steps from 1 to 50"):
        env_int("THING", 8, low=1, high=50, unit="steps")


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e3", "0.05", "61", "1.2.3"])
def test_seconds_outside_their_bounds_are_refused(
    given: Callable[[str], None], value: str
) -> None:
    given(value)
    with pytest.raises(ImproperlyConfigured, match=r"THING .* from 0.1 to 60"):
        env_seconds("THING", 5, low=0.1, high=60)


def test_seconds_may_have_fractions(given: Callable[[str], None]) -> None:
    given("0.5")
    assert env_seconds("THING", 5, low=0.1, high=60) == 0.5


@pytest.mark.parametrize(
    ("value", "meant"), [("yes", True), ("OFF", False), ("1", True)]
)
def test_yes_and_no_have_several_spellings(
    given: Callable[[str], None], value: str, meant: bool
) -> None:
    given(value)
    assert env_bool("THING", not meant) is meant


def test_what_is_neither_yes_nor_no_is_refused(given: Callable[[str], None]) -> None:
    given("maybe")
    with pytest.raises(ImproperlyConfigured, match="THING is 'maybe'"):
        env_bool("THING", False)


def test_a_choice_outside_its_list_is_refused(given: Callable[[str], None]) -> None:
    given("staging")
    with pytest.raises(ImproperlyConfigured, match=r"THING .* demo, production"):
        env_choice("THING", "demo", ("demo", "production"))


def test_a_blank_variable_counts_as_missing(given: Callable[[str], None]) -> None:
    given("  ")
    assert env_text("THING", "default") == "default"
    assert env_int("THING", 8, low=1, high=50, unit="steps") == 8


def test_a_list_drops_blanks_and_empty_parts(given: Callable[[str], None]) -> None:
    given(" a, ,b,")
    assert env_list("THING") == ["a", "b"]


@pytest.mark.parametrize("value", ["{", "[]", "1"])
def test_what_is_no_json_object_is_refused(
    given: Callable[[str], None], value: str
) -> None:
    given(value)
    with pytest.raises(ImproperlyConfigured, match="THING must be a JSON object"):
        env_json("THING")


def test_a_name_wins_over_its_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLD", "old")
    assert env_text("THING", "", alias="OLD") == "old"
    monkeypatch.setenv("THING", "new")
    assert env_text("THING", "", alias="OLD") == "new"


def test_a_secret_may_come_from_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    file.write_text("hush\n")
    monkeypatch.setenv("THING_FILE", str(file))
    assert env_secret("THING") == "hush"


def test_a_secret_set_twice_is_refused_without_being_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THING", "hush")
    monkeypatch.setenv("THING_FILE", "/somewhere")
    with pytest.raises(ImproperlyConfigured, match="THING and THING_FILE") as caught:
        env_secret("THING")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("content", [None, ""])
def test_a_secret_file_without_a_secret_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("THING_FILE", str(file))
    with pytest.raises(ImproperlyConfigured, match="THING_FILE"):
        env_secret("THING")
