"""What a date in an answer is said to be the date of."""

from __future__ import annotations

from collections.abc import Mapping

from chatbot.react.grounding.lexicon import word_list

# Role -> names of the fields that may prove it. "" is a date without any such word.
FIELDS: Mapping[str, frozenset[str]] = {
    "expected": frozenset({"estimated_delivery_at"}),
    "delivered": frozenset({"delivered_at", "at:delivered"}),
    "arrival": frozenset({"estimated_delivery_at", "delivered_at", "at:delivered"}),
    "shipped": frozenset({"shipped_at", "at:picked_up"}),
    "placed": frozenset({"placed_at"}),
    "paid": frozenset({"paid_at"}),
    "cancelled": frozenset({"cancelled_at"}),
    "refund": frozenset({"requested_at", "settled_at", "expected_at"}),
    "scan": frozenset({"last_event_at", "at", "shipped_at", "delivered_at"}),
    "as_of": frozenset({"observed_at", "last_event_at", "at"}),
}

_ROLES = word_list(r"""
    (?P<as_of>as of|as at|checked|observed|just now|last (?:checked|updated?
        |synced|refreshed)
        |updated?|at the time of|looked up|status at|截至|截止|查询|更新|查到|目前|当前
        |现在|核实|观察|数据时间)
    (?P<scan>arriv(?:ed|al) (?:at|in)\b(?! your)|departed|left (?!our)|reached|scan
        (?:ned)?|last (?:event|seen|scan|movement|status|known)|logged|recorded
        |passed through|抵达|离开|扫描|最后|最新|最近|揽收|picked up|collected
        |sent (?:it |them )?out|out for delivery|开始(?:派送|派件|配送)|出来的?|出站
        |tried to|attempt|came by|送过|派送过|投递过|没送成|上门|(?:派送|投递)(?:失败
        |未)
        |到(?:达|了|的)?(?=[^,，。您你家]{1,12}(?:中心|站|网点|营业|机场|仓|集散|分拨))
        |到(?:达|了|的)(?=[\u4e00-\u9fff]{2})(?![您你家手货])|已到|记录|动态|动静|轨迹)
    (?P<refund>refund|退款|到账|退回)
    (?P<expected>expect|estimat|\beta\b|\bdue\b|will (?:be delivered|arrive|reach|get
        |come|be there|be with)|receiv(?:e|ing)\b|have it\b|in your hands
        |should (?:be delivered|arrive|reach|get|be with|be there)|going to (?:arrive
        |be delivered)|scheduled|anticipat|project|predict|(?:arriving|coming|arrives?
        |get there|be there|be with you|land)\b|delivery (?:date|time|window|is|by|on)
        |deliver(?:y)?(?: by| on| is|:)|预计|预期|预估|将于|将在|能到|会到|可到|能送
        |会送|可送|到货|应该|大概|有望)
    (?P<delivered>delivered|arrived\b(?! (?:at|in))|signed for|received|dropped off|签收
        |已送达|妥投|已经送达|送到了|收货)
    (?P<arrival>arriv|reach(?:es)? you|送达|到达|送到|派送|收到|配送)
    (?P<shipped>ship(?:ped|ment|ping)?\b|dispatch|despatch|sent|left our|posted|发货
        |寄出|发出|出库|发走|发(?:的|了|过)货?|寄的)
    (?P<cancelled>cancel|取消)
    (?P<placed>placed|ordered|order(?:ing)? date|created|bought|purchased|下单|下的单
        |创建|购买|订购)
    (?P<paid>paid|payment|付款|支付|付的?了?款)
""")


def role_of(
    text: str, start: int, end: int, clause: tuple[int, int], sentence_start: int
) -> str:
    """The role of the date at ``start:end``: that of the nearest word in its clause,
    else of the last such word before it in the sentence; "" where there is none."""
    nearest, least = "", 10_000
    # Room for words that the date itself would cut.
    for match in _ROLES.finditer(
        text, max(clause[0], start - 120), min(clause[1], end + 60)
    ):
        if match.end() <= start:
            distance = start - match.end()
        elif match.start() >= end:
            # A word behind counts as further off: "shipped May 3, arrives May 5".
            distance = match.start() - end + 3
        else:
            continue
        if distance < least:
            nearest, least = match.lastgroup or "", distance
    if nearest:
        return nearest
    for match in _ROLES.finditer(text, max(sentence_start, start - 160), start):
        nearest = match.lastgroup or ""
    return nearest
