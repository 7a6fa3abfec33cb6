"""Every checkable statement of a draft, with the field that proves it or the reason why
none does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from chatbot.react.facts import Fact, Money
from chatbot.react.grounding.amounts import AmountMention, find_amounts
from chatbot.react.grounding.articles import Articles
from chatbot.react.grounding.dates import DateMention, find_dates, says
from chatbot.react.grounding.draft import Draft
from chatbot.react.grounding.evidence import Evidence, Subject
from chatbot.react.grounding.honesty import is_negative
from chatbot.react.grounding.lexicon import word_list
from chatbot.react.grounding.numbers import NumberMention
from chatbot.react.grounding.phrases import Phrase, find_contacts, find_phrases
from chatbot.react.grounding.places import PlaceMention, find_places, same_place
from chatbot.react.grounding.roles import FIELDS, role_of
from chatbot.react.grounding.status_words import State
from chatbot.react.grounding.statuses import (
    StatusMention,
    find_statuses,
    is_event,
    proof_of,
    states_of,
)
from chatbot.react.types import Claim, ClaimKind
from chatbot.understanding.text import narrow
from tools.contracts import canonical_number


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
            yield from _date(check, date)
    taken = spans + [(one.start, one.end) for one in dates]
    for amount in find_amounts(check.draft.text):
        if not _inside(amount.start, taken):
            yield _amount(check, amount)
    for place in find_places(check.draft.text, _observed_places(check)):
        yield from _place(check, place)
    for status in find_statuses(check.draft.text, bounds, check.about_refund):
        yield from _status(check, status)


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
            return _refused(mention.text, kind, "about_another_order")
        return _proved(mention.text, kind, fact, (subject,) if subject else ())
    if mention.number in check.written and _any_negative(check):
        return Checked(Claim(mention.text, kind, why="written_by_customer"))
    if check.articles.hold(mention.text):
        return Checked(Claim(mention.text, kind, why="quoted"))
    return _refused(mention.text, kind, "not_observed")


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


# ---- dates

# Said of the talk itself as often as of an event ("anything else today?").
_TODAY = frozenset(
    {"today", "tonight", "今天", "今日", "今晚", "this morning", "this afternoon"}
)
_REFUND_FIELDS = frozenset({"requested_at", "settled_at", "expected_at"})


def _date(check: Check, mention: DateMention) -> Iterator[Checked]:
    draft = check.draft
    clause = draft.clause_at(mention.start, mention.end)
    sentence = draft.sentence_at(mention.start)
    role = role_of(draft.text, mention.start, mention.end, clause, sentence.start)
    if not role and mention.text.casefold() in _TODAY:
        return
    if mention.when.is_span and not role and check.is_echo(mention.text):
        return
    about = draft.about(mention.start)
    subjects = about.subjects
    allowed = FIELDS.get(role)
    if allowed is not None and (
        check.about_refund or _REFUND_WORD.search(check.sentence(mention.start))
    ):
        allowed |= _REFUND_FIELDS
    wrong_role = False
    for fact, moments in _moments(check, check.facts_about(subjects)):
        if not any(_says(mention, moment, check) for moment in moments):
            continue
        if allowed is not None and not _field_names(fact, check) & allowed:
            wrong_role = True
            continue
        yield _proved(mention.text, "date", fact, subjects)
        return
    if check.articles.hold(mention.text):
        return
    if mention.when.is_span and check.is_negative(mention.start) and not role:
        return
    yield _refused(mention.text, "date", "wrong_role" if wrong_role else "not_observed")


def _moments(
    check: Check, facts: Sequence[Fact]
) -> Iterator[tuple[Fact, tuple[datetime, ...]]]:
    """The observed times, each as the customer's clock and as its own zone show it."""
    for fact in facts:
        if isinstance(fact.value, datetime):
            yield fact, _clocks(fact.value, check)
    for one in check.evidence.by_id.values():
        fact = Fact(
            "date", "observed_at", "observed_at", one.observed_at, one.id, one.tool
        )
        yield fact, (one.observed_at.astimezone(check.evidence.zone), one.observed_at)


