"""Scripted customers: what each says, and what has to come of it.

One JSON file of ``cases/dialogues`` holds the dialogues of one kind. Orders are those
that ``seed_store`` makes, which gives the same every time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatbot.react.types import StopReason
from chatbot.understanding.language import detect_language
from chatbot.understanding.needs import Language

FOLDER = Path(__file__).parent / "cases" / "dialogues"


@dataclass(frozen=True, slots=True)
class TurnCase:
    """One turn: several texts are a burst, sent before the answer comes.

    ``tools`` are the calls, as "tool argument", in their order; None: any. ``tell`` are
    texts that the answer holds: "a|b" either one, "$get_order.status" the value that
    this turn observed, as the customer reads it. ``options`` are the buttons.
    """

    says: tuple[str, ...]
    stops: frozenset[StopReason]
    language: Language
    tools: tuple[str, ...] | None = None
    tell: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    options: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class DialogueCase:
    """``customer`` is the shop's; ``handed_over`` says whether a person was fetched."""

    id: str
    kind: str
    customer: str
    language: Language
    turns: tuple[TurnCase, ...]
    handed_over: bool


def read_cases(folder: Path = FOLDER) -> list[DialogueCase]:
    """Every dialogue; ValueError names the one that is none."""
    cases = []
    for path in sorted(folder.glob("*.json")):
        for fields in json.loads(path.read_text("utf-8")):
            try:
                cases.append(_case(path.stem, fields))
            except (KeyError, TypeError, ValueError) as error:
                name = fields.get("id", "?") if isinstance(fields, dict) else "?"
                raise ValueError(f"{path.name}, {name}: {error!r}") from error
    return cases


def _case(kind: str, fields: Mapping[str, Any]) -> DialogueCase:
    unknown = set(fields) - {"id", "as", "language", "turns", "handed_over"}
    if unknown:
        raise ValueError(f"unknown: {sorted(unknown)}")
    turns: tuple[TurnCase, ...] = ()
    for one in fields["turns"]:
        # A bare number has no language of its own.
        before: Language = turns[-1].language if turns else "en"
        turns = (*turns, _turn(one, before))
    return DialogueCase(
        id=fields["id"],
        kind=kind,
        customer=fields["as"],
        language=fields.get("language", turns[0].language),
        turns=turns,
        handed_over=fields.get(
            "handed_over", any(StopReason.HANDED_OVER in one.stops for one in turns)
        ),
    )


def _turn(fields: Mapping[str, Any], before: Language) -> TurnCase:
    names = {"say", "stop", "language", "tools", "tell", "never", "options"}
    if unknown := set(fields) - names:
        raise ValueError(f"unknown: {sorted(unknown)}")
    says = _texts(fields["say"])
    tools, options = fields.get("tools"), fields.get("options")
    return TurnCase(
        says=says,
        stops=frozenset(map(StopReason, _texts(fields.get("stop", "answered")))),
        language=fields.get("language") or detect_language(says[-1], fallback=before),
        tools=None if tools is None else tuple(tools),
        tell=tuple(fields.get("tell", ())),
        never=tuple(fields.get("never", ())),
        options=None if options is None else tuple(options),
    )


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
