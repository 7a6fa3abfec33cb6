"""The observations of a run, arranged for asking what they prove."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from zoneinfo import ZoneInfo

from chatbot.react.facts import Fact, canonical, facts_of
from tools.contracts import Json, Observation, ObservationStatus


def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name; UTC where the name is none."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return UTC


class Evidence:
    """What the observations of one run say, by order and by parcel.

    Where the same call was made twice, the last one that was ok counts; only where none
    was, the last failure does. ``written`` are numbers as the customer wrote them.
    """

    def __init__(
        self,
        observations: Sequence[Observation],
        zone: tzinfo,
        written: Iterable[str] = (),
    ) -> None:
        self.zone = zone
        self.written: Mapping[str, str] = {
            key: number.strip() for number in written if (key := canonical(number))
        }
        self.observations = _latest(observations)
        self.ok = tuple(
            one for one in self.observations if one.status is ObservationStatus.OK
        )
        raw = tuple(fact for one in self.ok for fact in facts_of(one))
        self.order_of_parcel = _order_of_parcel(raw)
        tracked = {fact.tracking for fact in raw if fact.tool == "track_shipment"}
        self.facts = tuple(
            self._with_order(fact)
            for fact in raw
            # Of a parcel that the carrier was asked about, the shop's copy is stale.
            if not (
                fact.name == "status" and _is_copy(fact) and fact.tracking in tracked
            )
        )
        self.by_id: Mapping[str, Observation] = {one.id: one for one in observations}

    def _with_order(self, fact: Fact) -> Fact:
        if fact.order or not fact.tracking:
            return fact
        order = self.order_of_parcel.get(fact.tracking)
        return _about(fact, order) if order else fact

    @cached_property
    def now(self) -> datetime | None:
        """The time of the latest observation, in the customer's zone."""
        times = [one.observed_at for one in self.by_id.values()]
        return max(times).astimezone(self.zone) if times else None

    @cached_property
    def spelling(self) -> Mapping[str, str]:
        """Canonical number -> as the shop writes it."""
        return {
            key: str(fact.value)
            for fact in self.facts
            if fact.kind in ("order_number", "tracking_number", "refund_number")
            and (key := canonical(fact.value))
        }

    @cached_property
    def orders(self) -> tuple[str, ...]:
        """The canonical orders that an observation names, in the order seen."""
        return _unique(
            key
            for fact in self.facts
            if fact.kind == "order_number" and (key := canonical(fact.value))
        )

    @cached_property
    def articles(self) -> tuple[Fact, ...]:
        """Texts of the help centre: the only ones that a policy may rest on."""
        return tuple(fact for fact in self.facts if fact.tool == "search_help")

    def about(self, subject: Subject) -> Sequence[Fact]:
        """The facts about one order or parcel."""
        return self._by_subject.get(subject, ())

    @cached_property
    def _by_subject(self) -> Mapping[Subject, Sequence[Fact]]:
        found: dict[Subject, list[Fact]] = {}
        for fact in self.facts:
            if fact.order:
                found.setdefault(Subject(order=fact.order), []).append(fact)
            if fact.tracking:
                found.setdefault(
                    Subject(order=fact.order, tracking=fact.tracking), []
                ).append(fact)
        return found

    def subject_of(self, number: str) -> Subject | None:
        """What an observed canonical number stands for, or None."""
        if number in self._parcels:
            return Subject(self.order_of_parcel.get(number), number)
        if order := self._order_of_refund.get(number):
            return Subject(order)
        return Subject(number) if number in self.orders else None

    @cached_property
    def _order_of_refund(self) -> Mapping[str, str]:
        return {
            key: fact.order
            for fact in self.facts
            if fact.kind == "refund_number"
            and fact.order
            and (key := canonical(fact.value))
        }

    @cached_property
    def _parcels(self) -> frozenset[str]:
        return frozenset(fact.tracking for fact in self.facts if fact.tracking)

    def parcels_of(self, order: str) -> tuple[str, ...]:
        """The canonical tracking numbers of an order."""
        return _unique(
            fact.tracking
            for fact in self.about(Subject(order))
            if fact.kind == "tracking_number" and fact.tracking
        )

    def calls(self, tool: str, argument: str, number: str) -> tuple[Observation, ...]:
        """The observations of this tool asked about this canonical number."""
        return tuple(
            one
            for one in self.observations
            if one.tool == tool and canonical(one.arguments.get(argument)) == number
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """An order, or one parcel of it; numbers are canonical."""

    order: str | None = None
    tracking: str | None = None


def _is_copy(fact: Fact) -> bool:
    return "parcels[" in fact.path and fact.tool != "track_shipment"


def _about(fact: Fact, order: str) -> Fact:
    return Fact(
        kind=fact.kind,
        name=fact.name,
        path=fact.path,
        value=fact.value,
        observation_id=fact.observation_id,
        tool=fact.tool,
        order=order,
        tracking=fact.tracking,
    )


def _order_of_parcel(facts: Iterable[Fact]) -> Mapping[str, str]:
    return {fact.tracking: fact.order for fact in facts if fact.tracking and fact.order}


def _latest(observations: Sequence[Observation]) -> tuple[Observation, ...]:
    kept: dict[tuple[str, str], Observation] = {}
    for one in observations:
        key = (one.tool, _canonical_arguments(one.arguments))
        before = kept.get(key)
        failed = one.status is not ObservationStatus.OK
        if before and before.status is ObservationStatus.OK and failed:
            continue
        kept[key] = one
    return tuple(kept.values())


def _canonical_arguments(arguments: Mapping[str, Json]) -> str:
    return json.dumps(
        {name: canonical(value) or value for name, value in arguments.items()},
        sort_keys=True,
        default=str,
    )


def _unique(items: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))
