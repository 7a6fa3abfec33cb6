"""One named pattern of a language: the unit that the lexicons are lists of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chatbot.understanding.kinds import Need, Topic


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and what it says where it is found in a plain text.

    Gaps in a pattern are bounded (``.{0,20}``): a search stays linear in the text.
    """

    name: str
    says: Need | Topic | None
    pattern: re.Pattern[str]


def rule(says: Need | Topic | None, name: str, *patterns: str) -> Rule:
    return Rule(name, says, re.compile("|".join(f"(?:{part})" for part in patterns)))
