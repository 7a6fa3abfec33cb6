"""Filling the demo shop: the same shop every time, told from the day of seeding.

Made of plain functions so that tests can plant one order as well as all of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from django.db import transaction

from tools.backends.store.models import (
    Address,
    Carrier,
    Customer,
    Order,
    OrderLine,
    Parcel,
    Payment,
    PaymentDirection,
    PaymentKind,
    PaymentMethod,
    Product,
    Refund,
    TrackingEvent,
    Variant,
)
from tools.backends.store.seed_data import (
    CARRIERS,
    CITIES,
    CURRENCY,
    EVENT_TEXT,
    NAMES_EN,
    NAMES_ZH,
    NOTES,
    PRODUCTS,
    STREETS_ZH,
    City,
)
from tools.contracts import OrderStatus, ParcelStatus, RefundStatus, canonical_number

SEED = 20261201
ORDERS = 300
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
WAREHOUSE = CITIES[0]
ZONE = "Asia/Shanghai"

# A journey is how far a parcel has come; its last stage is the parcel's status.
JOURNEYS: dict[str, tuple[ParcelStatus, ...]] = {
    "picked_up": (ParcelStatus.PICKED_UP,),
    "in_transit": (ParcelStatus.PICKED_UP, ParcelStatus.IN_TRANSIT),
    "out_for_delivery": (
        ParcelStatus.PICKED_UP,
        ParcelStatus.IN_TRANSIT,
        ParcelStatus.IN_TRANSIT,
        ParcelStatus.OUT_FOR_DELIVERY,
    ),
    "delivered": (
        ParcelStatus.PICKED_UP,
        ParcelStatus.IN_TRANSIT,
        ParcelStatus.OUT_FOR_DELIVERY,
        ParcelStatus.DELIVERED,
    ),
    "delivery_failed": (
        ParcelStatus.PICKED_UP,
        ParcelStatus.IN_TRANSIT,
        ParcelStatus.OUT_FOR_DELIVERY,
        ParcelStatus.DELIVERY_FAILED,
    ),
    "returning": (
        ParcelStatus.PICKED_UP,
        ParcelStatus.IN_TRANSIT,
        ParcelStatus.DELIVERED,
        ParcelStatus.RETURNING,
    ),
}


@dataclass(frozen=True, slots=True)
class Story:
    """What becomes of an order: its status, its parcels' journeys, a refund's state."""

    name: str
    status: OrderStatus
    weight: int
    journeys: tuple[str, ...] = ()
    tracked: bool = True
    refund: RefundStatus | None = None


STORIES = (
    Story("unpaid", OrderStatus.UNPAID, 5),
    Story("paid", OrderStatus.PAID, 10),
    Story("packed", OrderStatus.PACKED, 6),
    Story("shipped", OrderStatus.SHIPPED, 5, ("picked_up",)),
    Story("in transit", OrderStatus.SHIPPED, 16, ("in_transit",)),
    Story("out for delivery", OrderStatus.SHIPPED, 6, ("out_for_delivery",)),
    Story("delivered", OrderStatus.DELIVERED, 24, ("delivered",)),
    Story("delivery failed", OrderStatus.SHIPPED, 4, ("delivery_failed",)),
    Story("split", OrderStatus.SHIPPED, 6, ("delivered", "in_transit")),
    Story("no number", OrderStatus.SHIPPED, 4, ("picked_up",), tracked=False),
    Story(
        "returning",
        OrderStatus.RETURNING,
        4,
        ("returning",),
        refund=RefundStatus.REQUESTED,
    ),
    Story(
        "refunding",
        OrderStatus.RETURNED,
        3,
        ("delivered",),
        refund=RefundStatus.PROCESSING,
    ),
    Story(
        "refunded",
        OrderStatus.REFUNDED,
        4,
        ("delivered",),
        refund=RefundStatus.SETTLED,
    ),
    Story("cancelled", OrderStatus.CANCELLED, 5, refund=RefundStatus.SETTLED),
)


def is_seeded() -> bool:
    return Order.objects.filter(number_key="O204").exists()


@transaction.atomic
def seed_store(*, now: datetime) -> int:
    """Fill an empty shop; how many orders were made.

    A shop that holds O-204 is left as it is: what an operator changed stays changed.
    """
    if is_seeded():
        return 0
    chance = random.Random(SEED)  # noqa: S311 - a demo must be the same every time
    seed_carriers()
    variants = seed_products()
    customers = seed_customers(chance, [*NAMED, *_others()])
    seed_named_orders(variants, now=now)
    for number in range(ORDERS - 3):
        [story] = chance.choices(STORIES, [one.weight for one in STORIES])
        plant_order(
            f"O-{1001 + number}",
            chance.choice(customers),
            story,
            chance.sample(variants, chance.choice((1, 1, 2, 3))),
            placed_at=_round(now) - DAY * chance.randint(4, 40) - HOUR * number,
            chance=chance,
            now=now,
        )
    return ORDERS


@transaction.atomic
def seed_named(*, now: datetime) -> None:
    """A small shop: all goods, but Lin and Mei alone, with their named orders."""
    seed_carriers()
    variants = seed_products()
    seed_customers(random.Random(SEED), NAMED)  # noqa: S311
    seed_named_orders(variants, now=now)


def seed_carriers() -> None:
    Carrier.objects.bulk_create(
        Carrier(code=code, name=name, name_zh=zh, tracking_url=url)
        for code, name, zh, _, _, url in CARRIERS
    )


def seed_products() -> list[Variant]:
    products, variants = [], []
    for number, (name, name_zh, price, option, values) in enumerate(PRODUCTS, start=1):
        product = Product(id=f"P-{number:03}", name=name, name_zh=name_zh)
        products.append(product)
        variants += [
            Variant(
                id=f"{product.id}-{place}",
                product=product,
                options={option: value},
                price=price + 1000 * (place - 1),
                currency=CURRENCY,
                available=(number + place) % 11 != 0,
            )
            for place, value in enumerate(values, start=1)
        ]
    Product.objects.bulk_create(products)
    return Variant.objects.bulk_create(variants)


# Id, name and language.
Person: TypeAlias = tuple[str, str, str]
NAMED: tuple[Person, ...] = (("C-LIN", "林晓雨", "zh"), ("C-MEI", "Mei Chen", "en"))


def _others() -> Iterator[Person]:
    for number, name in enumerate(NAMES_ZH, start=1):
        yield f"C-{number:03}", name, "zh"
    for number, name in enumerate(NAMES_EN, start=101):
        yield f"C-{number:03}", name, "en"


def seed_customers(chance: random.Random, people: Sequence[Person]) -> list[Customer]:
    """Each with an address and two ways to pay."""
    customers = [
        Customer(
            id=key,
            name=name,
            email=f"{key.lower()}@example.com",
            phone=f"139{chance.randint(0, 99_999_999):08}",
            language=language,
            time_zone=ZONE,
        )
        for key, name, language in people
    ]
    Customer.objects.bulk_create(customers)
    for customer in customers:
        _seed_customer_details(customer, chance)
    return customers


def _seed_customer_details(customer: Customer, chance: random.Random) -> None:
    cities = chance.sample(CITIES[1:], chance.choice((1, 1, 2)))
    Address.objects.bulk_create(
        Address(
            customer=customer, is_default=not place, **_address(customer, city, chance)
        )
        for place, city in enumerate(cities)
    )
    kinds = chance.sample(list(PaymentKind), 2)
    PaymentMethod.objects.bulk_create(
        PaymentMethod(
            id=f"{kind.value}_{customer.id}",
            customer=customer,
            kind=kind,
            brand="visa" if kind is PaymentKind.CREDIT_CARD else "",
            last_four=f"{chance.randint(0, 9999):04}"
            if kind is PaymentKind.CREDIT_CARD
            else "",
            balance=chance.randint(20, 900) * 100
            if kind is PaymentKind.GIFT_CARD
            else None,
        )
        for kind in kinds
    )


def _address(customer: Customer, city: City, chance: random.Random) -> dict[str, str]:
    return {
        "recipient": customer.name,
        "phone": customer.phone,
        "address1": chance.choice(STREETS_ZH),
        "city": city.zh if customer.language == "zh" else city.en,
        "state": city.state,
        "zip": city.zip,
        "country": "CN",
    }


def seed_named_orders(variants: Sequence[Variant], *, now: datetime) -> None:
    """The orders that every walk through the product names."""
    chance = random.Random(SEED + 1)  # noqa: S311
    lin, mei = Customer.objects.get(id="C-LIN"), Customer.objects.get(id="C-MEI")
    stories = {story.name: story for story in STORIES}
    today = _round(now)
    plant_order(
        "O-204", lin, stories["in transit"], variants[:1],
        placed_at=today - 3 * DAY, chance=chance, now=now, tracking=("N-88",),
    )  # fmt: skip
    plant_order(
        "O-205", lin, stories["paid"], variants[3:5],
        placed_at=today - DAY, chance=chance, now=now,
    )  # fmt: skip
    plant_order(
        "O-305", mei, stories["paid"], variants[8:9],
        placed_at=today - 2 * DAY, chance=chance, now=now,
    )  # fmt: skip


def plant_order(
    number: str,
    customer: Customer,
    story: Story,
    variants: Sequence[Variant],
    *,
    placed_at: datetime,
    chance: random.Random,
    now: datetime,
    tracking: Sequence[str] = (),
) -> Order:
    """One order as its story tells it, with its parcels, ledger and refund.

    ``tracking`` gives the numbers of its parcels, where they are not left to chance.
    """
    city = chance.choice(CITIES[1:])
    total = sum(variant.price for variant in variants)
    shipped_at = placed_at + 20 * HOUR if story.journeys else None
    order = Order.objects.create(
        number=number,
        number_key=canonical_number(number),
        customer=customer,
        status=story.status,
        currency=CURRENCY,
        total=total,
        placed_at=placed_at,
        paid_at=None if story.status == OrderStatus.UNPAID else placed_at + HOUR / 6,
        shipped_at=shipped_at,
        cancelled_at=placed_at + 5 * HOUR
        if story.status == OrderStatus.CANCELLED
        else None,
        note=chance.choice(NOTES),
        **_address(customer, city, chance),
    )
    chinese = customer.language == "zh"
    lines = OrderLine.objects.bulk_create(
        OrderLine(
            order=order,
            variant=variant,
            title=variant.product.name_zh if chinese else variant.product.name,
            quantity=1,
            price=variant.price,
            options=variant.options,
        )
        for variant in variants
    )
    for place, journey in enumerate(story.journeys):
        wanted = tracking[place] if place < len(tracking) else None
        _plant_parcel(
            order, journey, lines[place :: len(story.journeys)],
            city=city, wanted=wanted, tracked=story.tracked,
            chance=chance, now=now,
        )  # fmt: skip
    _settle(order, story, chance)
    return order


def _plant_parcel(
    order: Order,
    journey: str,
    lines: Sequence[OrderLine],
    *,
    city: City,
    wanted: str | None,
    tracked: bool,
    chance: random.Random,
    now: datetime,
) -> Parcel:
    if order.shipped_at is None:
        raise ValueError("an order with parcels has been shipped")
    code, _, _, prefix, digits, _ = CARRIERS[chance.randrange(len(CARRIERS))]
    number = ""
    if tracked:
        drawn = f"{prefix}{chance.randrange(10**digits):0{digits}}"
        number = wanted or drawn
    stages = JOURNEYS[journey]
    # A parcel is never ahead of the clock: what would lie in the future is told closer.
    gap = min(14 * HOUR, (now - order.shipped_at) / (len(stages) + 1))
    times = [order.shipped_at + gap * place for place in range(len(stages))]
    done = stages[-1] in (ParcelStatus.DELIVERED, ParcelStatus.RETURNING)
    delivered = next(
        (at for at, stage in zip(times, stages, strict=True) if stage == "delivered"),
        None,
    )
    parcel = Parcel.objects.create(
        order=order,
        carrier_id=code,
        tracking_number=number,
        tracking_key=canonical_number(number),
        status=stages[-1],
        shipped_at=order.shipped_at,
        delivered_at=delivered,
        estimated_delivery_at=None
        if done or not tracked
        else _round(now) + DAY * chance.randint(1, 3) + 10 * HOUR,
    )
    parcel.lines.set(lines)
    if tracked:
        _tell_journey(parcel, stages, times, city, order.customer.language)
    if delivered and order.status != OrderStatus.SHIPPED:
        order.delivered_at = delivered
        order.save(update_fields=["delivered_at"])
    return parcel


def _tell_journey(
    parcel: Parcel,
    stages: Sequence[ParcelStatus],
    times: Sequence[datetime],
    city: City,
    language: str,
) -> None:
    chinese = language == "zh"
    # Half-way between the warehouse and the customer lies one of the big hubs.
    middle = CITIES[2] if city is not CITIES[2] else CITIES[9]
    places = {
        ParcelStatus.PICKED_UP: WAREHOUSE,
        ParcelStatus.IN_TRANSIT: middle,
    }
    TrackingEvent.objects.bulk_create(
        TrackingEvent(
            parcel=parcel,
            at=at,
            time_zone=ZONE,
            status=stage,
            place=_place(places.get(stage, city), stage, chinese),
            text=EVENT_TEXT[stage.value][chinese],
        )
        for stage, at in zip(stages, times, strict=True)
    )


def _place(city: City, stage: ParcelStatus, chinese: bool) -> str:
    if stage is ParcelStatus.IN_TRANSIT:
        return city.hub_zh if chinese else city.hub_en
    return city.zh if chinese else city.en


def _settle(order: Order, story: Story, chance: random.Random) -> None:
    """The ledger: paid once, and given back where the story says so."""
    if order.paid_at is None:
        return
    methods = list(PaymentMethod.objects.filter(customer=order.customer).order_by("id"))
    method = chance.choice(methods)
    Payment.objects.create(
        order=order,
        direction=PaymentDirection.PAYMENT,
        amount=order.total,
        method=method,
        at=order.paid_at,
    )
    if story.refund is None:
        return
    asked_at = order.cancelled_at or (order.delivered_at or order.paid_at) + 8 * HOUR
    settled = story.refund is RefundStatus.SETTLED
    Refund.objects.create(
        number=f"R-{order.number.removeprefix('O-')}",
        order=order,
        status=story.refund,
        amount=order.total,
        method=method,
        requested_at=asked_at,
        settled_at=asked_at + 20 * HOUR if settled else None,
        expected_at=None if settled else asked_at + 7 * DAY,
    )
    if settled:
        Payment.objects.create(
            order=order,
            direction=PaymentDirection.REFUND,
            amount=order.total,
            method=method,
            at=asked_at + 20 * HOUR,
        )


def _round(now: datetime) -> datetime:
    return now.replace(minute=0, second=0, microsecond=0)
