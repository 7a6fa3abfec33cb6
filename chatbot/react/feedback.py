"""What a model is told about a draft that did not pass: short, concrete, one step each.

Small models follow "call this tool with this argument" and little else.
"""

from __future__ import annotations

from chatbot.react.types import Claim, Coverage, Slot, SlotState
from chatbot.understanding.needs import Language, Need

_MAX_LINES = 4

_ASKED: dict[Language, dict[Need, str]] = {
    "en": {
        Need.ORDER_STATUS: "the status of {order}",
        Need.SHIPPED: "whether {order} has shipped",
        Need.LOCATION: "where {order} is now",
        Need.ETA: "when {order} will arrive",
        Need.TRACKING_ID: "the tracking number of {order}",
        Need.REFUND_STATUS: "where the refund for {order} stands",
        Need.CANCEL: "whether {order} can be cancelled",
        Need.RETURN: "how to return {order}",
        Need.CHANGE_ADDRESS: "whether the address of {order} can be changed",
        Need.INVOICE: "how to get an invoice",
        Need.POLICY: "what the shop's rules say",
        Need.HUMAN: "the wish to speak to a person",
    },
    "zh": {
        Need.ORDER_STATUS: "{order}的状态",
        Need.SHIPPED: "{order}是否已发货",
        Need.LOCATION: "{order}现在在哪里",
        Need.ETA: "{order}什么时候送达",
        Need.TRACKING_ID: "{order}的运单号",
        Need.REFUND_STATUS: "{order}的退款进度",
        Need.CANCEL: "{order}能否取消",
        Need.RETURN: "{order}如何退货",
        Need.CHANGE_ADDRESS: "{order}能否修改地址",
        Need.INVOICE: "如何开发票",
        Need.POLICY: "店铺的相关规定",
        Need.HUMAN: "客户要找人工客服",
    },
}
_BY_TRACKING = frozenset({Need.LOCATION, Need.ETA})
_BY_HELP = frozenset({Need.POLICY, Need.INVOICE, Need.RETURN})


def coverage_feedback(coverage: Coverage, language: Language) -> str:
    """What to change in the draft, in the customer's language; "" where it passed."""
    lines = [_slot_line(slot, language) for slot in coverage.unanswered]
    lines += _claim_lines(coverage.unsupported, language)
    lines = list(dict.fromkeys(lines))[:_MAX_LINES]
    if lines and not _needs_a_look_up(coverage):
        lines.append(_REWRITE[language])
    return "\n".join(lines)


def _needs_a_look_up(coverage: Coverage) -> bool:
    return any(slot.state is SlotState.OPEN for slot in coverage.unanswered) or any(
        claim.kind == "policy" for claim in coverage.unsupported
    )


# Small models look up again what they were told to say.
_REWRITE: dict[Language, str] = {
    "en": "Call no function. Write the whole answer again, in English.",
    "zh": "不要再调用函数，请用中文重写完整的回答。",
}


def _slot_line(slot: Slot, language: Language) -> str:
    asked = (
        _ASKED[language]
        .get(slot.need, slot.need.value)
        .format(order=_order(slot, language))
    )
    match slot.state:
        case SlotState.OPEN:
            step = _next_call(slot, language)
            return (
                f"You have not yet answered: {asked}. {step}"
                if language == "en"
                else f"还没有回答：{asked}。{step}"
            )
        case SlotState.UNFILLABLE:
            reason = _REASONS[language].get(slot.why, _REASONS[language]["unavailable"])
            return (
                f"Say plainly about {asked}: {reason}"
                if language == "en"
                else f"请如实说明{asked}：{reason}"
            )
        case SlotState.FILLED:
            value = _value(slot)
            return (
                f"You have not yet answered: {asked}. It was observed: {value}. Say it."
                if language == "en"
                else f"还没有回答：{asked}。已查到：{value}，请写进回答。"
            )


_REASONS: dict[Language, dict[str, str]] = {
    "en": {
        "not_found": "no such order or parcel was found.",
        "missing_field": "the systems hold no such information.",
        "timeout": "it could not be checked just now: unknown, which is not 'no'.",
        "unavailable": "it could not be checked just now.",
        "denied": "it cannot be looked up for this customer.",
    },
    "zh": {
        "not_found": "没有找到这个订单或包裹。",
        "missing_field": "系统里没有这项信息。",
        "timeout": "暂时无法查询（超时表示未知，不表示没有）。",
        "unavailable": "暂时无法查询。",
        "denied": "无法为该客户查询。",
    },
}