def _clocks(moment: datetime, check: Check) -> tuple[datetime, ...]:
    here = moment.astimezone(check.evidence.zone)
    return (here, moment) if moment.utcoffset() != here.utcoffset() else (here,)


def _says(mention: DateMention, moment: datetime, check: Check) -> bool:
    when = mention.when
    now = check.evidence.now
    # A clock time in UTC is a machine's stamp: the customer's own clock shows another.
    if when.hour is not None and moment.utcoffset() == UTC.utcoffset(None):
        here = moment.astimezone(check.evidence.zone)
        if not when.in_utc and here.utcoffset() != moment.utcoffset():
            return False
    return says(when, moment, now)


def _field_names(fact: Fact, check: Check) -> frozenset[str]:
    if fact.name != "at":
        return frozenset({fact.name})
    prefix = fact.path.rpartition(".")[0]
    statuses = {
        f"at:{one.value}"
        for one in check.evidence.facts
        if one.observation_id == fact.observation_id and one.path == f"{prefix}.status"
    }
    return frozenset({"at", *statuses})


# ---- amounts


_REFUND_WORD = re.compile(r"refund|退款|退回|退还", re.I)
_TOTAL_WORD = re.compile(r"\btotal|合计|总额|总价|总计|总共|共计|订单金额|实付", re.I)


def _amount(check: Check, mention: AmountMention) -> Checked:
    draft = check.draft
    left, right = draft.clause_at(mention.start, mention.end)
    clause = draft.text[left:right]
    subjects = draft.about(mention.start).subjects
    is_refund = bool(_REFUND_WORD.search(clause))
    is_total = bool(_TOTAL_WORD.search(clause)) and not is_refund
    wrong_role = False
    for fact in check.facts_about(subjects):
        money = fact.value
        if not isinstance(money, Money) or not mention.fits(
            money.amount, money.currency
        ):
            continue
        if (is_refund and "refunds[" not in fact.path) or (
            is_total and fact.name not in ("total", "amount")
        ):
            wrong_role = True
            continue
        return _proved(mention.text, "amount", fact, subjects)
    if check.articles.hold(mention.text):
        return Checked(Claim(mention.text, "amount", why="quoted"))
    return _refused(
        mention.text, "amount", "wrong_role" if wrong_role else "not_observed"
    )


# ---- places


_NOW = word_list(r"""
    \b(?:now|currently|presently|right now|at the moment|located|sitting)\b
    目前
    现在
    当前
    位于
    停留
    此刻
    正在
""")
_DESTINATION = word_list(r"""
    \b(?:to|destination|address|towards?|bound for|delivered in|recipient)\s?$
    发往
    寄往
    送往
    运往
    收货
    目的地
    寄到
    送到
    前往
    配送至
    送至
    地址
""")


def _place(check: Check, mention: PlaceMention) -> Iterator[Checked]:
    draft = check.draft
    left, right = draft.clause_at(mention.start, mention.end)
    subjects = draft.about(mention.start).subjects
    before = draft.text[left : mention.start]
    is_now = bool(_NOW.search(draft.text, left, right))
    to_there = bool(_DESTINATION.search(before))
    wrong_role = False
    for fact in check.facts_about(subjects):
        if fact.kind != "place" or not same_place(mention.text, str(fact.value)):
            continue
        is_current = fact.name == "place" and not is_event(fact)
        if is_now and not to_there and not is_current:
            wrong_role = True
            continue
        if fact.name == "ship_to" and not to_there and not is_current:
            wrong_role = True
            continue
        yield _proved(mention.text, "place", fact, subjects)
        return
    if wrong_role:
        yield _refused(mention.text, "place", "wrong_role")
        return
    if check.articles.hold(mention.text) or _weakly_told(check, mention.text, is_now):
        return
    if check.is_echo(mention.text) and check.is_negative(mention.start):
        return
    yield _refused(mention.text, "place", "not_observed")


