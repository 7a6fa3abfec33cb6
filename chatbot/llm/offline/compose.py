"""An answer out of what was observed: facts, then rules, then what can be done."""

from __future__ import annotations

from chatbot.llm.offline import changes
from chatbot.llm.offline.care import TROUBLE, WAITED, is_on_its_way
from chatbot.llm.offline.phrases import Phrases, phrases_for
from chatbot.llm.offline.seen import (
    NO_ANSWER,
    Seen,
    has_article,
    rows,
    text,
    tracking_ids,
)
from chatbot.llm.offline.target import Target
from chatbot.react import state as known
from chatbot.react.records import OrderRecord
from chatbot.react.types import AskCustomer, FinalAnswer, RunState
from chatbot.react.wording import Page
from chatbot.understanding.needs import Need, Question, Topic
from tools.contracts import Observation, ObservationStatus

_NOT_SHIPPED = frozenset({"unpaid", "paid", "packed"})
_SETTLED = frozenset({"delivered", "cancelled", "returned", "refunded"})
_PLACED = frozenset({Need.LOCATION, Need.ORDER_STATUS, Need.SHIPPED, Need.NONE})
_RULES = frozenset({Need.POLICY, Need.INVOICE, Need.RETURN})
_ABOUT_AN_ORDER = (
    Need.ORDER_STATUS,
    Need.SHIPPED,
    Need.LOCATION,
    Need.ETA,
    Need.TRACKING_ID,
    Need.REFUND_STATUS,
    Need.CANCEL,
    Need.CHANGE_ADDRESS,
)


def answer(state: RunState, seen: Seen, target: Target) -> FinalAnswer | AskCustomer:
    """The answer to the question from the observations; or what to ask instead."""
    writer = _Writer(state, seen, target)
    writer.write()
    if not writer.page.tells_something:
        return AskCustomer(writer.say.not_understood)
    return FinalAnswer(writer.page.text())


def ask_which(state: RunState, seen: Seen, target: Target) -> AskCustomer:
    """The question which order is meant, with what tells the choices apart."""
    writer = _Writer(state, seen, target)
    writer.ask()
    return AskCustomer(writer.page.text(), target.choices)


