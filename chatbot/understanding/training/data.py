"""The labelled utterances that the classifier is trained on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from chatbot.understanding.kinds import Language

_FOLDER = Path(__file__).parent
# Apart from each other: two of them ask that they stay under their own licence.
_OF_OTHERS = ("licensed.jsonl", "hint3.jsonl", "bitext.jsonl")


@dataclass(frozen=True, slots=True)
class Example:
    text: str
    labels: frozenset[str]
    language: Language


def examples(language: Language) -> list[Example]:
    """Ours first, then those of others, in file order."""
    return own_examples(language) + licensed_examples(language)


def own_examples(language: Language) -> list[Example]:
    found = []
    labels: frozenset[str] = frozenset()
    path = _FOLDER / f"utterances_{language}.txt"
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# "):
            labels = frozenset(
                "out_of_scope" if word == "oos" else word for word in line[2:].split()
            )
        elif line.strip():
            found.append(Example(line, labels, language))
    return found


def licensed_examples(language: Language) -> list[Example]:
    rows = [
        json.loads(line)
        for name in _OF_OTHERS
        for line in (_FOLDER / name).read_text("utf-8").splitlines()
    ]
    return [
        Example(row["text"], frozenset(row["labels"]), language)
        for row in rows
        if row["lang"] == language
    ]
