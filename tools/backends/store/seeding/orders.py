"""Orders that tell a story, with parcels, money and returns that agree with it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from tools.backends.store.models import (
    Address,
    Customer,
    Order,
    OrderLine,
    Parcel,
    PaymentMethod,
    TrackingEvent,
    Variant,
)
from tools.backends.store.seeding import goods, journeys
from tools.backends.store.seeding.money import move_money, shipping_fee
from tools.backends.store.seeding.numbers import tracking_number
from tools.backends.store.seeding.people import NOTES
from tools.backends.store.seeding.places import Town
from tools.backends.store.seeding.rows import Rows
from tools.backends.store.seeding.stories import Story, Way
from tools.contracts import OrderStatus, ParcelStatus

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
_CARRIERS_CN = ("sf", "zto", "yto", "jd", "ems")
_CARRIERS_ABROAD = ("dhl", "ups", "fedex", "ems")


@dataclass(frozen=True, slots=True)
class Buyer:
    customer: Customer
    town: Town
    address: Address
    methods: Sequence[PaymentMethod]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is left open here is left to chance.

    ``days`` is the age of the last thing that happened, in days before today.
    """

    number: str
    buyer: Buyer
    story: Story
    variants: Sequence[str] = ()
    days: int | None = None
    tracking: str = ""
    carrier: str = ""


