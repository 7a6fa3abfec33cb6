"""Reads about money on its way back."""

from __future__ import annotations

from collections.abc import Mapping

from tools.authorization import Action, roles_that
from tools.backends import backend
from tools.catalog.results import RefundResult, iso, money
from tools.catalog.tool import Raw, Tool, owner_of
from tools.contracts import Actor, Effect, Json, ToolSpec
from tools.errors import NotFound


async def _get_refund(actor: Actor, arguments: Mapping[str, Json]) -> Raw:
    found = await backend().refunds(owner_of(actor), str(arguments["order_id"]))
    if found is None:
        raise NotFound("no such order of this customer")
    return {
        "order_id": found.order_id,
        "refunds": [
            {
                "refund_id": refund.refund_id,
                "status": refund.status,
                "amount": money(refund.amount),
                "requested_at": iso(refund.requested_at),
                "settled_at": iso(refund.settled_at),
                "expected_at": iso(refund.expected_at),
                "method": refund.method,
            }
            for refund in found.refunds
        ],
        "total_refunds": len(found.refunds),
    }


GET_REFUND = Tool(
    spec=ToolSpec(
        name="get_refund",
        description={
            "en": "Look up the refunds of one order: status, amount, times.",
            "zh": "查询一个订单的退款：状态、金额、时间。",
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
        fields=tuple(RefundResult.model_fields),
        roles=roles_that(Action.READ_REFUND),
    ),
    run=_get_refund,
    result=RefundResult,
)
