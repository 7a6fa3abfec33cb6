"""Facts and slots in sentences: what was found, what was not, from where, as of when.

The loop's honest endings tell slots, the offline model tells orders: both out of one
``Page``. Everything said here passes ``answer_covers_question()`` as far as it goes: a
test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, assert_never

from chatbot.react import words_en, words_zh
from chatbot.react.facts import canonical, parse_money
from chatbot.react.grounding.evidence import Evidence, zone_of
from chatbot.react.records import (
    OrderRecord,
    ParcelRecord,
    order_record,
    parcel_record,
)
from chatbot.react.types import Slot, SlotState
from chatbot.understanding.needs import Language, Need
from tools.contracts import Json, Observation, ObservationStatus

_WORDS: Mapping[Language, Any] = {"en": words_en, "zh": words_zh}
_MAX_LISTED = 10
_MAX_EXCERPT = 700
_ACTIONS = (Need.CANCEL, Need.CHANGE_ADDRESS, Need.RETURN)


def answer_from_slots(
    slots: Sequence[Slot],
    observations: Sequence[Observation],
    *,
    language: Language,
    time_zone: str,
) -> str:
    """The whole answer: each filled slot told, each other one admitted, and the time
    and source of what is said. "" where there are no slots."""
    page = Page(observations, language, time_zone)
    for order in dict.fromkeys(slot.order for slot in slots):
        page.tell([slot for slot in slots if slot.order == order])
    page.as_of()
    return page.text()


def orders_listed(
    observation: Observation, *, language: Language, time_zone: str
) -> str:
    """The customer's orders from a ``list_my_orders`` that was ok."""
    page = Page([observation], language, time_zone)
    page.list_orders(observation)
    page.as_of()
    return page.text()


def articles_quoted(
    observation: Observation, *, language: Language, time_zone: str
) -> str:
    """What the first fitting help article says, with its link."""
    page = Page([observation], language, time_zone)
    page.quote(observation)
    return page.text()


def as_clock(moment: datetime, *, language: Language, time_zone: str) -> str:
    """A time as the customer's clock shows it: "1 December, 18:32", "12月1日 18:32"."""
    here = moment.astimezone(zone_of(time_zone))
    return str(_WORDS[language].clock(here, here))


def as_money(value: Mapping[str, str] | None, *, language: Language) -> str:
    """An amount and its currency, "¥97.00" or "97.00 SEK"; "" where there is none."""
    money = parse_money(value)
    return str(_WORDS[language].money(money)) if money else ""


