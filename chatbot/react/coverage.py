"""Whether a draft answers the question, and rests on observations alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chatbot.react.facts import Fact
from chatbot.react.grounding.articles import Articles, without_quotations
from chatbot.react.grounding.check import Check, Checked
from chatbot.react.grounding.choice import orders_to_choose
from chatbot.react.grounding.claims import claims_of
from chatbot.react.grounding.disguise import disguised
from chatbot.react.grounding.draft import read_draft
from chatbot.react.grounding.evidence import Evidence, zone_of
from chatbot.react.grounding.numbers import find_numbers
from chatbot.react.grounding.phrases import find_contacts, find_phrases
from chatbot.react.grounding.said import unsaid
from chatbot.react.grounding.secrets import leaked
from chatbot.react.grounding.slots import slots_of, subjects_of
from chatbot.react.grounding.statuses import find_statuses
from chatbot.react.grounding.tongue import is_in_other_language
from chatbot.react.types import Background, Claim, Coverage, Proof, Slot
from chatbot.understanding.needs import Need, Question
from chatbot.understanding.text import narrow, narrow_lines
from tools.contracts import Observation, canonical_number

# Longer than any answer that a customer would read; the rest is not looked at.
MAX_ANSWER = 8000
_MAX_LISTED_CLAIMS = 40


def answer_covers_question(
    answer: str,
    *,
    question: Question,
    observations: Sequence[Observation],
    proofs: Sequence[Proof],
    background: Background,
    secrets: Sequence[str] = (),
) -> Coverage:
    """Check a draft: every need met or honestly said to be out of reach, every order
    and tracking number, date, amount, place and status word proved by an observation of
    the same order, and nothing promised, claimed as done or ruled that nothing backs.

    ``secrets`` are texts of which no part may be repeated (the instructions). Never
    raises, and takes time linear in the length of the answer.
    """
    evidence = _evidence(observations, question, background)
    written = _written(question, background)
    plain = without_quotations(narrow_lines(answer[:MAX_ANSWER]), evidence.articles)
    text = _without_names(plain, evidence)
    asked = subjects_of((), question=question, evidence=evidence, background=background)
    draft = read_draft(text, evidence, asked, tuple(written))
    check = Check(
        draft=draft,
        evidence=evidence,
        articles=Articles(evidence.articles),
        asked_text=narrow(question.text[:MAX_ANSWER]).casefold(),
        written=written,
        raw=narrow_lines(answer[:MAX_ANSWER]),
        about_refund=_is_about_refund(question, evidence),
    )
    seen = [str(fact.value) for fact in evidence.facts if fact.kind == "name"]
    seen.append(question.text[:MAX_ANSWER])
    checked = [*_of_the_whole(answer, secrets, seen), *claims_of(check)]
    if not check.articles.is_foreign_to(question.language) and is_in_other_language(
        answer[:MAX_ANSWER], question.language, evidence.facts
    ):
        checked.append(Checked(Claim(answer[:40], "filler", why="language")))
    slots = slots_of(
        [one.number for one in draft.numbers],
        question=question,
        evidence=evidence,
        proofs=proofs,
        background=background,
    )
    refused = [one.claim for one in checked if _is_refused(one)]
    proved = [one.claim for one in checked if one.claim.observation_id]
    return Coverage(
        slots=slots,
        claims=_unique(proved),
        unsupported=_unique(refused),
        unanswered=tuple(
            slot
            for slot in unsaid(slots, checked, check)
            # Which order is meant comes first: a question back leaves the rest open.
            if not (slot.order and orders_to_choose(text, question, evidence.orders))
        ),
    )


def question_slots(
    *,
    question: Question,
    observations: Sequence[Observation],
    proofs: Sequence[Proof],
    background: Background,
) -> tuple[Slot, ...]:
    """The slots of a question before there is any draft: what is known, what is not."""
    return slots_of(
        (),
        question=question,
        evidence=_evidence(observations, question, background),
        proofs=proofs,
        background=background,
    )


def _evidence(
    observations: Sequence[Observation], question: Question, background: Background
) -> Evidence:
    written = [
        number
        for one in (*background.earlier_questions, question)
        for number in (*one.order_numbers, *one.tracking_numbers)
    ]
    return Evidence(observations, zone_of(background.time_zone), written)


def _is_refused(one: Checked) -> bool:
    return one.claim.observation_id is None and one.claim.why not in (
        "written_by_customer",
        "quoted",
    )


def _unique(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    return tuple(dict.fromkeys(claims))[:_MAX_LISTED_CLAIMS]


def _of_the_whole(
    answer: str, secrets: Sequence[str], seen: Sequence[str]
) -> list[Checked]:
    """What is wrong with the answer as a whole, whatever it says."""
    found = []
    if not any(character.isalnum() for character in answer[:MAX_ANSWER]):
        found.append(Checked(Claim(answer[:20], "filler", why="empty")))
    if len(answer) > MAX_ANSWER:
        found.append(Checked(Claim(answer[:20], "filler", why="too_long")))
    if part := leaked(answer, secrets):
        found.append(Checked(Claim(part, "prompt", why="instructions")))
    if word := disguised(answer[:MAX_ANSWER], seen):
        found.append(Checked(Claim(narrow(word)[:40], "filler", why="disguised")))
    return found


def _is_about_refund(question: Question, evidence: Evidence) -> bool:
    """Whether plain words ("processed", "the 5th") can only be those of a refund."""
    tools = {one.tool for one in evidence.observations}
    if "track_shipment" in tools:
        return False
    return Need.REFUND_STATUS in question.needs or "get_refund" in tools


def _written(question: Question, background: Background) -> frozenset[str]:
    """The canonical numbers that the customer wrote, now or before."""
    numbers: set[str] = set()
    for one in (*background.earlier_questions, question):
        numbers.update(
            canonical_number(number)
            for number in (
                *one.order_numbers,
                *one.tracking_numbers,
                *one.rejected_numbers,
                *one.bare_numbers,
                *(mention.text for mention in find_numbers(narrow(one.text), {})),
            )
        )
    return frozenset(numbers - {""})


def _without_names(answer: str, evidence: Evidence) -> str:
    """The answer with the titles and carriers that it quotes blotted out.

    A title may hold a place or a number that claims nothing. One that itself claims
    something ("delivered", a phone number) is data gone wrong and stays to be checked.
    """
    text = narrow_lines(answer)
    folded = text.casefold()
    if len(folded) != len(text):
        return text
    for name in sorted(_names(evidence.facts), key=len, reverse=True):
        start = folded.find(name)
        while start >= 0:
            end = start + len(name)
            # "sf" is a carrier, and the beginning of its tracking numbers.
            if not _is_inside_word(folded, start, end):
                text = f"{text[:start]}{'□' * len(name)}{text[end:]}"
                folded = f"{folded[:start]}{'□' * len(name)}{folded[end:]}"
            start = folded.find(name, end)
    return text


def _is_inside_word(text: str, start: int, end: int) -> bool:
    return any(
        pair.isascii() and pair.isalnum() and len(pair) == 2
        for pair in (text[max(0, start - 1) : start + 1], text[end - 1 : end + 1])
    )


def _names(facts: Sequence[Fact]) -> Collection[str]:
    return {
        narrow(fact.value).casefold()
        for fact in facts
        if fact.kind == "name"
        and isinstance(fact.value, str)
        and 2 <= len(fact.value) <= 200
        and (fact.tool == "search_help" or not _claims_something(narrow(fact.value)))
    }


def _claims_something(name: str) -> bool:
    whole = [(0, len(name))]
    return (
        any(True for _ in find_statuses(name, whole))
        or any(True for _ in find_phrases(name, whole))
        or any(True for _ in find_contacts(name))
    )
