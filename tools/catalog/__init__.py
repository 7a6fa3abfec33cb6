"""Every tool there is, by the name under which a model may ask for it."""

from __future__ import annotations

from tools.catalog.actions import CHANGES, CHECK_ACTION
from tools.catalog.help import SEARCH_HELP
from tools.catalog.orders import GET_ORDER, LIST_MY_ORDERS
from tools.catalog.refunds import GET_REFUND
from tools.catalog.shipments import TRACK_SHIPMENT
from tools.catalog.tool import Tool

CATALOG: dict[str, Tool] = {
    tool.spec.name: tool
    for tool in (
        LIST_MY_ORDERS,
        GET_ORDER,
        TRACK_SHIPMENT,
        GET_REFUND,
        SEARCH_HELP,
        CHECK_ACTION,
        *CHANGES,
    )
}
