"""Status words in an answer, and which of them an observation makes true."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chatbot.react.facts import Fact


class State(StrEnum):
    """What a status word says; finer than any one of the enums."""

    UNPAID = "unpaid"
    PAID = "paid"
    PACKED = "packed"
    SHIPPED = "shipped"
    ON_THE_WAY = "on_the_way"
    PENDING = "pending"
    PICKED_UP = "picked_up"
    IN_TRANSIT = "in_transit"
    OUT_FOR_DELIVERY = "out_for_delivery"
    DELIVERED = "delivered"
    DELIVERY_FAILED = "delivery_failed"
    RETURNING = "returning"
    RETURNED = "returned"
    REFUNDED = "refunded"
    REFUND_REQUESTED = "refund_requested"
    REFUND_APPROVED = "refund_approved"
    REFUND_PROCESSING = "refund_processing"
    REFUND_DECLINED = "refund_declined"
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class StatusMention:
    start: int
    end: int
    text: str
    state: State
    negated: bool = False


_ZH: tuple[tuple[State, str], ...] = (
    (State.REFUND_DECLINED, r"退款(?:申请)?(?:已)?(?:被)?(?:拒绝|驳回|未通过|没有通过|拒了)|拒绝(?:了)?(?:您的)?退款"),
    (State.REFUND_PROCESSING, r"退款(?:申请)?(?:正在|还在|在)?(?:处理中|进行中|审核中|办理中)|退款中|正在(?:为您)?(?:处理|办理)退款|退款(?:正在|还在)(?:处理|审核|办理)|待退款"),
    (State.REFUND_APPROVED, r"退款(?:申请)?(?:已经?|已被)?(?:审核)?(?:通过|同意|批准|核准)|同意(?:了)?退款"),
    (State.REFUND_REQUESTED, r"(?:已经?)?(?:提交|收到|申请)(?:了)?(?:您的)?退款(?:申请)?|退款申请(?:已经?)?(?:提交|收到|受理)|已申请退款|退款已申请"),
    (State.REFUNDED, r"(?:已经?|已全额|已经全额)退款|退款(?:已经?|都)?(?:成功|完成|到账|退回|打回|原路退回|结清)|(?:已|完成)(?:了)?退款|退款完毕|款项已(?:经)?(?:退回|到账|原路退回)|钱(?:已经?)?退(?:了|回)|已(?:经)?(?:原路)?退回(?:至|到)?(?:您的)?(?:账户|支付|银行卡|微信|原支付)"),
    (State.DELIVERY_FAILED, r"(?:派送|投递|配送|派件|送货)(?:未成功|失败|不成功|异常)|未能(?:成功)?(?:送达|派送|投递)|未妥投"),
    (State.OUT_FOR_DELIVERY, r"(?:正在|正)?(?:派送|配送|派件|投递)(?:途)?中|正在(?:为您)?(?:派送|配送|派件|投递)|送货途中|快递员正(?:在)?送|已(?:安排|开始)派(?:送|件)"),
    (State.DELIVERED, r"签收|送达|妥投|送到(?:了)?|收货(?!地址|人|信息|城市)|派送(?:完成|成功)|投递成功|配送(?:完成|成功)|已到货"),
    (State.PICKED_UP, r"揽收|揽件|取件"),
    (State.IN_TRANSIT, r"运输(?:途)?中|运送(?:途)?中|在途|转运中|正在运输|正在运送|正在转运"),
    (State.ON_THE_WAY, r"在路上|在来的路上|途中|在赶来"),
    (State.PACKED, r"打包(?:好|完成|完毕)|已打包|包装(?:好|完成)|备货完成|已备货|已配货|打包"),
    (State.SHIPPED, r"发货|发出|寄出|出库|发走|寄走"),
    (State.UNPAID, r"待(?:付款|支付)|未(?:付款|支付)|等待(?:付款|支付)|没(?:有)?(?:付款|支付)|尚未(?:付款|支付)"),
    (State.PAID, r"付款|支付(?!宝|方式|账户|渠道|平台)|付清"),
    (State.RETURNING, r"退回(?:途)?中|退货(?:途)?中|正在退(?:回|货)|退回途中"),
    (State.RETURNED, r"(?:已经?)退(?:回|货)(?!款|至|到)|退货(?:已)?完成"),
    (State.CANCELLED, r"取消|已关闭|关闭了"),
    (State.LOST, r"丢失|丢件|遗失|弄丢|寄丢"),
)  # fmt: skip

_EN: tuple[tuple[State, str], ...] = (
    (State.REFUND_DECLINED, r"refund(?: request)? (?:has been |was |is |got )?(?:declined|rejected|denied|refused)|(?:declined|rejected|denied|refused) (?:the|your|a) refund"),
    (State.REFUND_PROCESSING, r"refund(?: request| of [^ ]{1,12})? (?:has been |is |was )?(?:still |currently |now |being )*(?:processing|in process|in progress|under way|underway|pending|processed (?:now|at the moment)|under review|on its way|in the works)|refund (?:is )?(?:currently |still |now )?being (?:processed|handled|reviewed)|processing (?:the|your) refund"),
    (State.REFUND_APPROVED, r"refund(?: request| of [^ ]{1,12})? (?:has been |has already been |was |is |has )?approved|approved (?:the|your|a) refund"),
    (State.REFUND_REQUESTED, r"refund(?: request)? (?:has been |was |is )?(?:requested|submitted|received|registered)|requested (?:a|the|your) refund"),
    (State.REFUNDED, r"refund(?: request| of [^ ]{1,14}(?: [A-Z]{3})?)?(?: for [^ ]{1,12}| to your [a-z ]{1,24})? (?:has |have )?(?:already |now )?(?:been |was |is |got )?(?:already |now |fully )?(?:issued|completed|complete|settled|paid(?: out| back)?|sent|gone through|done|credited|processed|successful|made|finali[sz]ed|returned)|refunded|(?:issued|completed|sent) (?:the|your|a) (?:full )?refund|money (?:has been |was |is )(?:returned|sent back|back)"),
    (State.DELIVERY_FAILED, r"delivery (?:attempt )?(?:has |was )?(?:failed|unsuccessful)|failed delivery|delivery (?:was )?attempt(?:ed)?|failed (?:delivery )?attempt|(?:could not|couldn't|couldnt|unable to) be delivered|failed to deliver|(?:not|un)(?: been)? ?successfully delivered"),
    (State.OUT_FOR_DELIVERY, r"out for delivery|out with the (?:courier|driver)|on (?:the|a) delivery (?:vehicle|van|truck)|with (?:the|your) (?:delivery )?(?:driver|courier) (?:for|to) deliver\w*|being delivered"),
    (State.RETURNING, r"(?:being|getting) (?:returned|sent back)|(?:on its|on the) way back|return(?: is)? in progress|returning to (?:the )?(?:sender|us|shop|seller)"),
    (State.RETURNED, r"(?:has been |have been |was |were |is |already )(?:returned|sent back)(?! to your| to the (?:original|card))"),
    (State.DELIVERED, r"delivered|handed over|handed to you|signed for|(?:has|have|had|'ve|'s)(?: now| just| already| not| yet)* arrived|arrived (?:yet|already)|(?:hasn't|haven't|hasnt) arrived|delivery (?:is |was |has been )?(?:complete|completed|successful)|(?:was|been|were) (?:dropped off|received)"),
    (State.IN_TRANSIT, r"in[ -]transit|moving through|being transported"),
    (State.ON_THE_WAY, r"on (?:its|their|the) way|en route|under way|underway|heading (?:to|for) (?:you|your)"),
    (State.PICKED_UP, r"picked up|collected by"),
    (State.PENDING, r"(?:label|shipment)(?: has been| was)? created|(?:awaiting|waiting for) (?:pick-?up|collection|the (?:carrier|courier))"),
    (State.PACKED, r"packed|boxed up|being (?:packed|prepared)|ready to (?:ship|go out)|getting packed"),
    (State.SHIPPED, r"shipped|dispatched|despatched|sent out|posted out|left (?:our|the) warehouse|gone out|(?:been|was) sent(?= out| on| to you| by| via|[.,]|$)|shipment has begun"),
    (State.UNPAID, r"unpaid|awaiting payment|(?:waiting|pending) (?:for )?payment|payment (?:is )?(?:pending|outstanding|not (?:yet )?(?:received|completed))|(?:not|n't)(?: yet| been)* paid(?: for)?"),
    (State.PAID, r"paid(?! out| back)|payment (?:has been |was |is )?(?:received|completed|complete|confirmed|successful|gone through)"),
    (State.CANCELLED, r"cancel(?:l)?ed"),
    (State.LOST, r"(?:has been|was|is|got|been) (?:lost|misplaced|stolen)|gone missing|lost in (?:transit|the mail)"),
)  # fmt: skip

_PATTERN = re.compile(
    "|".join(
        f"(?P<{prefix}{index}>{body})"
        for prefix, table in (("z", _ZH), ("e", r"\b"))
        for index, (_, body) in enumerate(table if prefix == "z" else ())
    )
    + "|"
    + r"(?<![A-Za-z])(?:"
    + "|".join(f"(?P<e{index}>{body})" for index, (_, body) in enumerate(_EN))
    + r")(?![A-Za-z])",
    re.I,
)
_BY_GROUP: Mapping[str, State] = {
    **{f"z{index}": state for index, (state, _) in enumerate(_ZH)},
    **{f"e{index}": state for index, (state, _) in enumerate(_EN)},
}
# Words whose own form already holds the "not".
_OWN_NEGATION = frozenset({State.UNPAID, State.DELIVERY_FAILED})

_NOT = re.compile(
    r"(?:未|没有?|尚未|还没有?|并未|并没有?|不是|不曾|无|非|not|n't|nt|never|no|without|isnt|hasnt"
    r"|neither|nor|rather than|instead of|yet to be|cannot)"
    r"(?:[\s被完全正式能]|been|yet|be|even|actually|officially|marked|as|being|现在|成功|显示|have|has|is|are"
    r"|currently|fully){0,8}$",
    re.I,
)
_NOT_AFTER = re.compile(
    r"^(?:状态)?(?:的)?(?:还|尚)?(?:没有?|未)(?:开始|完成|成功)|^(?:不了|不成)"
)
# What is only supposed, asked, planned or wished is no claim.
_UNREAL_BEFORE = re.compile(
    r"(?:\b(?:if|once|when|whether|after|until|till|unless|before|as soon as|in case|will"
    r"|would|should|could|can|may|might|must|shall|to be|'ll|going to|expected|estimated"
    r"|want|like|need|supposed|due|scheduled|planned|ever|how|every time|whenever|where|by)"
    r"\b|如果|若|一旦|是否|有没有|有无|假如|要是|万一|等|待|预计|预期|将|会|请|需要|可以|能|可|想|要"
    r"|能否|何时|什么时候|何处|申请|准备|打算|尽快|安排|等待|即将|帮您|为您|显示为?未)"
    r"[^,，。;；]{0,60}$",
    re.I,
)
_UNREAL_AFTER = re.compile(
    r"^[^,，。;；.]{0,12}?(?:之?后(?:会|才|再|即|可|您|，|,|就)|以后|前(?:，|,|可|您)|的话|与否|吗|了没|没有[?？]|时(?:，|,|会)"
    r"|情况|状态|进度|信息|记录|凭证|方式|时间|日期|地址|政策|服务|流程|规则|问题|人员|员|范围|地点|政|时效|申请|订单吗|按钮)",
)
_ASKS = re.compile(r"[?？]|吗[。]?$|呢[。]?$")


def find_statuses(
    text: str, bounds: Sequence[tuple[int, int]]
) -> Iterator[StatusMention]:
    """The status words that ``text`` says of something as a fact.

    ``bounds`` are the sentences. Words under "if", "when", "will", "whether" and in
    questions are left out: they claim nothing.
    """
    for start, end in bounds:
        if _ASKS.search(text, max(start, end - 3), end):
            continue
        for match in _PATTERN.finditer(text, start, end):
            mention = _mention(text, start, end, match)
            if mention is not None:
                yield mention


def _mention(
    text: str, start: int, end: int, match: re.Match[str]
) -> StatusMention | None:
    assert match.lastgroup is not None
    state = _BY_GROUP[match.lastgroup]
    before = text[max(start, match.start() - 80) : match.start()]
    after = text[match.end() : min(end, match.end() + 24)]
    negated = state not in _OWN_NEGATION and bool(
        _NOT.search(before[-40:]) or _NOT_AFTER.search(after)
    )
    if _UNREAL_AFTER.search(after) or _is_unreal(before):
        return None
    return StatusMention(match.start(), match.end(), match.group(), state, negated)


_CUT = re.compile(r"[,，:：()（）]|\b(?:but|and)\b|但|不过|而")


def _is_unreal(before: str) -> bool:
    cut = 0
    for match in _CUT.finditer(before):
        cut = match.end()
    return bool(_UNREAL_BEFORE.search(before[cut:]))


# ---- what is true

_S = State
_ORDER: Mapping[str, tuple[State, ...]] = {
    "unpaid": (_S.UNPAID,),
    "paid": (_S.PAID,),
    "packed": (_S.PACKED, _S.PAID),
    "shipped": (_S.SHIPPED, _S.ON_THE_WAY),
    "delivered": (_S.DELIVERED, _S.SHIPPED),
    "returning": (_S.RETURNING, _S.SHIPPED),
    "returned": (_S.RETURNED, _S.SHIPPED),
    "refunded": (_S.REFUNDED,),
    "cancelled": (_S.CANCELLED,),
}
_PARCEL: Mapping[str, tuple[State, ...]] = {
    "pending": (_S.PENDING,),
    "picked_up": (_S.PICKED_UP, _S.SHIPPED, _S.ON_THE_WAY),
    "in_transit": (_S.IN_TRANSIT, _S.SHIPPED, _S.ON_THE_WAY),
    "out_for_delivery": (_S.OUT_FOR_DELIVERY, _S.SHIPPED, _S.ON_THE_WAY),
    "delivered": (_S.DELIVERED, _S.SHIPPED),
    "delivery_failed": (_S.DELIVERY_FAILED, _S.SHIPPED),
    "returning": (_S.RETURNING, _S.SHIPPED),
    "returned": (_S.RETURNED, _S.SHIPPED),
}
_REFUND: Mapping[str, tuple[State, ...]] = {
    "requested": (_S.REFUND_REQUESTED,),
    "approved": (_S.REFUND_APPROVED,),
    "processing": (_S.REFUND_PROCESSING,),
    "settled": (_S.REFUNDED, _S.REFUND_APPROVED),
    "declined": (_S.REFUND_DECLINED,),
}
_BY_DATE: Mapping[str, tuple[State, ...]] = {
    "paid_at": (_S.PAID,),
    "shipped_at": (_S.SHIPPED,),
    "delivered_at": (_S.DELIVERED, _S.SHIPPED),
    "cancelled_at": (_S.CANCELLED,),
    "settled_at": (_S.REFUNDED,),
    "requested_at": (_S.REFUND_REQUESTED,),
}
NOT_SHIPPED = frozenset({"unpaid", "paid", "packed", "cancelled", "pending"})


def states_of(fact: Fact) -> tuple[State, ...]:
    """What this fact makes true of its order or parcel."""
    if fact.kind == "date":
        return _BY_DATE.get(fact.name, ())
    if fact.kind != "status" or not isinstance(fact.value, str):
        return ()
    return table_of(fact).get(fact.value, ())


def table_of(fact: Fact) -> Mapping[str, tuple[State, ...]]:
    """Whose status it is: a refund's, a parcel's or an order's."""
    if "refunds[" in fact.path:
        return _REFUND
    if "parcels[" in fact.path or fact.tool == "track_shipment":
        return _PARCEL
    return _ORDER


def is_event(fact: Fact) -> bool:
    """A status that a parcel once had; it proves nothing of now."""
    return "events[" in fact.path


def proof_of(
    state: State, negated: bool, facts: Iterable[Fact], past: bool = False
) -> Fact | None:
    """The fact that proves a state, or its absence, among those of one subject."""
    current = [fact for fact in facts if past or not is_event(fact)]
    if not negated:
        return next((fact for fact in current if state in states_of(fact)), None)
    if any(state in states_of(fact) for fact in current):
        return None
    return next((fact for fact in current if _denies(fact, state)), None)


_REFUND_STATES = frozenset(s for s in State if s.startswith("refund"))


def _denies(fact: Fact, state: State) -> bool:
    """Whether a known status shows that the subject is not in ``state``."""
    if fact.kind != "status" or is_event(fact):
        return False
    table = table_of(fact)
    if state in (_S.SHIPPED, _S.ON_THE_WAY):
        return fact.value in NOT_SHIPPED and table is not _REFUND
    if state in _REFUND_STATES:
        return table is not _PARCEL
    if state in (_S.PAID, _S.UNPAID):
        return table is _ORDER and fact.value in ("unpaid", "paid", "packed")
    return table is not _REFUND
