"""The words that gateway, loop and workflow share. Standard library only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

# What a declared field may hold once validated: JSON, and nothing else.
JsonScalar: TypeAlias = str | int | float | bool | None
Json: TypeAlias = "JsonScalar | list[Json] | dict[str, Json]"


class Effect(StrEnum):
    """Whether a tool changes anything outside this database."""

    READ = "read"
    WRITE = "write"


class Approver(StrEnum):
    """Who must agree before a tool with ``Effect.WRITE`` is executed."""

    NOBODY = "nobody"
    CUSTOMER = "customer"
    STAFF = "staff"


class RetryClass(StrEnum):
    """Whether the gateway may try a failed call once more."""

    ONCE = "once"
    NEVER = "never"


class Role(StrEnum):
    GUEST = "guest"
    CUSTOMER = "customer"
    AGENT = "agent"
    SUPERVISOR = "supervisor"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Actor:
    """For whom the assistant acts; always built from the server's own session.

    ``customer_id`` is the shop's id of the customer; None for a visitor who has not
    proved who they are. ``verified_orders`` are the canonical numbers that a guest has
    proved to own.
    """

    role: Role
    customer_id: str | None = None
    verified_orders: frozenset[str] = frozenset()
    language: Literal["zh", "en"] = "en"
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as the registry carries it and as a model may see it.

    ``parameters`` is a closed JSON schema (``additionalProperties: false``) that never
    names the customer: identity comes from the ``Actor``. ``fields`` are the only
    fields of a result that leave the gateway, by their top-level name. ``timeout`` is
    in seconds.
    """

    name: str
    description: Mapping[str, str]  # language -> text
    parameters: Mapping[str, Json]
    effect: Effect
    fields: tuple[str, ...]
    approver: Approver = Approver.NOBODY
    retry: RetryClass = RetryClass.ONCE
    timeout: float = 5.0
    roles: frozenset[Role] = frozenset({Role.CUSTOMER, Role.AGENT, Role.SUPERVISOR})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to use a tool, with its arguments strictly parsed.

    ``thought`` is the short public note that came as an argument of the same call.
    """

    id: str
    name: str
    arguments: Mapping[str, Json]
    thought: str = ""


class ObservationStatus(StrEnum):
    """What came of a read. ``TIMEOUT`` means unknown, never "no"."""

    OK = "ok"
    NOT_FOUND = "not_found"
    DENIED = "denied"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    BAD_RESULT = "bad_result"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Observation:
    """What a tool really returned, validated: the only source of facts in an answer.

    ``fields`` hold the tool's declared fields only. ``source`` names the system that
    was asked ("shop", "carrier", "help"). ``observed_at`` is aware and in UTC.
    ``call_id`` ties it to its ``ToolCall``; ``id`` ("obs-3") is unique within a run.
    ``retryable`` says that the same call may succeed later.
    """

    id: str
    call_id: str
    tool: str
    arguments: Mapping[str, Json]
    status: ObservationStatus
    fields: Mapping[str, Json]
    observed_at: datetime
    source: str
    message: str = ""
    retryable: bool = False
    duration_ms: int = 0
    attempts: int = 1


# Order and tracking numbers are strings: compared by what is left when width, case,
# spaces, hashes and dashes are gone. Leading zeros are part of the number.
_SEPARATORS = re.compile(r"[^0-9A-Z]+")


def canonical_number(text: str) -> str:
    """The form in which two spellings of one order or tracking number are equal.

    ``"o－204"``, ``"o 204"`` and ``"＃O-204"`` all give ``"O204"``.
    """
    return _SEPARATORS.sub("", unicodedata.normalize("NFKC", text).upper())


class OrderStatus(StrEnum):
    """Where an order stands, in the shop's own words."""

    UNPAID = "unpaid"
    PAID = "paid"
    PACKED = "packed"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    RETURNING = "returning"
    RETURNED = "returned"
    REFUNDED = "refunded"
    CANCELLED = "cancelled"


class ParcelStatus(StrEnum):
    """Where a parcel stands, in the carrier's words reduced to these."""

    PENDING = "pending"
    PICKED_UP = "picked_up"
    IN_TRANSIT = "in_transit"
    OUT_FOR_DELIVERY = "out_for_delivery"
    DELIVERED = "delivered"
    DELIVERY_FAILED = "delivery_failed"
    RETURNING = "returning"
    RETURNED = "returned"


class RefundStatus(StrEnum):
    """Where a refund stands. ``SETTLED`` means that the money has left."""

    REQUESTED = "requested"
    APPROVED = "approved"
    PROCESSING = "processing"
    SETTLED = "settled"
    DECLINED = "declined"


# What an address is made of, everywhere: tables, arguments, cards.
ADDRESS_FIELDS = (
    *("recipient", "phone", "address1", "address2"),
    *("city", "state", "zip", "country"),
)


class ActionKind(StrEnum):
    """The changes that can be asked for; the value is the tool's name."""

    CANCEL_ORDER = "cancel_order"
    CHANGE_ADDRESS = "change_address"
    CHANGE_PAYMENT = "change_payment"
    CHANGE_ITEMS = "change_items"
    RETURN_ITEMS = "return_items"
    EXCHANGE_ITEMS = "exchange_items"
    REQUEST_REFUND = "request_refund"
    CHANGE_PROFILE_ADDRESS = "change_profile_address"


_JSON_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def argument_problem(spec: ToolSpec, arguments: Mapping[str, Json]) -> str | None:
    """Why these arguments do not fit the tool's schema, in words for a model; or None.

    Understands the closed subset of JSON Schema that ``ToolSpec.parameters`` may use:
    object with properties, required, and per property type, enum, minLength, maxLength,
    minimum, maximum. Unknown names are refused; nothing is converted.
    """
    properties = _object(spec.parameters.get("properties"))
    required = spec.parameters.get("required")
    for name in arguments:
        if name not in properties:
            return (
                f"unknown argument {name!r}; known: {', '.join(properties) or 'none'}"
            )
    for needed in required if isinstance(required, list) else ():
        if needed not in arguments:
            return f"argument {needed!r} is missing"
    for name, value in arguments.items():
        schema = _object(properties[name])
        if problem := _value_problem(name, schema, value):
            return problem
    return None


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _value_problem(name: str, schema: Mapping[str, Json], value: Json) -> str | None:
    wanted = str(schema["type"])
    # bool is an int to Python, and a number is not an id: "204" is never 204.
    if not isinstance(value, _JSON_TYPES[wanted]) or (
        isinstance(value, bool) and wanted != "boolean"
    ):
        return f"argument {name!r} must be a JSON {wanted}"
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return f"argument {name!r} must be one of {choices}"
    if isinstance(value, str):
        return _bounds_problem(name, schema, len(value), "minLength", "maxLength")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _bounds_problem(name, schema, value, "minimum", "maximum")
    return None


def _bounds_problem(
    name: str, schema: Mapping[str, Json], size: float, low: str, high: str
) -> str | None:
    floor, ceiling = schema.get(low), schema.get(high)
    if isinstance(floor, int | float) and size < floor:
        return f"argument {name!r} is below {low} {floor}"
    if isinstance(ceiling, int | float) and size > ceiling:
        return f"argument {name!r} is above {high} {ceiling}"
    return None
