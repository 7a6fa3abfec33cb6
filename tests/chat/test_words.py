"""The pages' words: both languages say everything, and pages ask for nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from django.conf import settings
from django.utils.translation import override

from chatbot.chat.models import RunPhase
from chatbot.chat.words import all_words, ending_word
from chatbot.react.types import StopReason
from chatbot.understanding.kinds import Need
from tools.catalog import results
from tools.contracts import (
    ObservationStatus,
    OrderStatus,
    ParcelStatus,
    RefundStatus,
)

ROOT = Path(settings.BASE_DIR)


def flat(words: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for key, value in words.items():
        if isinstance(value, dict):
            yield from flat(value, f"{path}{key}.")
        else:
            yield path + key, value


def slots(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_words_with_the_same_slots() -> None:
    chinese, english = dict(flat(all_words("zh"))), dict(flat(all_words("en")))
    assert chinese.keys() == english.keys()
    for key, text in chinese.items():
        assert slots(text) == slots(english[key]), key
        assert text.strip(), key


def test_templates_and_code_ask_only_for_words_that_exist() -> None:
    page = all_words("en")["page"]
    asked = set()
    for path in (ROOT / "templates").rglob("*.html"):
        asked |= set(re.findall(r'{% say [\'"](\w+)[\'"]', path.read_text("utf-8")))
    for path in (ROOT / "chatbot/chat").glob("*.py"):
        source = path.read_text("utf-8")
        asked |= set(re.findall(r'(?:lazy_)?word\("(\w+)"', source))
        asked |= set(re.findall(r'Part\("(\w+)"', source))
    assert asked - page.keys() == set()


def test_the_script_asks_only_for_words_that_exist() -> None:
    live = all_words("en")["live"]
    missing = set()
    for path in (ROOT / "static/chat").glob("*.js"):
        source = path.read_text("utf-8")
        # A script may speak of one group alone: `{ card: words } = wording.words`.
        group = re.search(r"\{ (\w+): words \} = ", source)
        known = live[group[1]] if group else live
        missing |= set(re.findall(r"\bwords\.(\w+)", source)) - known.keys()
    assert missing == set()


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("need", list(Need)),
        ("reason", list(StopReason)),
        (
            "value",
            [*ObservationStatus, *OrderStatus, *ParcelStatus, *RefundStatus],
        ),
        ("outcome", [status for status in ObservationStatus if status != "ok"]),
    ],
)
def test_each_value_that_a_page_may_show_has_a_word(
    group: str, names: list[str]
) -> None:
    assert set(names) - all_words("zh")["live"][group].keys() == set()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_staff_read_every_ending_and_phase_in_words(language: str) -> None:
    ways = [*StopReason, *(phase for phase in RunPhase if phase != "stopped")]
    with override(language):
        told = [ending_word(way) for way in ways]
    assert len(set(told)) == len(ways)
    assert not [one for one in told if "_" in one]


def test_every_field_that_a_look_up_returns_has_a_name() -> None:
    rows = [kind for kind in vars(results).values() if _is_result(kind)]
    fields = {
        name for row in rows if row is not results.Money for name in row.model_fields
    }
    assert fields - set(all_words("en")["live"]["field"]) == set()


def _is_result(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, results.Result)
