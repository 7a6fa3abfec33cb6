"""An answer out of what was observed, sentence by sentence; nothing else goes in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from chatbot.llm.offline.phrases import Phrases, phrases_for
from chatbot.llm.offline.seen import (
    NOT_THERE,
    Seen,
    has_article,
    rows,
    text,
    tracking_ids,
)
from chatbot.llm.offline.target import Target
from chatbot.react.facts import parse_money, parse_time
from chatbot.react.grounding.evidence import zone_of
from chatbot.react.types import AskCustomer, FinalAnswer, RunState
from chatbot.understanding.needs import Language, Need, Question, Topic
from tools.contracts import Json, Observation, ObservationStatus

MAX_LISTED = 8
_NOT_SHIPPED = frozenset({"unpaid", "paid", "packed"})
_SETTLED = frozenset({"delivered", "cancelled", "returned", "refunded"})
_PLACED = frozenset({Need.LOCATION, Need.ORDER_STATUS, Need.SHIPPED, Need.NONE})
_WAITED = frozenset({Topic.LATE, Topic.NOT_RECEIVED, Topic.REFUND_LATE})
_TROUBLE = frozenset(
    {
        Topic.DAMAGED,
        Topic.MISSING_ITEM,
        Topic.WRONG_ITEM,
        Topic.DELIVERED_NOT_RECEIVED,
        Topic.PAID_NO_ORDER,
    }
)
_READS_HELP = frozenset({Need.POLICY, Need.INVOICE, Need.RETURN})


def answer(state: RunState, seen: Seen, target: Target) -> FinalAnswer | AskCustomer:
    """The answer to the question from the observations; or what to ask instead."""
    question = state.question
    if question is None:
        raise ValueError("the run has no question yet")
    writer = _Writer(question, seen, target, state.background.time_zone)
    sentences = list(writer.sentences())
    if not sentences:
        return AskCustomer(phrases_for(question.language).not_understood)
    joint = "" if question.language == "zh" else " "
    return FinalAnswer(joint.join(one for one in sentences if one))


def sympathy(question: Question) -> str:
    """A word of regret where the question tells of trouble; else ""."""
    say = phrases_for(question.language)
    if question.topics & _TROUBLE:
        return say.sorry_trouble
    return say.sorry_late if question.topics & _WAITED else ""


class _Writer:
    def __init__(
        self, question: Question, seen: Seen, target: Target, time_zone: str
    ) -> None:
        self.question = question
        self.seen = seen
        self.target = target
        self.zone = zone_of(time_zone)
        self.say: Phrases = phrases_for(question.language)
        self.needs = frozenset(question.needs)

    # A plain answer, after one was sent back, is the same without its trimmings.
    def sentences(self) -> Iterator[str]:
        facts = list(self._facts())
        plain = self.seen.sent_back > 0
        if facts and not plain:
            yield sympathy(self.question)
        yield from facts
        yield from self._help()
        yield from self._cannot()
        if not plain:
            yield from self._offer(facts)
            yield from self._as_of()

    def _facts(self) -> Iterator[str]:
        listed = self.seen.listed
        if listed and listed.status is not ObservationStatus.OK:
            yield self.say.list_unknown
        elif listed and not self.seen.own_orders:
            yield self.say.no_orders
        elif self.target.overview:
            yield from self._overview()
        if self.target.chosen:
            said = self.say.newest if self.target.newest else self.say.chosen
            yield said.format(order=self.target.orders[0])
        for order in self.target.orders:
            yield from self._order(order)
        for tracking in self.question.tracking_numbers:
            if tracked := self.seen.get("track_shipment", tracking):
                yield from self._parcel(tracking, tracked)

    # ---- orders

    def _overview(self) -> Iterator[str]:
        yield self.say.newest_orders
        for one in self.seen.own_orders[:MAX_LISTED]:
            order = text(one, "order_id") or ""
            yield "\n· " + self._state(order, text(one, "status"), {})

    def _order(self, order: str) -> Iterator[str]:
        found = self.seen.get("get_order", order)
        if found is None:
            return
        if found.status is not ObservationStatus.OK:
            missing = found.status in NOT_THERE
            sentence = self.say.order_missing if missing else self.say.order_unknown
            yield sentence.format(order=order)
            return
        order = text(found.fields, "order_id") or order
        status = text(found.fields, "status")
        yield self._state(order, status, found.fields)
        if status not in _NOT_SHIPPED:
            yield from self._parcels(order, found)
        elif Need.TRACKING_ID in self.needs:
            yield self.say.no_tracking_yet.format(order=order)
        will_come = status not in _SETTLED
        if will_come and Need.ETA in self.needs and not self._has_estimate(found):
            yield self.say.no_estimate.format(order=order)
        if refund := self.seen.get("get_refund", order):
            yield from self._refunds(order, refund)

    def _state(self, order: str, status: str | None, fields: Mapping[str, Json]) -> str:
        status = status or ""
        at = self._time(fields.get(f"{status}_at"))
        if at and status in self.say.order_states_at:
            return self.say.order_states_at[status].format(order=order, at=at)
        return self.say.order_states[status].format(order=order)

    # ---- parcels

    def _parcels(self, order: str, found: Observation) -> Iterator[str]:
        numbers = tracking_ids(found)
        parcels = rows(found.fields, "parcels")
        if len(parcels) > 1:
            yield self.say.several_parcels.format(order=order, count=len(parcels))
        wanted = self.needs & _PLACED or Need.TRACKING_ID in self.needs
        if not numbers and wanted and text(found.fields, "status") == "shipped":
            yield self.say.no_tracking.format(order=order)
        for number in numbers:
            tracked = self.seen.get("track_shipment", number)
            if tracked:
                yield from self._parcel(number, tracked)
            elif Need.TRACKING_ID in self.needs:
                yield self.say.tracking_is.format(order=order, tracking=number)

    def _parcel(self, number: str, tracked: Observation) -> Iterator[str]:
        if tracked.status is not ObservationStatus.OK:
            missing = tracked.status in NOT_THERE
            sentence = self.say.parcel_missing if missing else self.say.parcel_unknown
            yield sentence.format(tracking=number)
            return
        fields = tracked.fields
        place = text(fields, "place")
        words = {
            "tracking": text(fields, "tracking_id") or number,
            "carrier": self._in_brackets(text(fields, "carrier_name")),
            "state": self.say.parcel_states.get(text(fields, "status") or "", ""),
            "place": place or "",
            "at": self._in_brackets(self._time(fields.get("last_event_at"))),
        }
        sentence = self.say.parcel_at_place if place else self.say.parcel
        yield sentence.format(**words)
        if not place and Need.LOCATION in self.needs:
            yield self.say.no_place.format(tracking=words["tracking"])
        expected = self._time(fields.get("estimated_delivery_at"))
        if expected and text(fields, "status") != "delivered":
            yield self.say.expected.format(at=expected)

    def _has_estimate(self, order: Observation) -> bool:
        tracked = (
            self.seen.get("track_shipment", number) for number in tracking_ids(order)
        )
        return any(
            one.fields.get("estimated_delivery_at") or one.fields.get("delivered_at")
            for one in tracked
            if one
        )

    # ---- refunds

    def _refunds(self, order: str, found: Observation) -> Iterator[str]:
        if found.status is not ObservationStatus.OK:
            sentence = (
                self.say.no_refund
                if found.status in NOT_THERE
                else self.say.refund_unknown
            )
            yield sentence.format(order=order)
            return
        refunds = rows(found.fields, "refunds")
        if not refunds:
            yield self.say.no_refund.format(order=order)
        for refund in refunds:
            status = text(refund, "status") or ""
            yield self.say.refund.format(
                order=order,
                amount=self._money(refund.get("amount")),
                at=self._time(refund.get("requested_at")),
                state=self.say.refund_states.get(status, status),
            )
            expected = self._time(refund.get("expected_at"))
            if expected and status not in ("settled", "declined"):
                yield self.say.refund_expected.format(at=expected)

    # ---- what else there is to say

    def _cannot(self) -> Iterator[str]:
        wishes = self.needs | self.question.topics
        if Topic.EXCHANGE in wishes or Topic.REFUND_REQUEST in wishes:
            wishes = wishes - {Need.RETURN}
        for wish, sentence in self.say.cannot.items():
            if wish in wishes:
                yield sentence

    def _help(self) -> Iterator[str]:
        found = self.seen.help
        if found is None:
            return
        if found.status is not ObservationStatus.OK:
            missing = found.status in NOT_THERE
            yield self.say.no_article if missing else self.say.help_unknown
            return
        articles = rows(found.fields, "articles")
        if not articles:
            yield self.say.no_article
        for article in articles[:1]:
            yield self.say.article.format(
                title=text(article, "title") or "",
                excerpt=" ".join((text(article, "excerpt") or "").split()),
                url=text(article, "url") or "",
            )

    def _offer(self, facts: Sequence[str]) -> Iterator[str]:
        topics = self.question.topics
        if Topic.DELIVERED_NOT_RECEIVED in topics and facts:
            yield self.say.delivered_not_received
            return
        helpless = self.seen.help is not None and not self._found_an_article()
        wishes = self.needs | topics
        if helpless or topics & (_TROUBLE | _WAITED) or wishes & set(self.say.cannot):
            yield self.say.offer_person

    def _found_an_article(self) -> bool:
        found = self.seen.help
        return found is not None and has_article(found)

    def _as_of(self) -> Iterator[str]:
        """When the oldest fact of the answer was true, in the customer's zone."""
        times = [
            one.observed_at
            for (tool, _), one in self.seen.by_call.items()
            if tool != "search_help" and one.status is ObservationStatus.OK
        ]
        if times:
            moment = min(times).astimezone(self.zone)
            yield self.say.as_of.format(at=date_words(moment, self.question.language))

    # ---- forms

    def _time(self, value: Json) -> str:
        moment = parse_time(value)
        if moment is None:
            return ""
        return date_words(moment.astimezone(self.zone), self.question.language)

    def _money(self, value: Json) -> str:
        money = parse_money(value)
        if money is None:
            return ""
        if self.question.language == "zh" and money.currency == "CNY":
            return f"{money.amount} 元"
        return f"{money.amount} {money.currency}".strip()

    def _in_brackets(self, words: str | None) -> str:
        if not words:
            return ""
        return f"（{words}）" if self.question.language == "zh" else f" ({words})"


def date_words(moment: datetime, language: Language) -> str:
    if language == "zh":
        return f"{moment.month}月{moment.day}日 {moment:%H:%M}"
    return f"{moment.day} {moment:%B}, {moment:%H:%M}"