@dataclass(slots=True)
class Orders:
    """Plants one order after another."""

    chance: random.Random
    variants: Sequence[Variant]
    today: datetime
    rows: Rows = field(default_factory=Rows)

    def plant(self, plan: Plan) -> None:
        bought = self._bought(plan)
        ways = [self._reports(plan, way) for way in plan.story.parcels]
        shipped_at = self._shipped_at(plan, ways)
        placed_at = self._placed_at(plan, shipped_at)
        order = self._order(plan, bought, placed_at)
        order.shipped_at = shipped_at
        lines = [_line(order, variant, plan.buyer) for variant in bought]
        self.rows.orders.append(order)
        self.rows.lines += lines
        for place, (way, told) in enumerate(zip(plan.story.parcels, ways, strict=True)):
            inside = lines[place :: len(ways)] or lines[-1:]
            self._parcel(plan, order, way, told, inside, place)
        if plan.story.status in (
            OrderStatus.DELIVERED, OrderStatus.RETURNING,
            OrderStatus.RETURNED, OrderStatus.REFUNDED,
        ):  # fmt: skip
            own = [parcel for parcel, _ in self.rows.parcels[-len(ways) :]]
            delivered = [one.delivered_at for one in own if one.delivered_at]
            order.delivered_at = max(delivered) if len(delivered) == len(own) else None
        if order.paid_at is not None:
            method = self.chance.choice(plan.buyer.methods)
            move_money(self.rows, order, plan.story, method, lines, today=self.today)

    def save(self) -> int:
        return self.rows.save()

    # ---- what was bought, and when

    def _bought(self, plan: Plan) -> Sequence[Variant]:
        if plan.variants:
            return [one for one in self.variants if one.id in plan.variants]
        sold = [
            variant
            for variant in self.variants
            if not (plan.buyer.town.abroad and variant.product.name in goods.STAYS_HOME)
        ]
        return self.chance.sample(sold, self.chance.choice((1, 1, 2, 3)))

    def _reports(self, plan: Plan, way: Way) -> Sequence[journeys.Report]:
        return journeys.reports(plan.buyer.town, way, self.chance)

    def _shipped_at(
        self, plan: Plan, ways: Sequence[Sequence[journeys.Report]]
    ) -> datetime | None:
        """So long ago that every report is past; None where nothing has left."""
        longest = max((told[-1].after for told in ways if told), default=None)
        if longest is None:
            return None
        over = plan.story.status in (
            OrderStatus.DELIVERED, OrderStatus.RETURNED, OrderStatus.REFUNDED,
        )  # fmt: skip
        silence = self.chance.randint(1, 16) * HOUR
        if plan.story.parcels[0].stuck:
            silence += journeys.SILENCE
        elif over:
            days = self.chance.randint(1, 40) if plan.days is None else plan.days
            silence += days * DAY
        return self.today - silence - longest * HOUR

    def _placed_at(self, plan: Plan, shipped_at: datetime | None) -> datetime:
        minutes = self.chance.randint(0, 59) * MINUTE
        if shipped_at is not None:
            # Paid orders leave within 48 hours.
            return shipped_at - self.chance.randint(6, 44) * HOUR - minutes
        match plan.story.status:
            case OrderStatus.UNPAID:
                # They are closed after 24 hours.
                return self.today - minutes
            case OrderStatus.CANCELLED:
                return self.today - self.chance.randint(3, 30) * DAY - minutes
            case _:
                hours = 24 if plan.days else self.chance.randint(2, 23)
                return self.today - hours * HOUR - minutes

    def _order(
        self, plan: Plan, bought: Sequence[Variant], placed_at: datetime
    ) -> Order:
        buyer, story = plan.buyer, plan.story
        goods_total = sum(variant.price for variant in bought)
        fee = shipping_fee(buyer.town, goods_total)
        unpaid = story.status is OrderStatus.UNPAID or story.name == "closed unpaid"
        cancelled = story.status is OrderStatus.CANCELLED
        address = buyer.address
        return Order(
            number=plan.number,
            customer=buyer.customer,
            status=story.status,
            currency=bought[0].currency,
            shipping_fee=fee,
            total=goods_total + fee,
            placed_at=placed_at,
            paid_at=None if unpaid else placed_at + self.chance.randint(1, 25) * MINUTE,
            cancelled_at=placed_at + (24 if unpaid else 4) * HOUR
            if cancelled
            else None,
            cancel_reason=story.reason if cancelled else "",
            note=self.chance.choice(NOTES[buyer.customer.language]),
            recipient=address.recipient,
            phone=address.phone,
            address1=address.address1,
            city=address.city,
            state=address.state,
            zip=address.zip,
            country=address.country,
        )

    # ---- parcels

    def _parcel(
        self,
        plan: Plan,
        order: Order,
        way: Way,
        told: Sequence[journeys.Report],
        inside: Sequence[OrderLine],
        place: int,
    ) -> None:
        town = plan.buyer.town
        carrier = plan.carrier or self.chance.choice(
            _CARRIERS_ABROAD if town.abroad else _CARRIERS_CN
        )
        number = plan.tracking or tracking_number(carrier, self.chance)
        shipped_at = order.shipped_at if told else None
        parcel = Parcel(
            order=order,
            carrier_id=carrier,
            fulfillment=place + 1,
            tracking_number=number if way.numbered else "",
            status=way.status,
            shipped_at=shipped_at,
        )
        self.rows.parcels.append((parcel, inside))
        if shipped_at is None:
            return
        happened = journeys.moments(told, shipped_at=shipped_at)
        for report, at in happened:
            if report.status is ParcelStatus.DELIVERED:
                parcel.delivered_at = at
        parcel.estimated_delivery_at = self._estimate(way, town)
        if way.numbered:
            self.rows.events += [
                TrackingEvent(
                    parcel=parcel,
                    at=at,
                    time_zone=report.place.time_zone,
                    status=report.status,
                    place=report.place.name,
                    text=report.text,
                )
                for report, at in happened
            ]

    def _estimate(self, way: Way, town: Town) -> datetime | None:
        """Six in the evening there, on a day to come; None where nobody would say."""
        if way.stuck or not way.numbered:
            return None
        match way.status:
            case ParcelStatus.OUT_FOR_DELIVERY | ParcelStatus.DELIVERY_FAILED:
                days = 1
            case ParcelStatus.PICKED_UP | ParcelStatus.IN_TRANSIT:
                days = self.chance.randint(2, 6) if town.abroad else 2
            case _:
                return None
        zone = ZoneInfo(town.place.time_zone)
        there = (self.today + days * DAY).astimezone(zone).date()
        return datetime.combine(there, time(18), tzinfo=zone)


def _line(order: Order, variant: Variant, buyer: Buyer) -> OrderLine:
    product = variant.product
    return OrderLine(
        order=order,
        variant=variant,
        item_id=variant.id,
        title=product.name_zh if buyer.customer.language == "zh" else product.name,
        quantity=1,
        price=variant.price,
        options=variant.options,
    )