class _Writer:
    def __init__(self, state: RunState, seen: Seen, target: Target) -> None:
        self.question: Question = known.question_of(state)
        self.seen = seen
        self.target = target
        self.say: Phrases = phrases_for(
            self.question.language, guest=state.background.guest is not None
        )
        self.page = Page(
            known.observations(state),
            self.question.language,
            state.background.time_zone,
        )
        self.needs = frozenset(self.question.needs)
        self.topics = self.question.topics

    # A plain answer, after one was sent back, is the same without its trimmings.
    def write(self) -> None:
        plain = self.seen.sent_back > 0
        if not plain and (self.seen.by_call or self.target.orders):
            self._sympathy()
        self._facts()
        if not plain:
            self.page.as_of()
        self.page.new_paragraph()
        self._help()
        self.page.new_paragraph()
        self._options()
        self._cannot()
        if not plain:
            self._offer()

    def ask(self) -> None:
        self._sympathy()
        if self.seen.help and has_article(self.seen.help):
            self.page.quote(self.seen.help)
        self.page.new_paragraph()
        self.page.say(self.say.which_order)
        self.page.say_list(self.page.record(one) for one in self.target.choices)

    def _sympathy(self) -> None:
        if self.topics & TROUBLE:
            self.page.say(self.say.sorry_trouble)
        elif self.topics & WAITED:
            self.page.say(self.say.sorry_late)

    def _facts(self) -> None:
        listed = self.seen.listed
        if listed and listed.status is not ObservationStatus.OK:
            self.page.failed(Need.ORDER_STATUS, listed)
        elif listed and (self.target.overview or not self.seen.own_orders):
            self.page.list_orders(listed)
        if self.target.chosen:
            said = self.say.newest if self.target.newest else self.say.chosen
            self.page.say(said.format(order=self.target.orders[0]))
        for order in self.target.orders:
            self._order(order)
        for tracking in self.question.tracking_numbers:
            if tracked := self.seen.get("track_shipment", tracking):
                self._parcel(None, tracking, tracked)

    # ---- orders

    def _order(self, order: str) -> None:
        found = self.seen.get("get_order", order)
        if found is None:
            return
        needs = frozenset(self.question.needs_of(order))
        if found.status is not ObservationStatus.OK:
            self._order_not_read(order, found, needs)
            return
        record = self.page.record(order)
        self.page.say(self.page.words.order(record, self.page.now), found.id)
        if record.status not in _NOT_SHIPPED or record.has_shipped:
            self._parcels(record, found, needs)
        else:
            self._not_shipped(record, needs)
        if refund := self.seen.get("get_refund", order):
            self._refunds(record, refund)

    def _order_not_read(
        self, order: str, found: Observation, needs: frozenset[Need]
    ) -> None:
        """Admit it; what the list of orders says of this one is known all the same."""
        asked = [need for need in _ABOUT_AN_ORDER if need in needs]
        record = self.page.record(order)
        if record.status and self.seen.listed:
            sentence = self.page.words.order(record, self.page.now)
            self.page.say(sentence, self.seen.listed.id)
            asked = [need for need in asked if need is not Need.ORDER_STATUS]
            if not asked:
                return
        need = asked[0] if asked else Need.ORDER_STATUS
        self.page.failed(need, found, order=order)

    def _not_shipped(self, record: OrderRecord, needs: frozenset[Need]) -> None:
        if self.topics & WAITED and record.status != "unpaid":
            self.page.say(self.page.words.waiting(record, self.page.now))
        if Need.TRACKING_ID in needs:
            self.page.say(self.page.words.tracking(record))
        if Need.ETA in needs:
            self.page.say(self.page.words.no_arrival(record.order_id))

    def _parcels(
        self, record: OrderRecord, found: Observation, needs: frozenset[Need]
    ) -> None:
        words = self.page.words
        numbers = tracking_ids(found)
        if len(numbers) + record.unnumbered > 1:
            self.page.say(words.several_parcels(record), found.id)
        wanted = needs & _PLACED or Need.TRACKING_ID in needs
        if not numbers and wanted and record.status == "shipped":
            self.page.say(words.tracking(record), found.id)
        for number in numbers:
            if tracked := self.seen.get("track_shipment", number):
                self._parcel(record.order_id, number, tracked)
            elif Need.TRACKING_ID in needs:
                self.page.say(words.tracking(record), found.id)
        estimated = any(parcel.was_tracked for parcel in record.parcels)
        if Need.ETA in needs and not estimated and record.status not in _SETTLED:
            self.page.say(words.no_arrival(record.order_id))

    # ---- parcels

    def _parcel(self, order: str | None, number: str, tracked: Observation) -> None:
        if tracked.status is not ObservationStatus.OK:
            self.page.failed(Need.LOCATION, tracked, tracking=number)
            return
        words, now = self.page.words, self.page.now
        order = order or text(tracked.fields, "order_id")
        parcel = self.page.parcel(order, number)
        self.page.say(words.parcel(parcel, now), tracked.id)
        if not is_on_its_way(parcel.status):
            return
        if not parcel.place and Need.LOCATION in self.needs:
            self.page.say(words.no_place(parcel))
        if self.topics & WAITED or Need.ETA in self.needs:
            self.page.say(words.standstill(parcel, now))
        if parcel.estimated_delivery_at or Need.ETA in self.needs:
            self.page.say(words.arrival(parcel, now), tracked.id)

    # ---- refunds

    def _refunds(self, record: OrderRecord, found: Observation) -> None:
        words = self.page.words
        if found.status is not ObservationStatus.OK:
            self.page.failed(Need.REFUND_STATUS, found, order=record.order_id)
            return
        if not rows(found.fields, "refunds"):
            self.page.say(words.no_refund(record.order_id), found.id)
        for refund in record.refunds:
            sentence = words.refund(refund, record.order_id, self.page.now)
            self.page.say(sentence, found.id)

    # ---- what else there is to say

    def _help(self) -> None:
        found = self.seen.help
        if found is None:
            return
        if found.status is not ObservationStatus.OK:
            self.page.failed(Need.POLICY, found)
        elif has_article(found) or self.needs & _RULES:
            # A rule that nobody asked for is missed by nobody.
            self.page.quote(found)

    def _options(self) -> None:
        for order in self.target.orders:
            checked = self.seen.get("check_action", order)
            if checked and checked.status in NO_ANSWER:
                action = checked.arguments.get("action")
                need = changes.need_of(str(action))
                self.page.failed(need, checked, order=order)
            if checked and checked.fields.get("eligible") is True:
                action = text(checked.fields, "kind") or ""
                self.page.say(self.page.words.option(action, order))

    def _cannot(self) -> None:
        language = self.question.language
        for sentence in changes.refusals(self.seen, self.target, language):
            self.page.say(sentence)
        for need, failed, order in changes.not_known(self.seen, self.target):
            self.page.failed(need, failed, order=order)
        if changes.takes_back(self.question.text):
            return
        if changes.were_looked_at(self.seen, self.target) or self.topics & TROUBLE:
            return
        if self.target.orders and not self._found_one():
            return
        wishes = self.needs | self.topics
        if Topic.EXCHANGE in wishes or Topic.REFUND_REQUEST in wishes:
            wishes = wishes - {Need.RETURN}
        for wish, sentence in self.say.cannot.items():
            if wish in wishes:
                self.page.say(sentence)

    def _found_one(self) -> bool:
        found = (self.seen.get("get_order", order) for order in self.target.orders)
        return any(one and one.status is ObservationStatus.OK for one in found)

    def _offer(self) -> None:
        if self.seen.failed:
            self.page.say(self.say.try_again)
            return
        if Topic.DELIVERED_NOT_RECEIVED in self.topics and self.target.orders:
            self.page.say(self.say.offer_enquiry)
            return
        wishes = self.needs | self.topics
        if self.topics & (TROUBLE | WAITED) or wishes & set(self.say.cannot):
            self.page.say(self.say.offer_person)
