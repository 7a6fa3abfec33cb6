"""Status words in an answer, and which of them an observation makes true."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chatbot.react.facts import Fact
from chatbot.react.grounding.lexicon import word_list
from chatbot.react.grounding.status_words import State, alternation


@dataclass(frozen=True, slots=True)
class StatusMention:
    start: int
    end: int
    text: str
    state: State
    negated: bool = False


_MAIN, _MAIN_STATES = alternation(refunds=False)
_MONEY, _MONEY_STATES = alternation(refunds=True)
_MAIN_PATTERN = re.compile(_MAIN, re.IGNORECASE)
_MONEY_PATTERN = re.compile(_MONEY, re.IGNORECASE)
_SAYS_REFUND = re.compile(r"refund|money back|退款|退钱|退回款", re.IGNORECASE)
# Words whose own form already holds the "not".
_OWN_NEGATION = frozenset(
    {State.UNPAID, State.DELIVERY_FAILED, State.UNSHIPPED, State.REFUND_DECLINED}
)
_INNER_NOT = re.compile(r"没有|no\b|any\b|hasn|haven", re.IGNORECASE)

_NOT = re.compile(
    r"(?:未|没有?|尚未|还没有?|并未|并没有?|不是|不曾|无|非|not|n't|nt|never|no|without|isnt|hasnt"
    r"|neither|nor|nothing|none|nobody|rather than|instead of|yet to be|cannot)"
    r"(?:[\s被完全正式能]|been|yet|be|even|actually|officially|marked|as|being|was|were|has|现在|成功|显示|have|has|is|are"
    r"|currently|fully){0,8}$",
    re.I,
)
_NOT_AFTER = re.compile(
    r"^(?:状态)?(?:的)?(?:还|尚)?(?:没有?|未)(?:开始|完成|成功)|^(?:不了|不成)"
)
# What is only supposed, asked, planned or wished is no claim. Wide: a word anywhere
# before in the clause; near: a modal verb that governs the status word itself.
_SUPPOSED = word_list(r"""
    \b(?:if|once|when|whether|after|until|till|unless|before|as soon as|in case
        |whenever|every time|how|where|supposed)\b[^,;]{0,50}$
    (?:预计|预期|预估|如果|若|一旦|是否|有没有|有无|假如|要是|万一|待|等|何时|什么时候|何处|能否
        |显示为?未)[^,;。]{0,40}$
    前(?:能|可|会)?$