def _observed_places(check: Check) -> frozenset[str]:
    return frozenset(
        narrow(fact.value).strip()
        for fact in check.evidence.facts
        if fact.kind == "place" and isinstance(fact.value, str)
    )


def _weakly_told(check: Check, place: str, is_now: bool) -> bool:
    """Free text of a carrier may name a place on the way, never where it is now."""
    return not is_now and any(
        fact.kind == "text"
        and fact.tool == "track_shipment"
        and isinstance(fact.value, str)
        and same_place(place, fact.value[:200])
        for fact in check.evidence.facts
    )


# ---- statuses


_PARTLY = re.compile(
    r"\b(?:one|first|second|third|other|part|partly|some|another)\b|其中|部分|一个|另|第一|第二|一件",
    re.I,
)
_BEFORE_NOW = re.compile(
    r"\b(?:was|were|had|on|earlier|previously|since)\b|曾|于|之前|此前|已", re.I
)
_PAST_STATES = frozenset({State.PICKED_UP, State.IN_TRANSIT, State.PENDING})


def _status(check: Check, mention: StatusMention) -> Iterator[Checked]:
    about = check.draft.about(mention.start)
    subjects = about.subjects
    if check.articles.tell(check.sentence(mention.start)):
        return
    proofs: list[Fact] = []
    for subject in subjects or (None,):
        fact = _status_proof(check, mention, subject)
        if fact is not None:
            proofs.append(fact)
        elif about.every:
            break
    needed = len(subjects) if about.every else 1
    if len(proofs) >= max(1, needed):
        checked = _proved(mention.text, "status", proofs[0], subjects)
        yield Checked(
            checked.claim, subjects, proofs[0], mention.state, mention.negated
        )
        return
    yield _refused(mention.text, "status", "not_observed")


def _status_proof(
    check: Check, mention: StatusMention, subject: Subject | None
) -> Fact | None:
    facts = check.facts_about((subject,) if subject else ())
    sentence = check.sentence(mention.start)
    past = mention.state in _PAST_STATES and bool(_BEFORE_NOW.search(sentence))
    fact = proof_of(mention.state, mention.negated, facts, past)
    if fact is None or mention.negated or subject is None or subject.tracking:
        return fact
    if mention.state in (State.SHIPPED, State.ON_THE_WAY) or not fact.tracking:
        return fact
    parcels = check.evidence.parcels_of(subject.order) if subject.order else ()
    if len(parcels) < 2 or _PARTLY.search(sentence):
        return fact
    told = {
        one.tracking
        for one in facts
        if mention.state in states_of(one) and one.tracking
    }
    return fact if set(parcels) <= told else None


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
    yield _refused(phrase.text, phrase.kind, "nothing_backs_it")


_WE = re.compile(r"\b(?:I|we)\b|我|帮|为您|给您|替您", re.I)


def _is_refund_seen(check: Check, phrase: Phrase) -> bool:
    """ "The refund was requested" is the refund's own state, not a deed of ours."""
    return (
        bool(_REFUND_WORD.search(check.sentence(phrase.start)))
        and not _WE.search(phrase.text)
        and any("refunds[" in fact.path for fact in check.evidence.facts)
    )


def _contacts(check: Check) -> Iterator[tuple[Phrase, Checked]]:
    for phrase in find_contacts(check.raw):
        fact = _link(check, phrase.text)
        if fact is not None:
            yield phrase, _proved(phrase.text, "contact", fact, ())
        elif check.articles.hold(phrase.text) or _is_observed_number(
            check, phrase.text
        ):
            yield phrase, Checked(Claim(phrase.text, "contact", why="quoted"))
        else:
            yield phrase, _refused(phrase.text, "contact", "not_observed")


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


def _proved(
    text: str, kind: ClaimKind, fact: Fact, subjects: Sequence[Subject]
) -> Checked:
    claim = Claim(text, kind, fact.observation_id, fact.path)
    return Checked(claim, tuple(subjects), fact)


def _refused(text: str, kind: ClaimKind, why: str) -> Checked:
    return Checked(Claim(narrow(text)[:80], kind, why=why))