def _order(slot: Slot, language: Language) -> str:
    if slot.order is not None:
        return f"order {slot.order}" if language == "en" else f"订单 {slot.order} "
    if slot.tracking_id is not None:
        return (
            f"parcel {slot.tracking_id}"
            if language == "en"
            else f"包裹 {slot.tracking_id} "
        )
    return "the order" if language == "en" else "订单"


def _next_call(slot: Slot, language: Language) -> str:
    call = _call(slot)
    if call is None:
        return ""
    return f"Call {call}." if language == "en" else f"请调用 {call}。"


def _call(slot: Slot) -> str | None:
    if slot.need is Need.HUMAN:
        return "handoff_to_human"
    if slot.need in _BY_HELP:
        return "search_help"
    if slot.need in _BY_TRACKING and slot.tracking_id:
        return f"track_shipment(tracking_id={slot.tracking_id})"
    if slot.order is None:
        return "list_my_orders"
    tool = "get_refund" if slot.need is Need.REFUND_STATUS else "get_order"
    return f"{tool}(order_id={slot.order})"


def _value(slot: Slot) -> str:
    if isinstance(slot.value, list):
        return ", ".join(str(value) for value in slot.value)[:120]
    return str(slot.value)[:120]


_ADVICE: dict[Language, dict[str, str]] = {
    "en": {
        "order_number": "no such order was seen. Leave it out",
        "tracking_number": "no such tracking number was seen. Leave it out",
        "date": "leave it out, or say that no such date is known",
        "date:wrong_role": "that is the time of another event. Leave it out, or say "
        "that no arrival date is known",
        "amount": "leave it out",
        "place": "leave it out, or name the observed place",
        "status": "say only the observed status",
    },
    "zh": {
        "order_number": "没有查到这个订单号，请删去",
        "tracking_number": "没有查到这个运单号，请删去",
        "date": "请删去，或说明没有这个时间",
        "date:wrong_role": "那是另一件事的时间，请删去，或说明暂无预计送达时间",
        "amount": "请删去",
        "place": "请删去，或写查到的地点",
        "status": "只能写查到的状态",
    },
}
_ALONE: dict[Language, dict[str, str]] = {
    "en": {
        "promise": "Do not promise anything for later: {text}",
        "effect": "Nothing was changed or sent. Do not say: {text}",
        "policy": "No help article says {text}. Call search_help or leave it out.",
        "contact": "Do not give this contact or ask for codes: {text}",
        "filler": "Write only the answer to the customer, without: {text}",
        "prompt": "Leave this out: {text}",
    },
    "zh": {
        "promise": "不要承诺以后的事：{text}",
        "effect": "没有办理过任何操作，不要说：{text}",
        "policy": "没有帮助文章这样写：{text}。请调用 search_help，或删去。",
        "contact": "不要给出这个联系方式，也不要索要验证码：{text}",
        "filler": "只写给客户的回答，不要写：{text}",
        "prompt": "请删去：{text}",
    },
}


def _claim_lines(claims: tuple[Claim, ...], language: Language) -> list[str]:
    return [_claim_line(claim, language) for claim in claims]


def _claim_line(claim: Claim, language: Language) -> str:
    text = f"'{claim.text[:60]}'" if language == "en" else f"“{claim.text[:60]}”"
    if claim.kind == "filler" and claim.why == "empty":
        return (
            "The answer is empty. Write it."
            if language == "en"
            else "回答是空的，请写出回答。"
        )
    if claim.kind == "filler" and claim.why == "too_long":
        return "The answer is too long." if language == "en" else "回答太长了。"
    if claim.kind == "filler" and claim.why == "language":
        return "That was not English." if language == "en" else "上面不是中文。"
    alone = _ALONE[language].get(claim.kind)
    if alone is not None:
        return alone.format(text=text)
    advice = _ADVICE[language]
    said = advice.get(f"{claim.kind}:{claim.why}") or advice[claim.kind]
    if language == "en":
        return f"Not proved by any observation: {text}; {said}."
    return f"没有查询结果能证明{text}：{said}。"
