"""The changes a model may propose: inside the loop each is only previewed.

The shop's own code says whether the change may be made and what it would do. Making it
is another matter: a confirmed and approved request, and ``gateway.perform``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

from tools.authorization import Action, roles_that
from tools.backends import changing_backend
from tools.catalog.results import Money, Name, Number, Result, money
from tools.catalog.tool import Raw, Tool
from tools.contracts import (
    ADDRESS_FIELDS,
    ActionKind,
    Actor,
    Approver,
    Effect,
    Json,
    ToolSpec,
)
from tools.errors import NotFound


class PreviewResult(Result):
    """What the model is told of a change: no address, no payment method's number."""

    kind: ActionKind
    eligible: bool
    reason: Name = ""
    missing: list[Name] = []
    order_id: Number | None = None
    amount: Money | None = None
    direction: Literal["", "refund", "charge"] = ""
    items: list[Name] = []


async def _preview(
    kind: ActionKind, actor: Actor, arguments: Mapping[str, Json]
) -> Raw:
    found = await changing_backend().preview(actor.customer_id or "", kind, arguments)
    if found.reason == "not_found":
        raise NotFound("no such order of this customer")
    return {
        "kind": kind,
        "eligible": found.eligible,
        "reason": found.reason,
        "missing": list(found.missing),
        "order_id": arguments.get("order_id"),
        "amount": money(found.amount) if found.amount else None,
        "direction": found.direction,
        "items": list(found.items),
    }


_ORDER: Json = {"type": "string", "minLength": 1, "maxLength": 64}
_WORDS: Json = {"type": "string", "maxLength": 200}
_ITEMS: Json = {"type": "array"}
_ADDRESS: dict[str, Json] = dict.fromkeys(ADDRESS_FIELDS, _WORDS)


def _tool(
    kind: ActionKind, english: str, chinese: str, arguments: Mapping[str, Json]
) -> Tool:
    by_order = "order_id" in arguments
    return Tool(
        spec=ToolSpec(
            name=kind.value,
            description={
                "en": f"Propose to {english}. Nothing is done until the customer "
                "has confirmed it on a card.",
                "zh": f"提议{chinese}。客户在卡片上确认之前，不会办理任何操作。",
            },
            parameters={
                "type": "object",
                "properties": dict(arguments),
                "required": ["order_id"] if by_order else [],
                "additionalProperties": False,
            },
            effect=Effect.WRITE,
            fields=tuple(PreviewResult.model_fields),
            approver=Approver.CUSTOMER,
            roles=roles_that(Action.PROPOSE_CHANGE),
        ),
        run=partial(_preview, kind),
        result=PreviewResult,
    )


CHANGES = (
    _tool(
        ActionKind.CANCEL_ORDER,
        "cancel an order that was not packed yet",
        "取消尚未打包的订单",
        {
            "order_id": _ORDER,
            "reason": {
                "type": "string",
                "enum": ["no longer needed", "ordered by mistake"],
            },
        },
    ),
    _tool(
        ActionKind.CHANGE_ADDRESS,
        "change the delivery address of an order that was not packed yet",
        "修改尚未打包的订单的收货地址",
        {"order_id": _ORDER, **_ADDRESS},
    ),
    _tool(
        ActionKind.CHANGE_PAYMENT,
        "pay an order with another payment method",
        "更换订单的付款方式",
        {"order_id": _ORDER, "payment_method": _WORDS},
    ),
    _tool(
        ActionKind.CHANGE_ITEMS,
        "change the options of items in an order that was not packed yet",
        "修改尚未打包的订单中商品的规格",
        {
            "order_id": _ORDER,
            "items": _ITEMS,
            "new_items": _ITEMS,
            "payment_method": _WORDS,
        },
    ),
    _tool(
        ActionKind.RETURN_ITEMS,
        "return items of a delivered order",
        "退回已签收订单中的商品",
        {
            "order_id": _ORDER,
            "items": _ITEMS,
            "payment_method": _WORDS,
            "reason": _WORDS,
        },
    ),
    _tool(
        ActionKind.EXCHANGE_ITEMS,
        "exchange items of a delivered order for another variant",
        "把已签收订单中的商品换成其他规格",
        {
            "order_id": _ORDER,
            "items": _ITEMS,
            "new_items": _ITEMS,
            "payment_method": _WORDS,
        },
    ),
    _tool(
        ActionKind.REQUEST_REFUND,
        "refund an order, in whole or in part",
        "为订单全额或部分退款",
        {
            "order_id": _ORDER,
            "amount": _WORDS,
            "currency": {"type": "string", "maxLength": 3},
            "reason": _WORDS,
        },
    ),
    _tool(
        ActionKind.CHANGE_PROFILE_ADDRESS,
        "change the customer's default address",
        "修改客户的默认地址",
        _ADDRESS,
    ),
)


async def _check_action(actor: Actor, arguments: Mapping[str, Json]) -> Raw:
    return await _preview(ActionKind(str(arguments["action"])), actor, arguments)


CHECK_ACTION = Tool(
    spec=ToolSpec(
        name="check_action",
        description={
            "en": "Ask whether an order can be cancelled, returned, changed or "
            "refunded now. Proposes nothing.",
            "zh": "查询订单现在能否取消、退货、修改或退款，只查询，不提议。",
        },
        parameters={
            "type": "object",
            "properties": {
                "order_id": _ORDER,
                "action": {
                    "type": "string",
                    "enum": [
                        kind.value
                        for kind in ActionKind
                        if kind is not ActionKind.CHANGE_PROFILE_ADDRESS
                    ],
                },
            },
            "required": ["order_id", "action"],
            "additionalProperties": False,
        },
        effect=Effect.READ,
        fields=tuple(PreviewResult.model_fields),
        roles=roles_that(Action.PROPOSE_CHANGE),
    ),
    run=_check_action,
    result=PreviewResult,
)
