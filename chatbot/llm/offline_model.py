"""A decision-maker without a model: the whole product without a key."""

from __future__ import annotations

from collections.abc import Sequence

from chatbot.react.types import (
    AskCustomer,
    FinalAnswer,
    Observed,
    Proposal,
    Reply,
    RunState,
    Usage,
)
from chatbot.understanding.references import resolve_orders
from tools.contracts import (
    Json,
    Observation,
    ObservationStatus,
    ToolCall,
    ToolSpec,
    canonical_number,
)


class OfflineModel:
    """Chooses the next move by rules; same interface, tools and limits as any model.

    Deterministic: equal states give equal replies.
    """

    name = "Waybill offline"

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        move = _next_move(state)
        return Reply((move,), Usage())


def _next_move(state: RunState) -> Proposal:
    question = state.question
    if question is None:
        raise ValueError("the run has no question yet")
    seen = [e.observation for e in state.events if isinstance(e, Observed)]
    zh = question.language == "zh"
    orders = resolve_orders(question, earlier=state.background.earlier_questions)
    if not orders:
        return AskCustomer(
            "请问是哪个订单？请告诉我订单号。" if zh else "Which order is it, please?"
        )
    order = orders[0]
    found = _of(seen, "get_order", "order_id", order)
    if found is None:
        return _call(len(state.events), "get_order", order_id=order)
    if found.status is not ObservationStatus.OK:
        return FinalAnswer(_not_found(order, found, zh=zh))
    tracking_id = _first_tracking(found)
    if tracking_id is None:
        return FinalAnswer(_without_parcel(order, found, zh=zh))
    tracked = _of(seen, "track_shipment", "tracking_id", tracking_id)
    if tracked is None:
        return _call(len(state.events), "track_shipment", tracking_id=tracking_id)
    return FinalAnswer(_tracked(order, tracking_id, tracked, zh=zh))


def _call(number: int, name: str, **arguments: Json) -> ToolCall:
    return ToolCall(id=f"c{number:05d}000", name=name, arguments=arguments)


def _of(
    seen: list[Observation], tool: str, argument: str, value: str
) -> Observation | None:
    for one in reversed(seen):
        if one.tool == tool and canonical_number(
            str(one.arguments.get(argument, ""))
        ) == canonical_number(value):
            return one
    return None


def _first_tracking(order: Observation) -> str | None:
    parcels = order.fields.get("parcels")
    for parcel in parcels if isinstance(parcels, list) else ():
        if isinstance(parcel, dict) and isinstance(parcel.get("tracking_id"), str):
            return str(parcel["tracking_id"])
    return None


def _not_found(order: str, found: Observation, *, zh: bool) -> str:
    if found.status is ObservationStatus.NOT_FOUND:
        return (
            f"没有找到订单 {order}，请核对订单号。"
            if zh
            else f"I could not find order {order}. Please check the number."
        )
    return (
        f"暂时无法查询订单 {order}，请稍后再试。"
        if zh
        else f"I could not check order {order} just now."
    )


def _without_parcel(order: str, found: Observation, *, zh: bool) -> str:
    shipped = found.fields.get("shipped_at") is not None
    if zh:
        return (
            f"订单 {order} 已发货，但没有运单号。"
            if shipped
            else f"订单 {order} 还没有发货。"
        )
    return (
        f"Order {order} has shipped, but it has no tracking number."
        if shipped
        else f"Order {order} has not shipped yet."
    )


def _tracked(order: str, tracking_id: str, tracked: Observation, *, zh: bool) -> str:
    place = tracked.fields.get("place")
    if tracked.status is not ObservationStatus.OK or not place:
        return (
            f"订单 {order} 已发货，运单号 {tracking_id}，暂时查不到位置。"
            if zh
            else f"Order {order} has shipped with tracking number {tracking_id}; "
            "I could not check where it is just now."
        )
    return (
        f"订单 {order} 已发货，运单号 {tracking_id}，目前在{place}。"
        if zh
        else f"Order {order} has shipped. Its tracking number is {tracking_id} "
        f"and the parcel is now at {place}."
    )
