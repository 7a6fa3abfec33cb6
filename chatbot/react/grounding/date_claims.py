"""Dates of a draft, held against the observed times of the same order and role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from chatbot.react.facts import Fact
from chatbot.react.grounding.check import Check, Checked, proved, refused
from chatbot.react.grounding.dates import SAME_DAY, DateMention
from chatbot.react.grounding.evidence import Subject
from chatbot.react.grounding.fact_claims import SAYS_REFUND
from chatbot.react.grounding.roles import FIELDS, role_of
from chatbot.react.grounding.when import says

# "If it has not come within a few days" says nothing of when it comes.
_IF = re.compile(r"\bif\b|如果|若|要是", re.I)
_ARRIVES = frozenset({"expected", "refund"})

# Said of the talk itself as often as of an event ("anything else today?").
_TODAY = frozenset(
    {"today", "tonight", "今天", "今日", "今晚", "this morning", "this afternoon"}
)
_REFUND_FIELDS = frozenset({"requested_at", "settled_at", "expected_at"})


def check_date(check: Check, mention: DateMention) -> Iterator[Checked]:
    draft = check.draft
    clause = draft.clause_at(mention.start, mention.end)
    sentence = draft.sentence_at(mention.start)
    if mention.text in SAME_DAY:
        # "Ordered on the 27th and shipped that day": what follows it.
        clause = (mention.start, clause[1])
    role = role_of(draft.text, mention.start, mention.end, clause, sentence.start)
    if _says_no_date(check, mention, role, sentence.start):
        return
    about = draft.about(mention.start)
    subjects = about.subjects
    if role in _OF_ARRIVAL and _tells_failure(check, mention.start, subjects):
        role = "scan"
    allowed = FIELDS.get(role)
    if allowed is not None and (
        check.about_refund or SAYS_REFUND.search(check.sentence(mention.start))
    ):
        allowed |= _REFUND_FIELDS
    if _is_denied(check, mention, subjects):
        return
    if (kept := _kept_deadline(check, mention, subjects)) is not None:
        yield proved(mention.text, "date", kept, subjects)
        return
    span = draft.text[clause[0] : clause[1]]
    fact, wrong_role = _proof_of(check, mention, allowed, subjects, span)
    if fact is not None:
        yield proved(mention.text, "date", fact, subjects)
        return
    if check.articles.hold(mention.text):
        return
    if mention.when.is_span and check.is_negative(mention.start) and not role:
        return
    yield refused(mention.text, "date", "wrong_role" if wrong_role else "not_observed")


def _proof_of(
    check: Check,
    mention: DateMention,
    allowed: frozenset[str] | None,
    subjects: Sequence[Subject],
    clause: str,
) -> tuple[Fact | None, bool]:
    """The observed time that proves a date, and whether only others would."""
    wrong_role = False
    for fact, moments in _moments(check, check.facts_about(subjects)):
        if not any(_says(mention, moment, check) for moment in moments):
            continue
        if (
            _WORKING.search(mention.text)
            or _is_other_refund_step(fact, clause)
            or (allowed is not None and not _field_names(fact, check) & allowed)
        ):
            wrong_role = True
            continue
        return fact, wrong_role
    return None, wrong_role


# What a rule counts in, and no single date proves.
_WORKING = re.compile(r"working|business|工作日", re.I)
_OF_ARRIVAL = frozenset({"expected", "delivered", "arrival"})
_FAILURE = re.compile(
    r"fail|unsuccessful|did(?:n'?t| not) (?:work|succeed|go through)|nobody|no one"
    r"|not (?:home|in)\b|没(?:有)?(?:派|送)?成|未成功|失败|没人|无人|不在",
    re.I,
)
_ASKED_FOR = re.compile(
    r"request|appl(?:y|ied|ication)|submit|asked|since|filed|opened"
    r"|申请|提交|提出|发起|收到|受理|起",
    re.I,
)
_MONEY_BACK = re.compile(
    r"settled|paid|credited|refunded|returned|\bback\b|completed|到账|退回|打款|退了|已退",
    re.I,
)


def _tells_failure(check: Check, position: int, subjects: Sequence[Subject]) -> bool:
    """Whether a date stands beside a delivery that failed, as the parcel's did."""
    return bool(_FAILURE.search(check.sentence(position))) and any(
        fact.kind == "status" and fact.value == "delivery_failed"
        for fact in check.facts_about(subjects)
    )


def _is_other_refund_step(fact: Fact, clause: str) -> bool:
    """Whether a refund's request is told as its payment, or the other way round."""
    asked, back = _ASKED_FOR.search(clause), _MONEY_BACK.search(clause)
    if fact.name == "requested_at":
        return bool(back) and not asked
    return fact.name == "settled_at" and bool(asked) and not back


def _says_no_date(check: Check, mention: DateMention, role: str, start: int) -> bool:
    """Whether the words speak of the talk, of what was asked, or of a condition."""
    if not mention.when.is_span:
        return not role and mention.text.casefold() in _TODAY
    if not role and check.is_echo(mention.text):
        return True
    return role not in _ARRIVES and bool(
        _IF.search(check.draft.text, start, mention.start)
    )


_NOT_THEN = re.compile(r"\bnot(?: (?:on|by|until|before))?\s$|不是\s?$", re.I)
_NOT_THEN_AFTER = re.compile(
    r"^(?:之?前)?(?:应该|恐怕|可能)?(?:还)?(?:到不了|送不到|不会|不能|没法|无法)"
)


def _is_denied(check: Check, mention: DateMention, subjects: Sequence[Subject]) -> bool:
    """Whether a day that the customer asked for is denied, as the estimate does."""
    text = check.draft.text
    denied = _NOT_THEN.search(
        text, max(0, mention.start - 12), mention.start
    ) or _NOT_THEN_AFTER.match(text[mention.end : mention.end + 12])
    if not denied or not check.is_echo(mention.text):
        return False
    estimates = [
        fact.value.astimezone(check.evidence.zone)
        for fact in check.facts_about(subjects)
        if fact.name in _ESTIMATES and isinstance(fact.value, datetime)
    ]
    now = check.evidence.now
    return bool(estimates) and not any(
        says(mention.when, one, now) for one in estimates
    )


_DEADLINE = re.compile(r"\b(?:before|by)\s$|赶在\s?$", re.I)
_DEADLINE_AFTER = re.compile(r"^\s?(?:之前|以前|前)")


def _kept_deadline(
    check: Check, mention: DateMention, subjects: Sequence[Subject]
) -> Fact | None:
    """The estimate that comes before a day which the customer named as the last."""
    now, draft = check.evidence.now, check.draft
    if now is None or not check.is_echo(mention.text):
        return None
    if not _DEADLINE.search(
        draft.text, max(0, mention.start - 8), mention.start
    ) and not _DEADLINE_AFTER.match(draft.text[mention.end : mention.end + 4]):
        return None
    days = [now + timedelta(days=ahead) for ahead in range(15)]
    last = next((day for day in days if says(mention.when, day, now)), None)
    if last is None:
        return None
    for fact in check.facts_about(subjects):
        if (
            fact.name in _ESTIMATES
            and isinstance(fact.value, datetime)
            and fact.value.astimezone(check.evidence.zone).date() < last.date()
        ):
            return fact
    return None


_ESTIMATES = frozenset({"estimated_delivery_at", "expected_at"})


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
    has_clock = when.hour is not None or when.part is not None
    if has_clock and moment.utcoffset() == UTC.utcoffset(None):
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
