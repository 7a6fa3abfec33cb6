"""Every checkable statement of a draft, with the field that proves it or the reason why
none does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chatbot.react.facts import Fact
from chatbot.react.grounding.amounts import find_amounts
from chatbot.react.grounding.check import Check, Checked, proved, refused
from chatbot.react.grounding.date_claims import check_date
from chatbot.react.grounding.dates import find_dates
from chatbot.react.grounding.draft import Draft
from chatbot.react.grounding.evidence import Subject
from chatbot.react.grounding.fact_claims import (
    SAYS_REFUND,
    check_amount,
    check_place,
    check_status,
    observed_places,
)
from chatbot.react.grounding.numbers import NumberMention
from chatbot.react.grounding.phrases import Phrase, find_contacts, find_phrases
from chatbot.react.grounding.places import find_places
from chatbot.react.grounding.statuses import (
    find_statuses,
)
from chatbot.react.types import Claim, ClaimKind
from tools.contracts import canonical_number


def claims_of(check: Check) -> Iterator[Checked]:
    bounds = [(one.start, one.end) for one in check.draft.sentences]
    contacts = list(_contacts(check))
    spans = [(one.start, one.end) for one, _ in contacts]
    yield from (checked for _, checked in contacts)
    for phrase in find_phrases(check.draft.text, bounds):
        yield from _phrase(check, phrase)
    for number in check.draft.numbers:
        if not _inside(number.start, spans):
            yield _number(check, number)
    dates = find_dates(check.draft.text, check.evidence.now)
    for date in dates:
        if not _inside(date.start, spans) and not _in_number(check.draft, date.start):
            yield from check_date(check, date)
    taken = spans + [(one.start, one.end) for one in dates]
    for amount in find_amounts(check.draft.text):
        if not _inside(amount.start, taken):
            yield check_amount(check, amount)
    for place in find_places(check.draft.text, observed_places(check)):
        yield from check_place(check, place)
    for status in find_statuses(check.draft.text, bounds, check.about_refund):
        yield from check_status(check, status)


def _inside(position: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


def _in_number(draft: Draft, position: int) -> bool:
    return any(
        one.start <= position < one.end for one in draft.sentence_at(position).mentions
    )


# ---- numbers


def _number(check: Check, mention: NumberMention) -> Checked:
    kind: ClaimKind = "tracking_number" if mention.is_tracking else "order_number"
    fact = next(
        (
            fact
            for fact in check.evidence.facts
            if fact.kind in ("order_number", "tracking_number", "refund_number")
            and isinstance(fact.value, str)
            and canonical_number(fact.value) == mention.number
        ),
        None,
    )
    if fact is not None:
        subject = check.evidence.subject_of(mention.number)
        if subject and subject.tracking and _of_another_order(check, mention, subject):
            return refused(mention.text, kind, "about_another_order")
        return proved(mention.text, kind, fact, (subject,) if subject else ())
    if mention.number in check.written and _any_negative(check):
        return Checked(Claim(mention.text, kind, why="written_by_customer"))
    if check.articles.hold(mention.text):
        return Checked(Claim(mention.text, kind, why="quoted"))
    return refused(mention.text, kind, "not_observed")


_ITS_NUMBER = re.compile(r"tracking (?:number|id|code)|waybill|单号", re.I)


def _any_negative(check: Check) -> bool:
    return any(check.is_negative(one.start) for one in check.draft.sentences)


def _of_another_order(check: Check, mention: NumberMention, subject: Subject) -> bool:
    """Whether the text gives this parcel to an order that it is not of."""
    if subject.order is None:
        return False
    before = [
        one.number
        for one in check.draft.sentence_at(mention.start).mentions
        if one.end <= mention.start and not one.is_tracking
    ]
    if before:
        return subject.order not in before
    if any(
        one.number == subject.order
        for one in check.draft.sentence_at(mention.start).mentions
    ):
        return False
    # "Its tracking number is …" speaks of what came before; "parcel … is" does not.
    sentence = check.draft.sentence_at(mention.start)
    if not _ITS_NUMBER.search(check.draft.text, sentence.start, mention.start):
        return False
    around = check.draft.inherited(mention.start).subjects
    orders = {one.order for one in around if one.order}
    return bool(orders) and subject.order not in orders


# ---- sentences that nothing backs


def _phrase(check: Check, phrase: Phrase) -> Iterator[Checked]:
    left, right = check.draft.clause_at(phrase.start, phrase.end)
    clause = check.draft.text[left:right]
    if phrase.kind in ("policy", "promise", "effect") and (
        check.articles.tell(clause) or check.articles.hold(clause)
    ):
        return
    if phrase.kind == "effect" and _is_refund_seen(check, phrase):
        return
    yield refused(phrase.text, phrase.kind, "nothing_backs_it")


_WE = re.compile(r"\b(?:I|we)\b|我|帮|为您|给您|替您", re.I)


def _is_refund_seen(check: Check, phrase: Phrase) -> bool:
    """ "The refund was requested" is the refund's own state, not a deed of ours."""
    return (
        bool(SAYS_REFUND.search(check.sentence(phrase.start)))
        and not _WE.search(phrase.text)
        and any("refunds[" in fact.path for fact in check.evidence.facts)
    )


def _contacts(check: Check) -> Iterator[tuple[Phrase, Checked]]:
    for phrase in find_contacts(check.raw):
        fact = _link(check, phrase.text)
        if fact is not None:
            yield phrase, proved(phrase.text, "contact", fact, ())
        elif check.articles.hold(phrase.text) or _is_observed_number(
            check, phrase.text
        ):
            yield phrase, Checked(Claim(phrase.text, "contact", why="quoted"))
        else:
            yield phrase, refused(phrase.text, "contact", "not_observed")


def _link(check: Check, text: str) -> Fact | None:
    wanted = text.casefold().rstrip("/")
    return next(
        (
            fact
            for fact in check.evidence.facts
            if fact.kind == "link"
            and isinstance(fact.value, str)
            and (
                fact.value.casefold().rstrip("/") == wanted
                or fact.value.casefold().rstrip("/").endswith("//" + wanted)
            )
        ),
        None,
    )


def _is_observed_number(check: Check, text: str) -> bool:
    return canonical_number(text) in check.evidence.spelling
