"""What all detectors look at, and the form of their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.react.facts import Fact
from chatbot.react.grounding.articles import Articles
from chatbot.react.grounding.draft import Draft
from chatbot.react.grounding.evidence import Evidence, Subject
from chatbot.react.grounding.honesty import is_negative
from chatbot.react.grounding.status_words import State
from chatbot.react.types import Claim, ClaimKind
from chatbot.understanding.text import narrow


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with what it was made of: ``fact`` is None where nothing proves it."""

    claim: Claim
    subjects: tuple[Subject, ...] = ()
    fact: Fact | None = None
    state: State | None = None
    negated: bool = False


@dataclass(slots=True)
class Check:
    """What all the detectors look at."""

    draft: Draft
    evidence: Evidence
    articles: Articles
    asked_text: str
    written: frozenset[str]
    raw: str
    about_refund: bool = False

    def sentence(self, position: int) -> str:
        found = self.draft.sentence_at(position)
        return self.draft.text[found.start : found.end]

    def is_negative(self, position: int) -> bool:
        return is_negative(self.sentence(position))

    def facts_about(self, subjects: Sequence[Subject]) -> list[Fact]:
        """The facts that a claim on these may rest on; all where it is on none."""
        if not subjects:
            return list(self.evidence.facts)
        found: list[Fact] = []
        for subject in subjects:
            if subject.order is None:
                found += self.evidence.about(subject)
                continue
            found += [
                fact
                for fact in self.evidence.about(Subject(subject.order))
                if not subject.tracking or fact.tracking in (None, subject.tracking)
            ]
        return found

    def is_echo(self, text: str) -> bool:
        """Whether the customer wrote these words."""
        return text.casefold().strip() in self.asked_text


def proved(
    text: str, kind: ClaimKind, fact: Fact, subjects: Sequence[Subject]
) -> Checked:
    claim = Claim(text, kind, fact.observation_id, fact.path)
    return Checked(claim, tuple(subjects), fact)


def refused(text: str, kind: ClaimKind, why: str) -> Checked:
    return Checked(Claim(narrow(text)[:80], kind, why=why))
