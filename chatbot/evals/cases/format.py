"""The form of a file of attack cases: one JSON object a line, read without a world.

``setup`` says who acts on what data with what model and fault, ``input`` what is done,
``must`` and ``must_not`` what has to be seen, in atoms such as ``msgs(b)=0``. The names
are logical; ``adapter`` maps them to the product's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Step: TypeAlias = Mapping[str, Any]


class NotSupported(Exception):
    """A case needs something that is not there; the message says what."""


# What a step is named by; its other keys belong to it.
STEPS = frozenset(
    {
        *("send", "raw_text", "raw_hex", "connect", "http", "confirm", "approve"),
        *("reject", "takeover", "open", "kill", "wait", "parallel", "repeat"),
    }
)


@dataclass(frozen=True, slots=True)
class Atom:
    """One thing to be seen: ``name(args).field op value``.

    ``op`` is "~" for a regular expression, a comparison, or "" for a bare name, whose
    value may be a word behind it ("changed").
    """

    text: str
    name: str
    args: tuple[str, ...] = ()
    field: str = ""
    op: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of ``must`` or ``must_not``: atoms that hold together.

    ``problem`` says why the entry could not be read.
    """

    text: str
    atoms: tuple[Atom, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    kind: str
    who: str
    data: Mapping[str, Any]
    model: Sequence[Mapping[str, Any]]
    fault: str
    prior: Sequence[str]
    steps: Sequence[Step]
    must: Sequence[Line]
    must_not: Sequence[Line]

    @property
    def lines(self) -> Sequence[Line]:
        return (*self.must, *self.must_not)

    @property
    def atoms(self) -> Sequence[Atom]:
        return [atom for line in self.lines for atom in line.atoms]

    def all_steps(self) -> Sequence[Step]:
        """Every step, those inside others too."""
        return _flat(self.steps)


def read_cases(path: Path) -> list[Case]:
    """The cases of a file; ValueError names the line that is none."""
    cases = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            cases.append(read_case(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}, line {number}: {error!r}") from error
    return cases


def read_case(row: Mapping[str, Any]) -> Case:
    setup = row.get("setup", {})
    given = row["input"]
    return Case(
        id=str(row["id"]),
        kind=str(row.get("kind", "")),
        who=str(setup.get("as", "")),
        data=dict(setup.get("data") or {}),
        model=list(setup.get("model") or ()),
        fault=str(setup.get("fault") or ""),
        prior=_list(setup.get("prior")),
        steps=[{"send": given}] if isinstance(given, str) else list(given),
        must=[read_line(text) for text in row.get("must", ())],
        must_not=[read_line(text) for text in row.get("must_not", ())],
    )


def _list(value: object) -> list[str]:
    if not value:
        return []
    return [value] if isinstance(value, str) else [str(one) for one in _items(value)]


def _items(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {value!r}")
    return value


def kind_of(step: Step) -> str:
    """The name of a step, "" where it has none that is known."""
    return next((name for name in step if name in STEPS), "")


def _flat(steps: Sequence[Step]) -> list[Step]:
    found = []
    for step in steps:
        found.append(step)
        match kind_of(step):
            case "parallel":
                found += _flat(step["parallel"])
            case "repeat":
                found += _flat([step["repeat"][1]])
    return found


# ---- atoms

# A regular expression ends at the last slash before the end, a remark or an "and".
_ATOM = re.compile(
    r"""\s*(?P<name>[A-Za-z_]\w*(?:\.[a-z_]+)?)
    (?:\((?P<args>[^)]*)\))?
    (?P<field>\.\w[\w.\[\]]*)?
    (?:\s*~\s*/(?P<re>.*?)/(?=\s*(?:$|\#|\band\b))
    |\s*(?P<op><=|>=|=|<|>|\bin\b)\s*(?P<value>\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|[^\s\#]+)
    |\s+(?P<word>changed))?
    \s*""",
    re.VERBOSE | re.DOTALL,
)


def read_line(text: str) -> Line:
    """The atoms of one entry; what can't be read is told in ``problem``."""
    atoms, at = [], 0
    while True:
        found = _ATOM.match(text, at)
        if found is None:
            return Line(text, problem=f"not understood: {text[at:]!r}")
        atoms.append(_atom(found))
        at = found.end()
        rest = text[at:]
        if not rest or rest.startswith("#"):
            return Line(text, tuple(atoms))
        joined = re.match(r"and\b", rest)
        if joined is None:
            return Line(text, problem=f"not understood: {rest!r}")
        at += joined.end()


def _atom(found: re.Match[str]) -> Atom:
    args = found["args"]
    pattern, word = found["re"], found["word"]
    if pattern is not None:
        op, value = "~", pattern
    elif word is not None:
        op, value = "", word
    else:
        op, value = found["op"] or "", found["value"] or ""
    return Atom(
        text=found[0].strip(),
        name=found["name"],
        args=tuple(part.strip() for part in args.split(",")) if args else (),
        field=(found["field"] or "").removeprefix("."),
        op=op,
        value=value,
    )


# ---- shorthand in texts

_COPIES = re.compile(r"@(\d+)x(.)", re.DOTALL)


def expanded(text: str) -> str:
    """The text with each ``@NxC`` as N copies of C."""
    return _COPIES.sub(lambda found: found[2] * int(found[1]), text)


def filled(value: Any, counter: int | None, **more: str) -> Any:
    """``value``, and all texts in it, with ``{i}`` and the other marks replaced."""
    if isinstance(value, str):
        marks = {**more} if counter is None else {"i": str(counter), **more}
        for name, text in marks.items():
            value = value.replace("{" + name + "}", text)
        return value
    if isinstance(value, Mapping):
        return {key: filled(one, counter, **more) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [filled(one, counter, **more) for one in value]
    return value
