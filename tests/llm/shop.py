"""A small shop in memory, for runs that are about the model and not about tools."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from tools.contracts import (
    Json,
    Observation,
    ObservationStatus,
    ToolCall,
    canonical_number,
)

NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)


def money(amount: str) -> dict[str, Json]:
    return {"amount": amount, "currency": "CNY"}


def order(number: str, status: str, **more: Any) -> dict[str, Any]:
    times = dict.fromkeys(("paid_at", "shipped_at", "delivered_at", "cancelled_at"))
    return {
        "order_id": number,
        "status": status,
        "placed_at": "2026-11-25T09:00:00+08:00",
        **times,
        "total": money("199.00"),
        "items": [{"title": "Teapot", "quantity": 1, "price": money("199.00")}],
        "parcels": [],
        "ship_to": "上海",
        "note": "",
        **more,
    }


def parcel(number: str | None, status: str) -> dict[str, Json]:
    return {"tracking_id": number, "carrier": "sf", "status": status}


def shipment(number: str, order_id: str, status: str, **more: Any) -> dict[str, Any]:
    return {
        "tracking_id": number,
        "order_id": order_id,
        "carrier": "sf",
        "carrier_name": "顺丰速运",
        "status": status,
        "place": "杭州转运中心",
        "last_event_at": "2026-12-01T14:05:00+08:00",
        "last_event": "快件已到达",
        "estimated_delivery_at": "2026-12-03T18:00:00+08:00",
        "delivered_at": None,
        "events": [],
        "tracking_url": None,
        **more,
    }


ORDERS = {
    one["order_id"]: one
    for one in (
        order(
            "O-204",
            "shipped",
            shipped_at="2026-11-29T10:00:00+08:00",
            parcels=[parcel("N-88", "in_transit")],
        ),
        order("O-205", "paid", placed_at="2026-11-30T09:00:00+08:00"),
        order(
            "O-206",
            "delivered",
            delivered_at="2026-11-20T15:30:00+08:00",
            parcels=[parcel("N-90", "delivered")],
            placed_at="2026-11-10T09:00:00+08:00",
        ),
        order("O-207", "unpaid", placed_at="2026-11-05T09:00:00+08:00"),
        order(
            "O-208",
            "shipped",
            shipped_at="2026-11-29T10:00:00+08:00",
            parcels=[parcel(None, "pending")],
            placed_at="2026-11-04T09:00:00+08:00",
        ),
        order(
            "O-209",
            "refunded",
            placed_at="2026-11-03T09:00:00+08:00",
        ),
        order(
            "O-210",
            "shipped",
            shipped_at="2026-11-29T10:00:00+08:00",
            parcels=[parcel("N-91", "out_for_delivery"), parcel("N-92", "pending")],
            placed_at="2026-11-02T09:00:00+08:00",
        ),
    )
}
SHIPMENTS = {
    one["tracking_id"]: one
    for one in (
        shipment("N-88", "O-204", "in_transit"),
        shipment(
            "N-90",
            "O-206",
            "delivered",
            place="上海",
            estimated_delivery_at=None,
            delivered_at="2026-11-20T15:30:00+08:00",
            last_event_at="2026-11-20T15:30:00+08:00",
        ),
        shipment("N-91", "O-210", "out_for_delivery", place="上海浦东"),
        shipment(
            "N-92",
            "O-210",
            "pending",
            place=None,
            last_event_at=None,
            estimated_delivery_at=None,
        ),
    )
}
REFUNDS = {
    "O-209": [
        {
            "refund_id": "R-1",
            "status": "processing",
            "amount": money("58.50"),
            "requested_at": "2026-11-28T10:00:00+08:00",
            "settled_at": None,
            "expected_at": "2026-12-05T10:00:00+08:00",
            "method": "alipay",
        }
    ]
}
ARTICLES = [
    {
        "slug": "returns",
        "title": "退换货政策",
        "excerpt": "签收后 7 天内可以申请退货，商品需保持完好。",
        "url": "/help/returns/",
        "language": "zh",
    }
]


class Shop:
    """Answers calls from its tables; ``down`` maps a tool to the status it gives."""

    def __init__(self, **down: ObservationStatus) -> None:
        self.orders = deepcopy(ORDERS)
        self.shipments = deepcopy(SHIPMENTS)
        self.refunds = deepcopy(REFUNDS)
        self.articles: list[dict[str, str]] = list(ARTICLES)
        self.down = down
        self.calls: list[ToolCall] = []

    async def observe(self, call: ToolCall, observation_id: str) -> Observation:
        self.calls.append(call)
        fields = None if call.name in self.down else self._fields(call)
        found = ObservationStatus.NOT_FOUND if fields is None else ObservationStatus.OK
        return Observation(
            id=observation_id,
            call_id=call.id,
            tool=call.name,
            arguments=call.arguments,
            status=self.down.get(call.name, found),
            fields=fields or {},
            observed_at=NOW,
            source="carrier:sf" if call.name == "track_shipment" else "shop",
        )

    def _fields(self, call: ToolCall) -> Mapping[str, Any] | None:
        value = next(iter(call.arguments.values()), "")
        match call.name:
            case "list_my_orders":
                rows = [
                    {
                        name: one[name]
                        for name in ("order_id", "status", "placed_at", "total")
                    }
                    | {"summary": "Teapot", "parcels": one["parcels"]}
                    for one in sorted(
                        self.orders.values(),
                        key=lambda one: str(one["placed_at"]),
                        reverse=True,
                    )
                ]
                return {"orders": rows, "total_orders": len(rows)}
            case "get_order":
                return _find(self.orders, value)
            case "track_shipment":
                return _find(self.shipments, value)
            case "get_refund":
                found = _find(self.orders, value)
                if found is None:
                    return None
                number = found["order_id"]
                return {"order_id": number, "refunds": self.refunds.get(number, [])}
            case "search_help":
                return {"articles": self.articles}
            case _:
                return None


def _find(table: Mapping[str, dict[str, Any]], value: Json) -> dict[str, Any] | None:
    wanted = canonical_number(str(value))
    return next(
        (one for key, one in table.items() if canonical_number(key) == wanted), None
    )
