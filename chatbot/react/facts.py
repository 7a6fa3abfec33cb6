"""The typed facts of an observation: what an answer may rest on.

A field's type is read off its name: ``*_at`` is a time, an object with ``amount`` and
``currency`` is money, ``status`` is one of the enums, ``order_id``, ``tracking_id`` and
``refund_id`` are numbers, ``place`` and ``ship_to`` are places, ``*url`` is a link.
Every other text is weak: it may be quoted, and proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeAlias
from weakref import ref

from tools.contracts import (
    Json,
    JsonScalar,
    Observation,
    ObservationStatus,
    canonical_number,
)

FactKind: TypeAlias = Literal[
    "order_number",
    "tracking_number",
    "refund_number",
    "date",
    "amount",
    "place",
    "status",
    "link",
    "name",
    "count",
    "text",
]
FactValue: TypeAlias = "JsonScalar | datetime | Money"

_INDEX = re.compile(r"\[\d+\]")
# An observation is a few kilobytes; these bound what a broken tool can cost.
_MAX_FACTS = 2000
_MAX_DEPTH = 8

_KIND_BY_NAME: Mapping[str, FactKind] = {
    "order_id": "order_number",
    "tracking_id": "tracking_number",
    "refund_id": "refund_number",
    "status": "status",
    "place": "place",
    "ship_to": "place",
    "url": "link",
    "tracking_url": "link",
    "carrier": "name",
    "carrier_name": "name",
    "title": "name",
    "summary": "name",
    "options": "name",
    "quantity": "count",
    "total_orders": "count",
}


@dataclass(frozen=True, slots=True)
class Money:
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One observed field that holds a value.

    ``name`` is the field's own name, ``path`` where it stands ("parcels[0].status").
    ``order`` and ``tracking`` are the canonical numbers of what it is about.
    """

    kind: FactKind
    name: str
    path: str
    value: FactValue
    observation_id: str
    tool: str
    order: str | None = None
    tracking: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two observations that say the same of the same thing.

        Where in a list it stood says nothing: the next search may sort otherwise.
        """
        path = _INDEX.sub("[]", self.path)
        return (self.kind, path, self.order, self.tracking, self.value)


# Asked for a dozen times in a run; kept as long as the observation lives.
_known_facts: dict[int, tuple[ref[Observation], tuple[Fact, ...]]] = {}


def facts_of(observation: Observation) -> tuple[Fact, ...]:
    """The facts of one observation, as its fields come; none unless it is ok."""
    if observation.status is not ObservationStatus.OK:
        return ()
    known = _known_facts.get(id(observation))
    # An id may have been that of an observation that is gone: then its facts are too.
    if known is not None and known[0]() is observation:
        return known[1]
    facts = tuple(_facts_of(observation))
    key = id(observation)
    _known_facts[key] = (ref(observation, lambda _: _known_facts.pop(key, None)), facts)
    return facts


def _facts_of(observation: Observation) -> list[Fact]:
    facts: list[Fact] = []
    for fact in _walk(observation, observation.fields, "", None, None, 0):
        facts.append(fact)
        if len(facts) >= _MAX_FACTS:
            break
    return facts


def new_facts(
    observation: Observation, earlier: Iterable[Observation]
) -> tuple[Fact, ...]:
    """The facts of ``observation`` that no earlier observation of the run held."""
    known = {fact.key for one in earlier for fact in facts_of(one)}
    return tuple(fact for fact in facts_of(observation) if fact.key not in known)


def parse_time(value: object) -> datetime | None:
    """An aware time from ISO 8601; None for anything else. No offset means UTC."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        moment = datetime.fromisoformat(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment


def parse_money(value: object) -> Money | None:
    if not isinstance(value, Mapping) or "amount" not in value:
        return None
    currency = value.get("currency")
    try:
        amount = Decimal(str(value["amount"])[:30])
    except InvalidOperation:
        return None
    if not amount.is_finite():
        return None
    return Money(amount, currency.upper() if isinstance(currency, str) else "")


def canonical(value: object) -> str | None:
    """The canonical form of a number, or None where there is none."""
    if not isinstance(value, str):
        return None
    return canonical_number(value) or None


def as_list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _walk(
    observation: Observation,
    value: Mapping[str, Json],
    path: str,
    order: str | None,
    tracking: str | None,
    depth: int,
) -> Iterator[Fact]:
    order = canonical(value.get("order_id")) or order
    tracking = canonical(value.get("tracking_id")) or tracking
    for name, field in value.items():
        here = f"{path}.{name}" if path else name
        yield from _field(observation, name, field, here, order, tracking, depth)


def _field(
    observation: Observation,
    name: str,
    field: Json,
    path: str,
    order: str | None,
    tracking: str | None,
    depth: int,
) -> Iterator[Fact]:
    if field is None or depth > _MAX_DEPTH:
        return
    if isinstance(field, list):
        for index, item in enumerate(field):
            yield from _field(
                observation,
                name,
                item,
                f"{path}[{index}]",
                order,
                tracking,
                depth + 1,
            )
        return
    money = parse_money(field)
    if isinstance(field, dict) and money is None:
        yield from _walk(observation, field, path, order, tracking, depth + 1)
        return
    kind, typed = _typed(name, path, field, money)
    yield Fact(
        kind=kind,
        name=name,
        path=path,
        value=typed,
        observation_id=observation.id,
        tool=observation.tool,
        order=order,
        tracking=tracking,
    )


def _typed(
    name: str, path: str, field: Json, money: Money | None
) -> tuple[FactKind, FactValue]:
    if money is not None:
        return "amount", money
    if isinstance(field, list | dict):
        raise TypeError("only a single value has a type")
    if name.endswith("_at") or name == "at":
        moment = parse_time(field)
        return ("date", moment) if moment else ("text", field)
    if "options" in path:
        return "name", field
    return _KIND_BY_NAME.get(name, "text"), field
