"""Trouble with an order: which rule fits it, and what could still be done about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from chatbot.llm.offline.phrases import HELP_QUERIES, LATE_QUERIES
from chatbot.llm.offline.seen import Seen, text, tracking_ids
from chatbot.llm.offline.target import Target
from chatbot.react.facts import parse_time
from chatbot.understanding.needs import Need, Question, Topic
from tools.contracts import ActionKind, Observation, ObservationStatus

WAITED = frozenset({Topic.LATE, Topic.NOT_RECEIVED, Topic.REFUND_LATE})
TROUBLE = frozenset(
    {
        Topic.DAMAGED,
        Topic.MISSING_ITEM,
        Topic.WRONG_ITEM,
        Topic.DELIVERED_NOT_RECEIVED,
        Topic.PAID_NO_ORDER,
    }
)
# Trouble with goods that are already there.
_WITH_GOODS = frozenset({Topic.DAMAGED, Topic.MISSING_ITEM, Topic.WRONG_ITEM})
_LATE = frozenset({Topic.LATE, Topic.NOT_RECEIVED})
# Where something else than a parcel on its way is late.
_OF_THEIR_OWN = frozenset({Topic.DELIVERED_NOT_RECEIVED, Topic.REFUND_LATE}) | (
    _WITH_GOODS | {Topic.PAID_NO_ORDER}
)
# So many characters are more than a greeting.
_LONG = {"zh": 10, "en": 30}
_ASKS = re.compile(
    r"[?？吗么呢]|怎么|什么|多少|如何|能不能|可不可以"
    r"|\b(?:how|what|which|when|where|why|can i|do you|is there|are there)\b",
    re.IGNORECASE,
)
# The help centre calls a parcel stuck after so long without a scan.
_STUCK = timedelta(hours=72)
_OVER = frozenset({"delivered", "returned"})


def is_on_its_way(parcel_status: str) -> bool:
    return parcel_status not in _OVER


def late_queries(question: Question, seen: Seen, target: Target) -> Iterator[str]:
    """What to search for where something is late: the rule for how late it is."""
    if not question.topics & _LATE or question.topics & _OF_THEIR_OWN:
        return
    states = {
        state for order in target.orders if (state := _delay(order, seen)) is not None
    }
    for state in ("failed", "stuck", "waiting"):
        if state in states:
            yield LATE_QUERIES[question.language][state]
            return


def named_queries(question: Question) -> Iterator[str]:
    """The names under which the help centre has what is always the same."""
    wishes = frozenset(question.needs) | question.topics
    for wish, query in HELP_QUERIES[question.language].items():
        if wish in wishes:
            yield query
            return


def checks(question: Question, seen: Seen, target: Target) -> Iterator[tuple[str, str]]:
    """Orders, each with the action of which the shop can say whether it is open."""
    for order in target.orders:
        found = seen.get("get_order", order)
        status = text(found.fields, "status") if found else None
        if question.topics & _LATE and status in ("unpaid", "paid"):
            yield order, ActionKind.CANCEL_ORDER.value
        elif question.topics & _WITH_GOODS and status == "delivered":
            yield order, ActionKind.RETURN_ITEMS.value


def _delay(order: str, seen: Seen) -> str | None:
    found = seen.get("get_order", order)
    if found is None or found.status is not ObservationStatus.OK:
        return None
    if text(found.fields, "status") in ("paid", "packed"):
        return "waiting"
    tracked = [
        one
        for number in tracking_ids(found)
        if (one := seen.get("track_shipment", number))
        and one.status is ObservationStatus.OK
    ]
    states = {_delay_of(one) for one in tracked} - {None}
    for state in ("failed", "stuck", "waiting"):
        if state in states:
            return state
    return None


def _delay_of(tracked: Observation) -> str | None:
    status = text(tracked.fields, "status") or ""
    if status == "delivery_failed":
        return "failed"
    if not is_on_its_way(status):
        return None
    last = parse_time(tracked.fields.get("last_event_at"))
    due = parse_time(tracked.fields.get("estimated_delivery_at"))
    now: datetime = tracked.observed_at.astimezone(UTC)
    if (last and now - last > _STUCK) or (due and due < now):
        return "stuck"
    return "waiting"


def asks_something(question: Question) -> bool:
    """Whether a message of no known need asks what an article may answer."""
    if question.needs != (Need.NONE,) or question.out_of_scope or question.fragment:
        return False
    if question.topics - {Topic.GREETING, Topic.THANKS}:
        return False
    return len(question.text) >= _LONG[question.language] and bool(
        _ASKS.search(question.text)
    )


def reads_help(question: Question) -> bool:
    """Whether a rule of the shop belongs into the answer, whatever the order says."""
    needs = frozenset(question.needs)
    return asks_something(question) or bool(
        needs & {Need.POLICY, Need.INVOICE, Need.RETURN}
        or question.topics
        & (TROUBLE | {Topic.REFUND_REQUEST, Topic.EXCHANGE, Topic.REFUND_LATE})
    )
