"""Reads about orders."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from tools.authorization import Action, roles_that
from tools.backends import backend
from tools.backends.base import Order
from tools.catalog.results import (
    GuestOrderResult,
    OrderListResult,
    OrderResult,
    iso,
    money,
)
from tools.catalog.tool import Raw, Tool, owner_of
from tools.contracts import Actor, Effect, Json, OrderStatus, ToolSpec
from tools.errors import NotFound

_SUMMARY_TITLES = 2
# Parcels shown of each order of a list; the order itself shows them all.
_LISTED_PARCELS = 5


async def _list_my_orders(actor: Actor, arguments: Mapping[str, Json]) -> Raw:
    wanted = arguments.get("status")
    asked = arguments.get("limit")
    limit = min(asked if isinstance(asked, int) else 10, settings.TOOL_LIST_ROWS)
    found = await backend().list_orders(
        owner_of(actor),
        status=OrderStatus(str(wanted)) if wanted else None,
        limit=limit,
    )
    return {
        "orders": [
            {
                "order_id": order.order_id,
                "status": order.status,
                "placed_at": iso(order.placed_at),
                "total": money(order.total),
                "summary": _summary(order),
                "parcels": [
                    {"tracking_id": parcel.tracking_id, "status": parcel.status}
                    for parcel in order.parcels[:_LISTED_PARCELS]
                ],
                "total_parcels": len(order.parcels),
            }
            for order in found.orders
        ],
        "total_orders": found.total,
    }


def _summary(order: Order) -> str:
    titles = [item.title for item in order.items]
    more = len(titles) - _SUMMARY_TITLES
    shown = ", ".join(titles[:_SUMMARY_TITLES])
    return f"{shown} +{more}" if more > 0 else shown


async def _get_order(actor: Actor, arguments: Mapping[str, Json]) -> Raw:
    order = await backend().get_order(owner_of(actor), str(arguments["order_id"]))
    if order is None:
        raise NotFound("no such order of this customer")
    return {
        "order_id": order.order_id,
        "status": order.status,
        "placed_at": iso(order.placed_at),
        "paid_at": iso(order.paid_at),
        "shipped_at": iso(order.shipped_at),
        "delivered_at": iso(order.delivered_at),
        "cancelled_at": iso(order.cancelled_at),
        "total": money(order.total),
        "shipping_fee": money(order.shipping_fee) if order.shipping_fee else None,
        "items": [
            {
                "title": item.title,
                "quantity": item.quantity,
                "price": money(item.price),
                "options": item.options,
            }
            for item in order.items
        ],
        "total_items": len(order.items),
        "parcels": [
            {
                "tracking_id": parcel.tracking_id,
                "carrier": parcel.carrier,
                "status": parcel.status,
                "shipped_at": iso(parcel.shipped_at),
                "items": parcel.items[: settings.TOOL_LIST_ROWS],
            }
            for parcel in order.parcels
        ],
        "total_parcels": len(order.parcels),
        "ship_to": order.ship_to,
        "note": order.note,
    }


LIST_MY_ORDERS = Tool(
    spec=ToolSpec(
        name="list_my_orders",
        description={
            "en": "List the customer's own orders, newest first. Use it when no order "
            "number is known.",
            "zh": "列出客户自己的订单，最新的在前。不知道订单号时使用。",
        },
        parameters={
            "type": "object",
            "properties": {
                "status": {
                    "type": "string",
                    "enum": [status.value for status in OrderStatus],
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": 20},
            },
            "required": [],
            "additionalProperties": False,
        },
        effect=Effect.READ,
        fields=tuple(OrderListResult.model_fields),
        roles=roles_that(Action.LIST_ORDERS),
    ),
    run=_list_my_orders,
    result=OrderListResult,
)
GET_ORDER = Tool(
    spec=ToolSpec(
        name="get_order",
        description={
            "en": "Look up one order of the customer: status, times, items, and the "
            "tracking_id of each parcel.",
            "zh": "查询客户的一个订单：状态、时间、商品，以及各包裹的 tracking_id。",
        },
        parameters={
            "type": "object",
            "properties": {
                "order_id": {"type": "string", "minLength": 1, "maxLength": 64}
            },
            "required": ["order_id"],
            "additionalProperties": False,
        },
        effect=Effect.READ,
        fields=tuple(OrderResult.model_fields),
        roles=roles_that(Action.READ_ORDER),
    ),
    run=_get_order,
    result=OrderResult,
    guest_result=GuestOrderResult,
)
