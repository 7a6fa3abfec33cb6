"""The question for every contestant, and the tools in memory of the bare ones.

"Has O-9007 shipped, and where is it now?": the order tells the parcel, the parcel tells
the place. Three model calls, two tool calls, and an answer that can be checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

SYSTEM = (
    "You are a customer-service assistant of a shop. Use the tools to find facts, never"
    " guess, and answer in one short paragraph."
)
PLACES = ("Lyon", "Porto", "Ghent", "Turin", "Malmo", "Brno", "Riga")
FIRST = 9000


def question(number: int) -> str:
    return f"Has O-{number} shipped, and where is it now?"


def parcel_of(number: int) -> str:
    return f"N-{number}"


def place_of(number: int) -> str:
    return PLACES[number % len(PLACES)]


def wrong(number: int, answer: str) -> str | None:
    """What an answer lacks; None where it is right."""
    wanted = (f"O-{number}", parcel_of(number), place_of(number))
    missing = [word for word in wanted if word not in answer]
    return f"{missing} not in {answer!r}" if missing else None


def get_order(order_id: str) -> str:
    number = int(order_id.split("-")[1])
    return json.dumps(
        {
            "order_id": order_id,
            "status": "shipped",
            "items": [{"title": "Mug", "quantity": 2}],
            "parcels": [{"tracking_id": parcel_of(number), "status": "in_transit"}],
        }
    )


def track_shipment(tracking_id: str) -> str:
    number = int(tracking_id.split("-")[1])
    return json.dumps(
        {
            "tracking_id": tracking_id,
            "order_id": f"O-{number}",
            "status": "in_transit",
            "place": place_of(number),
            "last_event_at": "2026-01-05T10:00:00+00:00",
        }
    )


IN_MEMORY: Mapping[str, Callable[..., str]] = {
    "get_order": get_order,
    "track_shipment": track_shipment,
}


def _function(name: str, description: str, argument: str) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {argument: {"type": "string"}},
                "required": [argument],
                "additionalProperties": False,
            },
        },
    }


TOOLS = (
    _function("get_order", "Look up one order and its parcels.", "order_id"),
    _function("track_shipment", "Where a parcel is now.", "tracking_id"),
)
