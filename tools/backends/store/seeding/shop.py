"""Filling the demo shop: the same shop for everyone who fills it on the same day."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from tools.backends.carriers import CARRIERS
from tools.backends.store.models import (
    Address,
    Carrier,
    Customer,
    Order,
    PaymentKind,
    PaymentMethod,
    Product,
    Variant,
)
from tools.backends.store.seeding import goods
from tools.backends.store.seeding.orders import Buyer, Orders, Plan
from tools.backends.store.seeding.people import PEOPLE
from tools.backends.store.seeding.places import (
    CHENGDU,
    SHANGHAI,
    TOWNS_ABROAD,
    TOWNS_CN,
    Town,
)
from tools.backends.store.seeding.stories import BY_NAME, STORIES

SEED = 20260204
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
CURRENCY = "CNY"
LIN = ("C-LIN", "林", "晓雨", "zh", CHENGDU)
MEI = ("C-MEI", "陈", "小美", "zh", SHANGHAI)
_KINDS: Mapping[bool, Sequence[PaymentKind]] = {
    False: (
        PaymentKind.ALIPAY,
        PaymentKind.WECHAT_PAY,
        PaymentKind.CREDIT_CARD,
        PaymentKind.GIFT_CARD,
    ),
    True: (PaymentKind.CREDIT_CARD, PaymentKind.PAYPAL, PaymentKind.GIFT_CARD),
}


@transaction.atomic
def seed_store(*, now: datetime) -> int:
    """Fill an empty shop; how many orders were made.

    A shop that holds any order is left exactly as it is, for what an operator changed,
    renamed or took away was meant. All times count from the beginning of ``now``'s day
    (UTC): nothing has happened later than that.
    """
    if Order.objects.exists():
        return 0
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    chance = random.Random(SEED)  # noqa: S311 - a demo must be the same every time
    seed_carriers()
    variants = seed_goods()
    lin, mei, *others = seed_people(chance)
    orders = Orders(chance=chance, variants=variants, today=today)
    plant_the_named(orders, lin, mei)
    stories = list(
        itertools.chain.from_iterable([story] * story.times for story in STORIES)
    )
    chance.shuffle(stories)
    for number, story in enumerate(stories):
        orders.plant(Plan(f"O-{1001 + number}", chance.choice(others), story))
    return orders.save()


@transaction.atomic
def seed_the_named(*, now: datetime) -> int:
    """Lin, Mei and their orders alone: what most tests need."""
    chance = random.Random(SEED)  # noqa: S311
    seed_carriers()
    variants = seed_goods()
    lin, mei = seed_people(chance, [LIN, MEI])
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    orders = Orders(chance=chance, variants=variants, today=today)
    plant_the_named(orders, lin, mei)
    return orders.save()


def plant_the_named(orders: Orders, lin: Buyer, mei: Buyer) -> None:
    """The orders that every walk through the product names.

    Lin may pay in a second way, so that there is one to change to.
    """
    PaymentMethod.objects.create(
        id=f"{PaymentKind.ALIPAY}_{lin.customer.pk}",
        customer=lin.customer,
        kind=PaymentKind.ALIPAY,
        currency=CURRENCY,
    )
    for plan in (
        Plan("O-187", lin, BY_NAME["both delivered"], ("P-011-1", "P-036-2"), 12),
        Plan("O-198", lin, BY_NAME["refunded"], ("P-014-2",), 20),
        Plan("O-204", lin, BY_NAME["in transit"], ("P-001-1",), 2, "N-88", "sf"),
        Plan("O-205", lin, BY_NAME["paid"], ("P-002-2", "P-003-1"), 1),
        Plan("O-305", mei, BY_NAME["paid"], ("P-009-2",), 1),
        Plan("O-311", mei, BY_NAME["number missing"], ("P-021-1",), 2),
    ):
        orders.plant(plan)


def seed_carriers() -> None:
    Carrier.objects.bulk_create(
        (
            Carrier(
                code=code,
                name=carrier.name,
                name_zh=carrier.name_zh,
                tracking_url=carrier.tracking_url,
            )
            for code, carrier in CARRIERS.items()
        ),
        ignore_conflicts=True,
    )


def seed_goods() -> Sequence[Variant]:
    variants: list[Variant] = []
    products: list[Product] = []
    for number, (name, name_zh, price, option, values) in enumerate(goods.PRODUCTS, 1):
        product = Product(id=f"P-{number:03}", name=name, name_zh=name_zh)
        products.append(product)
        second, choices = goods.SECOND_OPTION.get(name, ("", ("",)))
        pairs = itertools.product(enumerate(values), choices)
        for place, ((step, value), choice) in enumerate(pairs, start=1):
            options = {option: value} | ({second: choice} if second else {})
            variants.append(
                Variant(
                    id=f"{product.id}-{place}",
                    product=product,
                    options=options,
                    price=price + 1000 * step,
                    currency=CURRENCY,
                    available=(number + place) % 11 != 0,
                )
            )
    Product.objects.bulk_create(products)
    return Variant.objects.bulk_create(variants)


def seed_people(
    chance: random.Random,
    people: Sequence[tuple[str, str, str, str, Town]] = (LIN, MEI, *PEOPLE),
) -> list[Buyer]:
    """Customers with one to three addresses and one to three ways to pay."""
    customers: list[Customer] = []
    addresses: list[Address] = []
    methods: list[PaymentMethod] = []
    buyers: list[Buyer] = []
    for key, family, given, language, town in people:
        chinese = language == "zh"
        customer = Customer(
            id=key,
            name=f"{family}{given}" if chinese else f"{given} {family}",
            given_name=given,
            family_name=family,
            email=f"{key.lower()}@example.com",
            phone=f"{town.phone}{chance.randrange(10**8):08}",
            language=language,
            time_zone=town.place.time_zone,
        )
        customers.append(customer)
        others = TOWNS_ABROAD if town.abroad else TOWNS_CN
        homes = [town, *chance.sample(others, chance.choice((0, 0, 1, 2)))]
        for place, home in enumerate(homes):
            address = Address(
                customer=customer,
                is_default=place == 0,
                **_address(customer, home, chance),
            )
            addresses.append(address)
        own = [
            _payment_method(customer, kind, chance)
            for kind in chance.sample(_KINDS[town.abroad], chance.choice((1, 2, 3)))
        ]
        methods += own
        buyers.append(Buyer(customer, town, addresses[-len(homes)], own))
    Customer.objects.bulk_create(customers)
    Address.objects.bulk_create(addresses)
    PaymentMethod.objects.bulk_create(methods)
    return buyers


def _address(customer: Customer, town: Town, chance: random.Random) -> dict[str, Any]:
    return {
        "recipient": customer.name,
        "phone": customer.phone,
        "address1": chance.choice(town.streets),
        "city": town.place.name,
        "state": town.state,
        "zip": town.zip,
        "country": town.country,
    }


def _payment_method(
    customer: Customer, kind: PaymentKind, chance: random.Random
) -> PaymentMethod:
    card = kind is PaymentKind.CREDIT_CARD
    return PaymentMethod(
        id=f"{kind.value}_{customer.id}",
        customer=customer,
        kind=kind,
        brand=chance.choice(("visa", "mastercard", "unionpay")) if card else "",
        last_four=f"{chance.randrange(10_000):04}" if card else "",
        balance=chance.randint(20, 900) * 100
        if kind is PaymentKind.GIFT_CARD
        else None,
        currency=CURRENCY,
    )
