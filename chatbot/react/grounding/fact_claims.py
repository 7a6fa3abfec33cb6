"""Amounts, places and status words of a draft, held against the facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatbot.react.facts import Fact, Money
from chatbot.react.grounding.amounts import AmountMention
from chatbot.react.grounding.check import Check, Checked, proved, refused
from chatbot.react.grounding.evidence import Subject
from chatbot.react.grounding.lexicon import word_list
from chatbot.react.grounding.places import PlaceMention, same_place
from chatbot.react.grounding.status_words import State
from chatbot.react.grounding.statuses import (
    StatusMention,
    is_event,
    proof_of,
    states_of,
)
from chatbot.react.types import Claim
from chatbot.understanding.text import narrow

# ---- amounts


SAYS_REFUND = re.compile(r"refund|退款|退回|退还", re.I)
_TOTAL_WORD = re.compile(
    r"\btotal|\bcame to\b|\bin all\b|\baltogether\b|\byou(?:'ve)? paid\b"
    r"|合计|总额|总价|总计|总共|共计|一共|订单金额|实付|付了|花了",
    re.I,
)
# "120 for two lamps at 60 each": the 60 is no total.
_EACH = re.compile(
    r"\beach\b|\bapiece\b|\bper (?:item|piece|unit)\b|\bat $|每|单价|一[件个只台]", re.I
)


def check_amount(check: Check, mention: AmountMention) -> Checked:
    draft = check.draft
    left, right = draft.clause_at(mention.start, mention.end)
    clause = draft.text[left:right]
    subjects = draft.about(mention.start).subjects
    is_refund = bool(SAYS_REFUND.search(clause))
    is_total = (
        bool(_TOTAL_WORD.search(clause))
        and not is_refund
        and not _EACH.search(
            draft.text, max(left, mention.start - 6), min(right, mention.end + 8)
        )
    )
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
        return proved(mention.text, "amount", fact, subjects)
    if check.articles.hold(mention.text):
        return Checked(Claim(mention.text, "amount", why="quoted"))
    return refused(
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


def check_place(check: Check, mention: PlaceMention) -> Iterator[Checked]:
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
        if (
            _SENT_TO.search(before)
            and fact.name != "ship_to"
            and not _weakly_told(check, mention.text, is_now)
        ):
            wrong_role = True
            continue
        if is_current and _LEFT.search(before) and not _has_left(check, fact):
            wrong_role = True
            continue
        yield proved(mention.text, "place", fact, subjects)
        return
    if wrong_role:
        yield refused(mention.text, "place", "wrong_role")
        return
    if check.articles.hold(mention.text) or _weakly_told(check, mention.text, is_now):
        return
    if check.is_echo(mention.text) and check.is_negative(mention.start):
        return
    yield refused(mention.text, "place", "not_observed")


# Where a parcel is sent to is its address, no place that it passed.
_SENT_TO = re.compile(
    r"\b(?:shipped|sent|dispatched|delivered|bound|headed|heading)(?: off| out)?"
    r" (?:to|for|towards)(?: the)?\s?$"
    r"|(?:发往|寄往|寄到|送往|送到)\s?$",
    re.I,
)
_LEFT = re.compile(
    r"\b(?:left|departed|cleared)\b[^,.]{0,12}$|(?:离开|驶离)[^,，。]{0,6}$", re.I
)
_DEPARTURE = re.compile(r"depart|\bleft\b|sent on|离开|发出|发往|驶离", re.I)


def _has_left(check: Check, place: Fact) -> bool:
    """Whether the last event at the parcel's place is that it left there."""
    return any(
        fact.name == "last_event"
        and fact.observation_id == place.observation_id
        and bool(_DEPARTURE.search(str(fact.value)))
        for fact in check.evidence.facts
    )


def observed_places(check: Check) -> frozenset[str]:
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


def check_status(check: Check, mention: StatusMention) -> Iterator[Checked]:
    about = check.draft.about(mention.start)
    subjects = about.subjects
    if _is_a_rule(check, mention.start):
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
        checked = proved(mention.text, "status", proofs[0], subjects)
        yield Checked(
            checked.claim, subjects, proofs[0], mention.state, mention.negated
        )
        return
    yield refused(mention.text, "status", "not_observed")


# A rule speaks of any order, under a condition; "it was delivered" of one.
_RULE = re.compile(
    r"\b(?:if|when|once|after|before|within|unless|until|any|orders|parcels|items|can|may"
    r"|must|should|usually|normally|not (?:yet )?packed|days? of)\b"
    r"|如|若|后|前|内|时|可|的订单|应|需|一般|通常|不得|才",
    re.IGNORECASE,
)


def _is_a_rule(check: Check, position: int) -> bool:
    """Whether the sentence says what an article says, and of no order in particular."""
    sentence = check.draft.sentence_at(position)
    if sentence.mentions:
        return False
    said = check.sentence(position)
    return bool(_RULE.search(said)) and check.articles.tell(said)


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
