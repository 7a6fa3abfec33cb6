"""Reads about parcels on their way."""

from __future__ import annotations

from collections.abc import Mapping

from tools.authorization import Action, roles_that
from tools.backends import backend
from tools.backends.carriers import trusted_link
from tools.catalog.results import GuestShipmentResult, ShipmentResult, iso
from tools.catalog.tool import Raw, Tool, owner_of
from tools.contracts import Actor, Effect, Json, ToolSpec
from tools.errors import NotFound

# A courier's last words matter, the first ones of a month-long journey do not.
_EVENTS = 8


async def _track_shipment(actor: Actor, arguments: Mapping[str, Json]) -> Raw:
    shipment = await backend().track(owner_of(actor), str(arguments["tracking_id"]))
    if shipment is None:
        raise NotFound("no such parcel of this customer")
    last = shipment.events[0] if shipment.events else None
    chinese = shipment.carrier_name_zh if actor.language == "zh" else ""
    return {
        "tracking_id": shipment.tracking_id,
        "order_id": shipment.order_id,
        "carrier": shipment.carrier,
        "carrier_name": chinese or shipment.carrier_name,
        "status": shipment.status,
        "place": (last.place or None) if last else None,
        "last_event_at": iso(last.at) if last else None,
        "last_event": last.text if last else None,
        "estimated_delivery_at": iso(shipment.estimated_delivery_at),
        "delivered_at": iso(shipment.delivered_at),
        "events": [
            {
                "at": iso(event.at),
                "place": event.place,
                "status": event.status,
                "text": event.text,
            }
            for event in shipment.events[:_EVENTS]
        ],
        "total_events": len(shipment.events),
        "tracking_url": trusted_link(shipment.tracking_url),
    }


TRACK_SHIPMENT = Tool(
    spec=ToolSpec(
        name="track_shipment",
        description={
            "en": "Ask the carrier where a parcel is now. Needs the tracking_id that "
            "get_order returned.",
            "zh": "向承运商查询包裹现在在哪里。需要 get_order 返回的 tracking_id。",
        },
        parameters={
            "type": "object",
            "properties": {
                "tracking_id": {"type": "string", "minLength": 1, "maxLength": 64}
            },
            "required": ["tracking_id"],
            "additionalProperties": False,
        },
        effect=Effect.READ,
        fields=tuple(ShipmentResult.model_fields),
        roles=roles_that(Action.READ_ORDER),
    ),
    run=_track_shipment,
    result=ShipmentResult,
    guest_result=GuestShipmentResult,
    source="carrier",
    source_field="carrier",
)