""")
_PLANNED = word_list(r"""
    \b(?:will|would|should|could|can|may|might|must|shall|going to|to|expected|estimated
        |due|scheduled|planned|cannot|can't|unable to|need|want|yet to)
        (?:\s(?:not|be|get|to|also|only|likely|probably|then|still|soon|[a-z]{2,12}ly))
        {0,4}\s?$
    'll(?: be)?\s?$
    (?:预计|预期|预估)[^,;。]{0,40}$
    (?:将|会|(?<!申)请|需要|可以|能|可|想|要|无法|不能|没法|没办法|不便|不可|准备
        |打算|尽快|安排|等待|即将|帮您|为您)[^,;。]{0,14}$
""")
_DONE = re.compile(r"(?:已|已经|刚刚|刚|成功|都)$")
# "Waiting to be shipped" is a state, "the state of shipping" is a thing to ask for.
_STATES = re.compile(r"(?:已|已经|待|未|没有?)[\u4e00-\u9fff]{2,3}$")
_UNREAL_AFTER = word_list(r"""
    ^[^,;。.]{0,12}?(?:之?后(?:会|才|再|即|可|您|,|就)|以后|前(?:,|可|您)|的话|与否|吗
        |了没|没有[?]|时(?:,|会))
    ^(?:的|了的)?(?:情况|状态|进度|信息|记录|凭证|方式|时间|日期|地址|政策|服务|流程|规则|问题
        |人员|员|范围|地点|时效|申请|按钮)
""")
_ASKS = re.compile(r"[?？]|吗[。]?$")


def find_statuses(
    text: str, bounds: Sequence[tuple[int, int]], about_refund: bool = False
) -> Iterator[StatusMention]:
    """The status words that ``text`` says of something as a fact.

    ``bounds`` are the sentences; ``about_refund`` says that the whole text speaks of a
    refund. Words under "if", "when", "will", "whether" and in questions are left out:
    they claim nothing.
    """
    for start, end in bounds:
        if _ASKS.search(text, max(start, end - 3), end):
            continue
        main = list(_MAIN_PATTERN.finditer(text, start, end))
        money: list[re.Match[str]] = []
        if says_refund := _SAYS_REFUND.search(text, start, end) or about_refund:
            money = list(_MONEY_PATTERN.finditer(text, start, end))
        # "Paid" is a refund's word only beside the word itself.
        first, second = (main, money) if says_refund is True else (money, main)
        for match in first:
            yield from _mention(text, start, end, match)
        for match in second:
            if not any(_overlap(match, other) for other in first):
                yield from _mention(text, start, end, match)


def _overlap(one: re.Match[str], other: re.Match[str]) -> bool:
    return one.start() < other.end() and other.start() < one.end()


def _mention(
    text: str, start: int, end: int, match: re.Match[str]
) -> Iterator[StatusMention]:
    states = _MONEY_STATES if match.re is _MONEY_PATTERN else _MAIN_STATES
    state = states[str(match.lastgroup)]
    before = text[max(start, match.start() - 80) : match.start()]
    after = text[match.end() : min(end, match.end() + 24)]
    words = match.group()
    negated = state not in _OWN_NEGATION and bool(
        _NOT.search(before[-40:]) or _NOT_AFTER.search(after) or _INNER_NOT.match(words)
    )
    unreal = bool(_UNREAL_AFTER.search(after)) and not (
        after.startswith(("状态", "的状态")) and _STATES.search(before + words)
    )
    if not (unreal or _is_unreal(before)):
        yield StatusMention(match.start(), match.end(), words, state, negated)


# "Expected on Thursday (Dec 3, around 6 pm) to be delivered": one clause.
_ASIDE = re.compile(r"[(（][^()（）\n]{0,40}[)）]")
_CUT = re.compile(r"[,，：]|:(?!\d)|\b(?:but|and)\b|但|不过|而")


def _is_unreal(before: str) -> bool:
    cut = 0
    before = _ASIDE.sub("", before)
    for match in _CUT.finditer(before):
        cut = match.end()
    clause = before[cut:]
    if _SUPPOSED.search(clause):
        return True
    return not _DONE.search(clause) and bool(_PLANNED.search(clause))


# ---- what is true

_S = State
_ORDER: Mapping[str, tuple[State, ...]] = {
    "unpaid": (_S.UNPAID, _S.UNSHIPPED),
    "paid": (_S.PAID, _S.UNSHIPPED),
    "packed": (_S.PACKED, _S.PAID, _S.UNSHIPPED),
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
    says_unpaid = (state, negated) in ((_S.UNPAID, False), (_S.PAID, True))
    if says_unpaid and (never := _never_paid(current)):
        return never
    if not negated:
        return next((fact for fact in current if state in states_of(fact)), None)
    if any(state in states_of(fact) for fact in current):
        return None
    return next((fact for fact in current if _denies(fact, state)), None)


def _never_paid(facts: Iterable[Fact]) -> Fact | None:
    """The status of an order that was cancelled before anything was paid."""
    known = list(facts)
    if any(fact.name == "paid_at" for fact in known):
        return None
    return next(
        (
            fact
            for fact in known
            if fact.kind == "status"
            and table_of(fact) is _ORDER
            and fact.value == "cancelled"
        ),
        None,
    )


_REFUND_STATES = frozenset(s for s in State if s.startswith("refund"))


def _denies(fact: Fact, state: State) -> bool:
    """Whether a known status shows that the subject is not in ``state``."""
    if state in _REFUND_STATES:
        # Only the refunds themselves show that there is none.
        return fact.tool == "get_refund"
    if fact.kind != "status" or is_event(fact):
        return False
    table = table_of(fact)
    if state in (_S.SHIPPED, _S.ON_THE_WAY):
        return fact.value in NOT_SHIPPED and table is not _REFUND
    if state in (_S.PAID, _S.UNPAID):
        return table is _ORDER and fact.value in ("unpaid", "paid", "packed")
    return table is not _REFUND
