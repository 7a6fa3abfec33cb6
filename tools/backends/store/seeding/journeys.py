"""A parcel's way from the warehouse: what its carrier reports, where and when."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tools.backends.store.seeding.places import (
    EXPORT,
    FIRST_HUB,
    MIDDLE_HUB,
    WAREHOUSE,
    Place,
    Town,
)
from tools.backends.store.seeding.stories import Way
from tools.contracts import ParcelStatus

HOUR = timedelta(hours=1)
# A parcel of which nothing was heard for so long is stuck, by the shop's own rules.
SILENCE = 100 * HOUR
_MOVING = (ParcelStatus.PICKED_UP, ParcelStatus.IN_TRANSIT)


@dataclass(frozen=True, slots=True)
class Report:
    """One line of a carrier, ``after`` so many hours from the dispatch."""

    after: float
    status: ParcelStatus
    place: Place
    zh: str
    en: str

    @property
    def text(self) -> str:
        """In the language of the place, as carriers write it."""
        return self.zh if self.place.time_zone == "Asia/Shanghai" else self.en


def reports(town: Town, way: Way, chance: random.Random) -> Sequence[Report]:
    """What was reported until the parcel came to where its ``way`` says it is."""
    if way.status is ParcelStatus.PENDING:
        return ()
    there = _way_there(town, chance)
    if way.status in _MOVING:
        # Far enough to have left, and not yet in the customer's own town.
        middle = [report for report in there if report.status is way.status]
        return there[: there.index(middle[-1 if len(middle) < 3 else -2]) + 1]
    return [*there, *_end(town, way.status, there[-1].after)]


def moments(
    told: Sequence[Report], *, shipped_at: datetime
) -> Sequence[tuple[Report, datetime]]:
    return [(report, shipped_at + report.after * HOUR) for report in told]


def _way_there(town: Town, chance: random.Random) -> list[Report]:
    slow = chance.uniform(0.85, 1.1)
    steps = _abroad(town, town.gateway) if town.gateway else _at_home(town)
    return [
        Report(round(after * slow, 1), status, place, zh, en)
        for after, status, place, zh, en in steps
    ]


_Step = tuple[float, ParcelStatus, Place, str, str]


def _at_home(town: Town) -> list[_Step]:
    long = 24.0 * town.days
    steps: list[_Step] = [
        (2, ParcelStatus.PICKED_UP, WAREHOUSE, "快件已由快递员揽收", ""),
        (6, ParcelStatus.IN_TRANSIT, FIRST_HUB, "快件已到达转运中心", ""),
        (8, ParcelStatus.IN_TRANSIT, FIRST_HUB, "快件已从转运中心发出", ""),
    ]
    if town.days > 2:
        halfway = long * 0.5
        steps.append(
            (halfway, ParcelStatus.IN_TRANSIT, MIDDLE_HUB, "快件已到达转运中心", "")
        )
    return [
        *steps,
        (long - 8, ParcelStatus.IN_TRANSIT, town.hub, "快件已到达分拨中心", ""),
    ]


def _abroad(town: Town, gate: Place) -> list[_Step]:
    way, hub = ParcelStatus.IN_TRANSIT, town.hub
    return [
        (3, ParcelStatus.PICKED_UP, WAREHOUSE, "快件已揽收", ""),
        (9, way, FIRST_HUB, "快件已到达转运中心", ""),
        (30, way, EXPORT, "快件已交出口海关", ""),
        (44, way, EXPORT, "出口清关完成，航班已起飞", ""),
        (96, way, gate, "", "Arrived in destination country, customs clearance"),
        (132, way, gate, "", "Customs clearance completed"),
        (180, way, hub, "", "Arrived at local depot"),
    ]


def _end(town: Town, status: ParcelStatus, after: float) -> list[Report]:
    home = town.place
    out = Report(
        after + 6, ParcelStatus.OUT_FOR_DELIVERY, home,
        "快递员正在派送，请保持电话畅通", "Out for delivery",
    )  # fmt: skip
    if status is ParcelStatus.OUT_FOR_DELIVERY:
        return [out]
    if status is ParcelStatus.DELIVERED:
        return [out, Report(after + 10, status, home, "快件已签收", "Delivered")]
    failed = Report(
        after + 11, ParcelStatus.DELIVERY_FAILED, home,
        "派送未成功：收件地址无人", "Delivery attempt failed: nobody at home",
    )  # fmt: skip
    if status is ParcelStatus.DELIVERY_FAILED:
        return [out, failed]
    turned = Report(
        after + 40, ParcelStatus.RETURNING, town.hub,
        "快件正在退回寄件人", "Return to sender",
    )  # fmt: skip
    if status is ParcelStatus.RETURNING:
        return [out, failed, turned]
    home_again = Report(
        2 * after + 60, ParcelStatus.RETURNED, WAREHOUSE, "退件已由仓库签收", ""
    )
    return [out, failed, turned, home_again]
