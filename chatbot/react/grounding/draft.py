"""A draft answer, cut into sentences, with what each part of it is about."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chatbot.react.grounding.evidence import Evidence, Subject
from chatbot.react.grounding.numbers import NumberMention, find_numbers
from chatbot.understanding.text import narrow_lines
from tools.contracts import canonical_number

# A line that ends with a colon heads what follows it.
_END = re.compile(
    r"[。！？!?；;]+\n*|(?<![:：])(?<![:：]\*\*)(?<![:：]\s)\n+|\.+(?=\s|$|[\"'”’)*])"
)
_ABBREVIATION = re.compile(
    r"\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun"
    r"|no|nr|mr|mrs|ms|dr|st|approx|est|e\.g|i\.e|a\.m|p\.m|vs|inc|ltd|co)$",
    re.I,
)
_CLAUSE = re.compile(
    r"[，：()（）—\n]|(?<!\d)[,:]|[,:](?!\d)|\s-\s|\b(?:but|and|while|although|however|so)\b"
    r"|但是?|不过|而且?|并且?|可是|然后"
)
_JOIN = re.compile(
    r"[\s,，、&/和与及跟]*(?:and|or|both|orders?|订单|以及|还有|#|parcels?|包裹|运单)?"
    r"[\s,，、&/和与及跟#]*",
    re.I,
)
_PLURAL = re.compile(
    r"\b(?:both|all|they|them|these|each|neither|none)\b|都|均|全部|两个|两单|两件|几个",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    start: int
    end: int
    mentions: tuple[NumberMention, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a place in the text is about; ``every``: all of them, not any one."""

    subjects: tuple[Subject, ...]
    every: bool = False


@dataclass(slots=True)
class Draft:
    """The answer in plain letters, of the same length as the original."""

    text: str
    numbers: tuple[NumberMention, ...]
    sentences: tuple[Sentence, ...]
    _starts: list[int] = field(default_factory=list)
    _groups: list[list[tuple[int, int, tuple[Subject, ...]]]] = field(
        default_factory=list
    )
    _inherited: list[Attribution] = field(default_factory=list)

    def sentence_at(self, position: int) -> Sentence:
        return self.sentences[self._index(position)]

    def _index(self, position: int) -> int:
        return max(0, bisect.bisect_right(self._starts, position) - 1)

    def clause_at(self, start: int, end: int) -> tuple[int, int]:
        """The bounds of the clause around a span, inside its sentence."""
        sentence = self.sentence_at(start)
        left, right = max(sentence.start, start - 200), min(sentence.end, end + 200)
        for match in _CLAUSE.finditer(self.text, left, right):
            if match.end() <= start:
                left = match.end()
            elif match.start() >= end:
                return left, match.start()
        return left, right

    def inherited(self, position: int) -> Attribution:
        """What the sentence at this position is about where it names nothing itself."""
        return self._inherited[self._index(position)]

    def about(self, position: int) -> Attribution:
        """The orders or parcels that a claim at this position speaks of."""
        index = self._index(position)
        groups = self._groups[index]
        chosen: tuple[Subject, ...] | None = None
        for start, _, subjects in groups:
            if start <= position or (
                chosen is None and not _CLAUSE.search(self.text, position, start)
            ):
                chosen = subjects
        if chosen is None and groups and not self._inherited[index].subjects:
            chosen = groups[0][2]
        if chosen is not None:
            return Attribution(chosen, every=len(chosen) > 1)
        return self._inherited[index]


def read_draft(
    answer: str, evidence: Evidence, asked: Sequence[Subject], written: Sequence[str]
) -> Draft:
    """Cut an answer up. ``asked`` is what is meant where the text names no order;
    ``written`` are the numbers that the customer wrote."""
    text = narrow_lines(answer)
    known = {canonical_number(number): False for number in written}
    for number in evidence.spelling:
        subject = evidence.subject_of(number)
        known[number] = bool(subject and subject.tracking)
    numbers = find_numbers(text, known)
    sentences = _sentences(text, numbers)
    draft = Draft(text, numbers, sentences, [one.start for one in sentences])
    _attribute(draft, evidence, tuple(asked))
    return draft


def _sentences(text: str, numbers: Sequence[NumberMention]) -> tuple[Sentence, ...]:
    bounds: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match.group()[0] == "." and _ABBREVIATION.search(
            text, max(0, match.start() - 8), match.start()
        ):
            continue
        bounds.append((start, match.end()))
        start = match.end()
    if start < len(text) or not bounds:
        bounds.append((start, len(text)))
    found: list[Sentence] = []
    upcoming = 0
    for left, right in bounds:
        first = upcoming
        while upcoming < len(numbers) and numbers[upcoming].start < right:
            upcoming += 1
        found.append(Sentence(left, right, tuple(numbers[first:upcoming])))
    return tuple(found)


def _attribute(draft: Draft, evidence: Evidence, asked: tuple[Subject, ...]) -> None:
    last = Attribution(asked)
    seen: dict[Subject, None] = {}
    for sentence in draft.sentences:
        groups = _grouped(draft.text, sentence, evidence)
        plural = _PLURAL.search(draft.text, sentence.start, sentence.end)
        inherited = last
        if not groups and plural and len(seen) > 1:
            inherited = Attribution(tuple(seen), every=True)
        draft._groups.append(groups)
        draft._inherited.append(inherited)
        for _, _, subjects in groups:
            seen.update(dict.fromkeys(Subject(one.order) for one in subjects))
            last = Attribution(subjects)


def _grouped(
    text: str, sentence: Sentence, evidence: Evidence
) -> list[tuple[int, int, tuple[Subject, ...]]]:
    groups: list[tuple[int, int, tuple[Subject, ...]]] = []
    for mention in sentence.mentions:
        subject = evidence.subject_of(mention.number)
        if subject is None and mention.is_tracking:
            continue
        subject = subject or Subject(mention.number)
        if groups:
            start, end, subjects = groups[-1]
            between = text[end : mention.start]
            if (
                len(between) <= 24
                and _JOIN.fullmatch(between)
                and subject not in subjects
            ):
                groups[-1] = (start, mention.end, (*subjects, subject))
                continue
        groups.append((mention.start, mention.end, (subject,)))
    return groups
