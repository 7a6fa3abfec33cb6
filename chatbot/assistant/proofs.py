"""Which observed field proves which need.

A need is filled when any one of its paths holds a value. A field that the tool
returned as null shows that the need cannot be filled; a path that was never observed
shows nothing.
"""

from __future__ import annotations

from chatbot.react.types import Proof
from chatbot.understanding.needs import Need

PROOFS: tuple[Proof, ...] = (
    Proof(Need.ORDER_STATUS, "get_order", "status"),
    Proof(Need.ORDER_STATUS, "list_my_orders", "orders[].status"),
    Proof(Need.SHIPPED, "get_order", "shipped_at"),
    Proof(Need.SHIPPED, "get_order", "status"),
    Proof(Need.SHIPPED, "track_shipment", "status"),
    Proof(Need.LOCATION, "track_shipment", "place"),
    Proof(Need.ETA, "track_shipment", "estimated_delivery_at"),
    Proof(Need.ETA, "track_shipment", "delivered_at"),
    Proof(Need.TRACKING_ID, "get_order", "parcels[].tracking_id"),
    Proof(Need.REFUND_STATUS, "get_refund", "refunds[].status"),
    Proof(Need.CANCEL, "get_order", "status"),
    Proof(Need.CHANGE_ADDRESS, "get_order", "status"),
    Proof(Need.RETURN, "get_order", "status"),
    Proof(Need.RETURN, "search_help", "articles[].excerpt"),
    Proof(Need.INVOICE, "search_help", "articles[].excerpt"),
    Proof(Need.POLICY, "search_help", "articles[].excerpt"),
)