class Page:
    """An answer in the making: its paragraphs, and which observations they rest on."""

    def __init__(
        self, observations: Sequence[Observation], language: Language, time_zone: str
    ) -> None:
        self.evidence = Evidence(observations, zone_of(time_zone))
        self.words = _WORDS[language]
        self.now = self.evidence.now or datetime.now(UTC)
        self._paragraphs: list[list[str]] = [[]]
        self._said: set[str] = set()
        self._used: dict[str, None] = {}

    def text(self) -> str:
        blocks = (
            # A list stands on lines of its own.
            ("\n" if any("\n" in line for line in lines) else str(self.words.GAP)).join(
                lines
            )
            for lines in self._paragraphs
            if lines
        )
        return "\n".join(blocks)

    @property
    def tells_something(self) -> bool:
        return bool(self._said)

    def say(self, line: str, *observation_ids: str | None) -> None:
        """Add a sentence, once, and what it rests on."""
        if line and line not in self._said:
            self._said.add(line)
            self._paragraphs[-1].append(line)
        self._used.update(dict.fromkeys(key for key in observation_ids if key))

    def new_paragraph(self) -> None:
        self._paragraphs.append([])

    def as_of(self) -> None:
        """Say from where the facts so far are, and when that was; help has no date."""
        used = [self.evidence.by_id[key] for key in self._used]
        facts = [
            one
            for one in used
            if one.status is ObservationStatus.OK and one.tool != "search_help"
        ]
        if not facts:
            return
        latest = max(one.observed_at for one in facts).astimezone(self.evidence.zone)
        sources = list(dict.fromkeys(self._source(one.source) for one in facts))
        self.say(self.words.as_of(latest, self.now, sources))

    def _source(self, source: str) -> str:
        known: Mapping[str, str] = self.words.SOURCES
        return known.get(source.partition(":")[0], known["shop"])

    # ---- orders and parcels

    def record(self, order_id: str) -> OrderRecord:
        """What is known of an order, as anyone writes its number."""
        return order_record(self.evidence, canonical(order_id) or order_id)

    def parcel(self, order_id: str | None, tracking_id: str) -> ParcelRecord:
        tracking = canonical(tracking_id) or tracking_id
        return parcel_record(self.evidence, canonical(order_id), tracking)

    def failed(
        self,
        need: Need,
        observation: Observation,
        *,
        order: str | None = None,
        tracking: str | None = None,
    ) -> None:
        """Admit a lookup without a result: unknown, or not there."""
        if observation.status is ObservationStatus.NOT_FOUND:
            self.say(self.words.not_found(self.words.subject(order, tracking)))
            return
        what = self.words.asked(need, order, tracking)
        if observation.status is ObservationStatus.DENIED:
            self.say(self.words.denied(what))
        else:
            self.say(self.words.failed(what, self._source(observation.source)))

    def say_list(self, records: Iterable[OrderRecord]) -> None:
        """Name orders, each in a line of its own."""
        for record in records:
            self.new_paragraph()
            self.say(f"- {self.words.listed(record, self.now)}")

    # ---- slots

    def tell(self, slots: Sequence[Slot]) -> None:
        """All that is known and asked of one order."""
        order = canonical(slots[0].order)
        record = order_record(self.evidence, order) if order else None
        for slot in slots:
            match slot.state:
                case SlotState.FILLED:
                    self._filled(slot, record)
                case SlotState.UNFILLABLE:
                    self._unfillable(slot, record)
                case SlotState.OPEN:
                    self._open(slot)
                case _:
                    assert_never(slot.state)
        for slot in slots:
            if slot.need in _ACTIONS and slot.state is SlotState.FILLED:
                self.say(self.words.action(slot.need))

    def _filled(self, slot: Slot, record: OrderRecord | None) -> None:
        source = slot.observation_id
        if slot.need in (Need.POLICY, Need.INVOICE) or self._is_help(slot):
            self.quote(self.evidence.by_id[str(source)])
        elif slot.need in (Need.LOCATION, Need.ETA) or record is None:
            self._parcel(slot, record)
        elif slot.need is Need.TRACKING_ID:
            self.say(self.words.tracking(record), source)
        elif slot.need is Need.REFUND_STATUS:
            for refund in record.refunds:
                self.say(self.words.refund(refund, record.order_id, self.now), source)
        else:
            self._order(slot, record)

    def _is_help(self, slot: Slot) -> bool:
        found = self.evidence.by_id.get(slot.observation_id or "")
        return found is not None and found.tool == "search_help"

    def _order(self, slot: Slot, record: OrderRecord) -> None:
        if record.status:
            self.say(self.words.order(record, self.now), slot.observation_id)
        tracked = [one for one in record.parcels if one.was_tracked]
        if slot.need in (Need.ORDER_STATUS, Need.SHIPPED) and (
            tracked or not record.status
        ):
            for parcel in tracked:
                self.say(self.words.parcel(parcel, self.now), slot.observation_id)

    def _parcel(self, slot: Slot, record: OrderRecord | None) -> None:
        tracking = canonical(slot.tracking_id)
        if tracking is None:
            return
        order = canonical(record.order_id) if record else None
        parcel = parcel_record(self.evidence, order, tracking)
        self.say(self.words.parcel(parcel, self.now), slot.observation_id)
        if (
            slot.need is Need.LOCATION
            and not parcel.place
            and (parcel.status != "delivered")
        ):
            self.say(self.words.no_place(parcel))
        if slot.need is Need.ETA:
            self.say(self.words.arrival(parcel, self.now))

    def _unfillable(self, slot: Slot, record: OrderRecord | None) -> None:
        what = self.words.asked(slot.need, slot.order, slot.tracking_id)
        match slot.why:
            case "not_found":
                name = self.words.subject(slot.order, slot.tracking_id)
                self.say(self.words.not_found(name))
            case "denied":
                self.say(self.words.denied(what))
            case "missing_field":
                self._missing(slot, record, what)
            case _:
                source = self._source(slot.source or "shop")
                self.say(self.words.failed(what, source))

    def _missing(self, slot: Slot, record: OrderRecord | None, what: str) -> None:
        if slot.need in (Need.POLICY, Need.INVOICE):
            self.say(self.words.no_article())
        elif slot.need is Need.REFUND_STATUS and record is not None:
            self.say(self.words.no_refund(record.order_id), slot.observation_id)
        elif slot.need is Need.TRACKING_ID and record is not None:
            self.say(self.words.tracking(record), slot.observation_id)
        elif record is not None and not record.parcels and record.status:
            self.say(self.words.order(record, self.now), slot.observation_id)
            self.say(self._nothing_to_follow(slot, record, what))
        elif (tracking := canonical(slot.tracking_id)) is not None:
            order = canonical(record.order_id) if record else None
            parcel = parcel_record(self.evidence, order, tracking)
            self.say(self.words.parcel(parcel, self.now), slot.observation_id)
            if slot.need is Need.ETA:
                self.say(self.words.arrival(parcel, self.now))
            elif parcel.status != "delivered":
                self.say(self.words.no_place(parcel))
        else:
            self.say(self.words.no_field(what))

    def _nothing_to_follow(self, slot: Slot, record: OrderRecord, what: str) -> str:
        if slot.need is Need.LOCATION and record.status == "shipped":
            return str(self.words.tracking(record))
        if slot.need is Need.ETA:
            return str(self.words.no_arrival(record.order_id))
        return str(self.words.no_field(what))

    def _open(self, slot: Slot) -> None:
        if slot.need is Need.HUMAN:
            self.say(self.words.person())
            return
        what = self.words.asked(slot.need, slot.order, slot.tracking_id)
        self.say(self.words.unknown(what))

    def list_orders(self, observation: Observation) -> None:
        rows = observation.fields.get("orders")
        rows = rows if isinstance(rows, list) else []
        total = observation.fields.get("total_orders")
        records = [
            order_record(self.evidence, order)
            for order in self.evidence.orders[:_MAX_LISTED]
        ]
        count = total if isinstance(total, int) else len(rows)
        self.say(self.words.orders(records, count, self.now), observation.id)

    def quote(self, observation: Observation) -> None:
        article = _first_article(observation)
        if article is None:
            self.say(self.words.no_article())
            return
        title, excerpt, url = (
            str(article.get(name) or "") for name in ("title", "excerpt", "url")
        )
        self.say(self.words.article(title, _cut(excerpt), url), observation.id)


def _cut(excerpt: str) -> str:
    """At most so much of an article, ending with a whole sentence."""
    if len(excerpt) <= _MAX_EXCERPT:
        return excerpt
    kept = excerpt[:_MAX_EXCERPT]
    end = max(kept.rfind(mark) for mark in ("。", ". ", "！", "? ", "！"))
    return kept[: end + 1] if end > 0 else kept


def _first_article(observation: Observation) -> Mapping[str, Json] | None:
    articles = observation.fields.get("articles")
    for article in articles if isinstance(articles, list) else ():
        if isinstance(article, dict) and article.get("excerpt"):
            return article
    return None
