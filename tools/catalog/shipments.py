"""Reads about parcels on their way."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from tools.backends import backend
from tools.catalog.results import ShipmentResult, iso
from tools.catalog.tool import Raw, Tool
from tools.contracts import Actor, Effect, Json, Role, ToolSpec
from tools.errors import NotFound

# A link that a customer may follow leads to one of these hosts, or there is no link.
CARRIER_HOSTS = frozenset(
    {
        "www.sf-express.com",
        "www.zto.com",
        "www.yto.net.cn",
        "www.ems.com.cn",
        "www.jdl.com",
        "www.ups.com",
        "www.fedex.com",
        "www.dhl.com",
        "tools.usps.com",
    }
)
_MAX_EVENTS = 8


async def _track_shipment(actor: Actor, arguments: Mapping[str, Json]) -> Raw:
    shipment = await backend().track(
        actor.customer_id or "", str(arguments["tracking_id"])
    )
    if shipment is None:
        raise NotFound("no such parcel of this customer")
    last = shipment.events[0] if shipment.events else None
    return {
        "tracking_id": shipment.tracking_id,
        "order_id": shipment.order_id,
        "carrier": shipment.carrier,
        "carrier_name": shipment.carrier_name,
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
            for event in shipment.events[:_MAX_EVENTS]
        ],
        "tracking_url": _trusted(shipment.tracking_url),
    }


def _trusted(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    return url if parts.scheme == "https" and parts.netloc in CARRIER_HOSTS else None


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
        roles=frozenset({Role.CUSTOMER, Role.GUEST}),
    ),
    run=_track_shipment,
    result=ShipmentResult,
    source="carrier",
)
