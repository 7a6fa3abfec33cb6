"""A shop system behind a small HTTP API of its own: docs/shop-api.md.

For shops that have no adapter here: whoever serves these few addresses can be asked.
What comes back is read into the records of ``base`` or is no result at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, Literal, TypeVar
from urllib.parse import quote
from weakref import WeakKeyDictionary

import httpx2
from django.conf import settings
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from tools.backends import base
from tools.backends.base import Owner
from tools.backends.changes import ChangeResult, Preview, Terms
from tools.contracts import ActionKind, Json, OrderStatus, canonical_number
from tools.errors import BadResult, ToolTimeout, ToolUnavailable

T = TypeVar("T")

# More would be no order of a person; a reply that is larger is not read.
MAX_REPLY_BYTES = 1_000_000
_BUSY = frozenset({408, 425, 429})
_NOT_THROUGH = 202


class _Made(BaseModel):
    """A ``ChangeResult`` as it comes over the wire."""

    succeeded: bool
    reason: str = ""
    details: dict[str, JsonValue] = {}
    repeated: bool = False


class _Previewed(BaseModel):
    """A ``Preview`` as it comes over the wire."""

    eligible: bool
    reason: str = ""
    missing: list[str] = []
    subject: str = ""
    arguments: dict[str, JsonValue] = {}
    amount: base.Money | None = None
    direction: Literal["", "refund", "charge"] = ""
    items: list[str] = []
    before: dict[str, str] = {}
    after: dict[str, str] = {}


class _Reached(BaseModel):
    """What a contact that is the order's own leads to."""

    email: str = ""


class HttpShop:
    """Reads and changes through ``SHOP_API_URL``, signed in with ``SHOP_API_KEY``."""

    source = "shop"

    async def list_orders(
        self, owner: Owner, *, status: OrderStatus | None, limit: int
    ) -> base.OrderList:
        query = {"limit": str(limit)} | ({"status": status.value} if status else {})
        found = await _get(_address(owner, "orders"), base.OrderList, query)
        return found or base.OrderList([], 0)

    async def get_order(self, owner: Owner, order_id: str) -> base.Order | None:
        path = _address(owner, "orders", canonical_number(order_id))
        order = await _get(path, base.Order)
        return _same(order, order.order_id if order else None, order_id)

    async def track(self, owner: Owner, tracking_id: str) -> base.Shipment | None:
        path = _address(owner, "parcels", canonical_number(tracking_id))
        shipment = await _get(path, base.Shipment)
        return _same(shipment, shipment.tracking_id if shipment else None, tracking_id)

    async def refunds(self, owner: Owner, order_id: str) -> base.OrderRefunds | None:
        path = _address(owner, "orders", canonical_number(order_id), "refunds")
        refunds = await _get(path, base.OrderRefunds)
        return _same(refunds, refunds.order_id if refunds else None, order_id)

    async def email_of(self, order_id: str, contact: str) -> str | None:
        body = {"order": canonical_number(order_id), "contact": contact}
        found = await _send("POST", "/v1/contacts", _Reached, json=body)
        return found.email if found else None

    async def preview(
        self, customer_id: str, kind: ActionKind, arguments: Mapping[str, Json]
    ) -> Preview:
        path = _address(Owner(customer_id), "changes", "preview")
        body = {"kind": kind.value, "arguments": dict(arguments)}
        found = await _send("POST", path, _Previewed, json=body)
        if found is None:
            return Preview(eligible=False, reason="not_found")
        return Preview(**dict(found))

    async def execute(
        self,
        customer_id: str,
        kind: ActionKind,
        arguments: Mapping[str, Json],
        *,
        key: str,
        agreed: Terms,
    ) -> ChangeResult:
        path = _address(Owner(customer_id), "changes")
        made = await _send(
            "POST",
            path,
            _Made,
            json={
                "kind": kind.value,
                "arguments": dict(arguments),
                "agreed": asdict(agreed),
            },
            headers={"Idempotency-Key": key},
        )
        return ChangeResult(**dict(made)) if made else ChangeResult(False, "not_found")

    async def lookup(self, key: str) -> ChangeResult | None:
        found = await _get(f"/v1/changes/{quote(key, safe='')}", _Made)
        return ChangeResult(**dict(found)) if found else None


def _address(owner: Owner, *parts: str) -> str:
    """The path of something that an owner has; "" where it can be nobody's.

    Numbers come in their canonical form: letters and digits, which no address misreads.
    """
    if owner.customer_id:
        start = f"/v1/customers/{quote(owner.customer_id, safe='')}"
    elif owner.orders:
        start = f"/v1/proved/{quote(','.join(sorted(owner.orders)), safe='')}"
    else:
        return ""
    return "/".join([start, *parts]) if all(parts) else ""


def _same(record: T | None, found: str | None, asked: str) -> T | None:
    """A shop that answers with another thing than was asked for is not believed."""
    if record is None or canonical_number(found or "") == canonical_number(asked):
        return record
    raise BadResult("the shop answered with another number")


async def _get(
    path: str, record: type[T], query: Mapping[str, str] | None = None
) -> T | None:
    return await _send("GET", path, record, params=query or {}) if path else None


async def _send(method: str, path: str, record: type[T], **sent: Any) -> T | None:
    """The record that a request brings; None where the shop knows no such thing.

    Whether a write was done is unknown after a ``ToolTimeout`` or ``ToolUnavailable``.
    """
    if not path:
        return None
    try:
        reply = await _client().request(method, path, **sent)
    except httpx2.TimeoutException as error:
        raise ToolTimeout("the shop did not answer in time") from error
    except httpx2.HTTPError as error:
        raise ToolUnavailable(f"the shop: {type(error).__name__}") from error
    if reply.status_code == 404:
        return None
    if reply.status_code >= 500 or reply.status_code in _BUSY:
        raise ToolUnavailable(f"the shop answers {reply.status_code}")
    if reply.status_code == _NOT_THROUGH:
        raise ToolUnavailable("the shop has begun and is not through")
    if reply.status_code >= 300 or len(reply.content) > MAX_REPLY_BYTES:
        raise BadResult(f"the shop answers {reply.status_code}")
    try:
        wanted: Any = record
        read: T = _reader(wanted).validate_json(reply.content)
    except ValidationError as error:
        places = {".".join(map(str, one["loc"])) for one in error.errors()}
        raise BadResult(f"not what docs/shop-api.md says: {sorted(places)}") from None
    return read


@cache
def _reader(record: Any) -> TypeAdapter[Any]:
    return TypeAdapter(record)


_CLIENTS: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = (
    WeakKeyDictionary()
)


def _client() -> httpx2.AsyncClient:
    """One client, and so one bounded pool of connections, for each event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _CLIENTS:
        _CLIENTS[loop] = httpx2.AsyncClient(
            base_url=settings.SHOP_API_URL,
            headers={"Authorization": f"Bearer {settings.SHOP_API_KEY}"},
            timeout=settings.TOOL_TIMEOUT_SECONDS,
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=settings.SHOP_API_MAX_CONNECTIONS),
        )
    return _CLIENTS[loop]
