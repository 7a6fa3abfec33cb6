"""What the observations of a run say of one order, put together from several tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from chatbot.react.facts import Fact, Money
from chatbot.react.grounding.evidence import Evidence, Subject
from chatbot.react.grounding.status_words import State
from chatbot.react.grounding.statuses import proof_of


@dataclass(frozen=True, slots=True)
class ParcelRecord:
    """``status`` is the carrier's where the parcel was tracked, else the shop's.

    ``hides_place``: who asks may not see where it is, so that nothing is known of it.
    """

    tracking_id: str
    carrier: str = ""
    status: str = ""
    place: str = ""
    last_event_at: datetime | None = None
    estimated_delivery_at: datetime | None = None
    delivered_at: datetime | None = None
    was_tracked: bool = False
    hides_place: bool = False


@dataclass(frozen=True, slots=True)
class RefundRecord:
    status: str
    amount: Money | None = None
    requested_at: datetime | None = None
    settled_at: datetime | None = None
    expected_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OrderRecord:
    """Times are in the customer's zone; what was not observed is empty or None.

    ``has_shipped``: something of it has left, whatever the order's own status says.
    ``unnumbered`` counts its parcels without a tracking number.
    """

    order_id: str
    status: str = ""
    placed_at: datetime | None = None
    paid_at: datetime | None = None
    shipped_at: datetime | None = None
    delivered_at: datetime | None = None
    cancelled_at: datetime | None = None
    total: Money | None = None
    parcels: tuple[ParcelRecord, ...] = ()
    refunds: tuple[RefundRecord, ...] = ()
    has_shipped: bool = False
    unnumbered: int = 0


def order_record(evidence: Evidence, order: str) -> OrderRecord:
    """The record of a canonical order number; all but empty where nothing was seen."""
    facts = evidence.about(Subject(order))
    own = [fact for fact in facts if _is_own(fact)]
    numbers = evidence.parcels_of(order)
    return OrderRecord(
        order_id=evidence.spelling.get(order, order),
        status=_text(own, "status"),
        placed_at=_time(own, "placed_at", evidence),
        paid_at=_time(own, "paid_at", evidence),
        shipped_at=_time(own, "shipped_at", evidence),
        delivered_at=_time(own, "delivered_at", evidence),
        cancelled_at=_time(own, "cancelled_at", evidence),
        total=_money(own, "total"),
        parcels=tuple(parcel_record(evidence, order, tracking) for tracking in numbers),
        refunds=tuple(_refunds(facts, evidence)),
        has_shipped=proof_of(State.SHIPPED, negated=False, facts=facts) is not None,
        unnumbered=max(0, _parcel_rows(facts) - len(numbers)),
    )


def parcel_record(evidence: Evidence, order: str | None, tracking: str) -> ParcelRecord:
    facts = [
        fact
        for fact in evidence.about(Subject(order, tracking))
        if "events[" not in fact.path and "items[" not in fact.path
    ]
    tracked = [fact for fact in facts if fact.tool == "track_shipment"]
    return ParcelRecord(
        tracking_id=evidence.spelling.get(tracking, tracking),
        carrier=_text(facts, "carrier_name"),
        status=_text(tracked, "status") or _text(facts, "status"),
        place=_text(tracked, "place"),
        last_event_at=_time(tracked, "last_event_at", evidence),
        estimated_delivery_at=_time(tracked, "estimated_delivery_at", evidence),
        delivered_at=_time(tracked, "delivered_at", evidence),
        was_tracked=bool(tracked),
        hides_place=bool(tracked) and not _tells_places(evidence),
    )


def _tells_places(evidence: Evidence) -> bool:
    """A place that is not known is told as null; one that is not shown is left out."""
    return any(
        "place" in observation.fields
        for observation in evidence.observations
        if observation.tool == "track_shipment"
    )


def _parcel_rows(facts: Iterable[Fact]) -> int:
    rows = {fact.path.partition(".")[0] for fact in facts if fact.tool == "get_order"}
    return sum(row.startswith("parcels[") for row in rows)


def _refunds(facts: Iterable[Fact], evidence: Evidence) -> Iterable[RefundRecord]:
    by_refund: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if fact.tool == "get_refund" and fact.path.startswith("refunds["):
            row = fact.path.partition(".")[0]
            by_refund.setdefault((fact.observation_id, row), []).append(fact)
    for row_facts in by_refund.values():
        yield RefundRecord(
            status=_text(row_facts, "status"),
            amount=_money(row_facts, "amount"),
            requested_at=_time(row_facts, "requested_at", evidence),
            settled_at=_time(row_facts, "settled_at", evidence),
            expected_at=_time(row_facts, "expected_at", evidence),
        )


def _is_own(fact: Fact) -> bool:
    """A field of the order itself, not of a parcel, a line or a refund in it."""
    if fact.tool == "list_my_orders":
        return fact.path.count("[") == 1
    return fact.tool == "get_order" and "[" not in fact.path


def _text(facts: Sequence[Fact], name: str) -> str:
    for fact in facts:
        if fact.name == name and isinstance(fact.value, str):
            return fact.value.strip()
    return ""


def _time(facts: Sequence[Fact], name: str, evidence: Evidence) -> datetime | None:
    for fact in facts:
        if fact.name == name and isinstance(fact.value, datetime):
            return fact.value.astimezone(evidence.zone)
    return None


def _money(facts: Sequence[Fact], name: str) -> Money | None:
    for fact in facts:
        if fact.name == name and isinstance(fact.value, Money):
            return fact.value
    return None
