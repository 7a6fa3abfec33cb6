"""Whether what had to be seen of a case was seen, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from chatbot.evals.cases.evidence import Evidence
from chatbot.evals.cases.format import Atom, Line, NotSupported
from chatbot.evals.cases.measures import MEASURES, Value, alternatives

# How much of a text a report shows.
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Seen:
    """Whether an atom is so, and what there was to see."""

    holds: bool
    what: str


def judge(line: Line, evidence: Evidence, *, wanted: bool) -> tuple[bool, str]:
    """Whether a line of ``must`` (``wanted``) or ``must_not`` is kept, and what was
    seen. All atoms of a line are looked at together: none may be unmeasurable."""
    if line.problem:
        raise NotSupported(f"the line {line.text!r}: {line.problem}")
    seen = [_look(atom, evidence, wanted=wanted) for atom in line.atoms]
    so = all(one.holds for one in seen)
    return so is wanted, "; ".join(one.what for one in seen)


def _look(atom: Atom, evidence: Evidence, *, wanted: bool) -> Seen:
    if atom.op == "~":
        texts = _texts(atom, evidence, wanted=wanted)
        return _match(atom, texts, evidence)
    if atom.name not in MEASURES:
        raise NotSupported(f"the atom {atom.text!r}")
    found = MEASURES[atom.name](evidence, atom)
    values = found if isinstance(found, list) else [found]
    if not atom.op:
        return Seen(bool(values and values[0]), str(found))
    # Of several, a wanted value must be all of them, an unwanted one none.
    every = all if wanted else any
    so = bool(values) and every(compare(one, atom) for one in values)
    return Seen(so, f"{atom.text.split('#')[0].strip()}: {_shown(found)}")


def _shown(found: object) -> str:
    return str(found)[:_SHOWN]


def compare(value: Value, atom: Atom) -> bool:
    """Whether a measured value stands to the atom's as its operator says."""
    if atom.value == "any":
        return True
    if atom.op in ("=", "in"):
        return any(_same(value, word) for word in alternatives(atom))
    if not isinstance(value, int | float):
        raise NotSupported(f"{atom.text!r}: {value!r} is no number")
    wanted = float(atom.value)
    return {
        "<": value < wanted,
        "<=": value <= wanted,
        ">": value > wanted,
        ">=": value >= wanted,
    }[atom.op]


def _same(value: Value, text: str) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return str(value).lower() == text.strip("\"'").lower()


# ---- texts


def _texts(atom: Atom, evidence: Evidence, *, wanted: bool) -> list[str]:
    match atom.name:
        case "reply":
            # The last word must say it; no word may ever have said it.
            return evidence.final if wanted else evidence.said
        case "frames":
            return evidence.frames
        case "model":
            return evidence.model
        case "logs":
            return [evidence.stage.house.logs]
        case "broker":
            if evidence.broker is None:
                raise NotSupported("a broker: REDIS_URL is not set")
            return list(evidence.broker)
        case "page":
            return evidence.pages(atom.args[0] if atom.args else "any")
        case _:
            raise NotSupported(f"the atom {atom.text!r}")


def _match(atom: Atom, texts: Iterable[str], evidence: Evidence) -> Seen:
    try:
        pattern = re.compile(atom.value)
    except re.error as error:
        raise NotSupported(f"the pattern {atom.value!r}: {error}") from None
    own = evidence.stage.script.said if atom.name == "model" else ()
    read = list(texts)
    for text in read:
        for found in pattern.finditer(text):
            # A model that is told its own words again has learned nothing.
            if any(found[0] in said for said in own):
                continue
            start = max(0, found.start() - 40)
            return Seen(True, f"{atom.name}: …{text[start : found.end() + 40]}…")
    last = read[-1][:_SHOWN] if read and atom.name == "reply" else ""
    return Seen(False, f"{atom.name}: no match in {len(read)} texts {last}".strip())
