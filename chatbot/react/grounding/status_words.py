"""The words for each state of an order, a parcel and a refund, Chinese and English.

Within a language, the first state whose words fit a place wins: put the longer and the
more special before the shorter.
"""

from __future__ import annotations

from enum import StrEnum

from chatbot.react.grounding.lexicon import lines


class State(StrEnum):
    """What a status word says; finer than any one of the enums."""

    UNPAID = "unpaid"
    PAID = "paid"
    PACKED = "packed"
    UNSHIPPED = "unshipped"
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
    DELAYED = "delayed"


_ZH: dict[State, str] = {
    State.DELIVERY_FAILED: r"""
        (?:派送|投递|配送|派件|送货)(?:未成功|失败|不成功|异常)
        未能(?:成功)?(?:送达|派送|投递)
        未妥投
        (?:没有?|未能?)(?:派送|投递|送|派)成(?:功)?
        (?:派送|投递|送货|上门)(?:过)?(?:一次|两次)?[^,，。]{0,4}(?:未果|不成|没成功?|扑空)
        无人(?:签收|在家|接收)
    """,
    State.OUT_FOR_DELIVERY: r"""
        (?:正在|正)?(?:派送|配送|派件|投递)(?:途)?中
        正在(?:为您)?(?:派送|配送|派件|投递)
        装(?:上|车)[^,，。]{0,10}(?:车|出发)|送货途中|送货上门的?(?:路上|途中)|正在(?:给您|为您)?(?:送货|上门)
        快递员正(?:在)?送
        (?:配送员|快递员|派送员|骑手|小哥)[^,，。]{0,6}(?:拿到|取到|取走|带着|出发|装车)
        已(?:安排|开始)派(?:送|件)
    """,
    State.DELIVERED: r"""
        签收|送达|妥投|送到(?:了)?|已到货|投递成功
        (?:抵达|到达|到了?)目的地(?![\u4e00-\u9fff]{0,4}(?:市|城市|分拨|中心|网点|站))
        (?:放在?|留在|投递?到|丢在)[^,，。]{0,8}(?:门口|前台|信箱|快递柜|驿站|物业|门卫)
        (?:已经?|都)?(?:到您|在您)(?:手上|手里|手中|家)
        (?:家人|邻居|同事|物业|门卫|前台)[^,，。]{0,4}(?:代收|收了|签了)
        收货(?!地址|人|信息|城市)
        (?:由|被|已|经)[^,，。]{0,6}代收
        (?:派送|配送)(?:完成|成功)
    """,
    State.PICKED_UP: r"揽收|揽件|取件",
    State.IN_TRANSIT: r"""
        (?:运输|运送|转运)(?:途)?中
        在途
        正在(?:运输|运送|转运)
    """,
    State.RETURNING: r"正在退(?:回|货)(?:途?中)?|退(?:回|货)途?中",
    State.ON_THE_WAY: r"在路上|在来的路上|途中|在赶来",
    State.PACKED: r"""
        已?打包(?:好|完成|完毕)?
        包装(?:好|完成)
        备货完成|已备货|已配货|正在(?:备货|配货|拣货)
    """,
    State.UNSHIPPED: r"""
        (?:待|等待|等候)(?:仓库|商家|卖家)?(?:发货|出库|发出)
    """,
    State.SHIPPED: r"""
        发(?:的|了|过)货|寄(?:的|过)(?=[,，。件]|$)|(?<=[没未])寄(?=[呢哦啊,，。!]|$)
        发货|发出|寄出|出库|发走|寄走|发了(?=[哦啦呢的~,。!]|$)
        (?<=[没未])发(?=[呢哦啊嘞,，。!]|$)
    """,
    State.UNPAID: r"""
        (?:待|未|等待|尚未|没有?)(?:付款|支付)
    """,
    State.PAID: r"付款|支付(?!宝|方式|账户|渠道|平台)|付清",
    State.RETURNED: r"""
        已经?退(?:回|货)(?!款|至|到|换|原|您|给)|退(?:回|货)了|退货(?:已)?完成
    """,
    State.CANCELLED: r"取消|已关闭|关闭了",
    State.LOST: r"丢失|丢件|遗失|弄丢|寄丢|已经?(?:破损|损坏)|运输途?中(?:破损|损坏)",
    State.DELAYED: r"""
        (?:因|受|由于)[^,。]{0,8}(?:天气|疫情|暴雨|大雪|台风|海关|交通|节假日)
        (?:已|被|有所|出现|发生)延误
        清关|海关(?:查验|扣留|放行)
    """,
}
_EN: dict[State, str] = {
    State.DELIVERY_FAILED: r"""
        delivery (?:attempt )?(?:has |was |of [^ ]{1,12} )?(?:failed|unsuccessful)
        failed (?:delivery )?(?:attempt|delivery)
        delivery (?:was )?attempt(?:ed)?
        attempted (?:a )?delivery
        (?:could not|couldn'?t|unable to) be delivered
        (?:delivery|attempt)(?: [^ ,.]{1,12}){0,2} (?:failed|unsuccessful
            |did(?:n'?t| not) (?:succeed|work))
        tried (?:and failed )?to (?:be )?deliver(?:ed)?
        (?:no one|nobody) was (?:home|in|there|available)
        failed to deliver
    """,
    State.OUT_FOR_DELIVERY: r"""
        out for delivery
        out with the (?:courier|driver)
        on (?:the|a|its) (?:\w+ )?(?:truck|van|lorry) (?:to|for)
        (?:driver|courier) (?:now |already )?(?:has|picked|took|is carrying)
        on (?:the|a) delivery (?:vehicle|van|truck)
        with (?:the|your) (?:delivery )?(?:driver|courier) (?:for|to) deliver\w*
        being delivered
    """,
    State.RETURNING: r"""
        (?:being|getting) (?:returned|sent back)
        (?:on its|on the) way back
        return(?: is)? in progress
        returning to (?:the )?(?:sender|us|shop|seller)
    """,
    State.RETURNED: r"""
        (?:returned|sent)(?: [^ ,.]{1,12})? (?:back )?to (?:the |its )?
            (?:sender|shop|seller)
        (?:has been|have been|was|were|is|already) (?:returned|sent back)(?! to your
            | to the (?:original|card))
    """,
    State.DELIVERED: r"""
        delivered
        handed (?:over|to (?:you|someone|somebody|a |an |your ))|signed for
        (?:reached|arrived at) (?:its|the|your) (?:final )?
            (?:destination|address|door|home|house)
        (?:left|put|placed) (?:at|in|on|with) (?:your|the|a) (?:\w+ )?
            (?:door|porch|doorstep|mailbox|letterbox|reception|locker|neighbou?r)
        (?:with|at) (?:you|your (?:door|place|home|address)) (?:now|already)
        (?:has|have|had|'ve|'s)(?: now| just| already| not| yet){0,2} arrived(?! (?:at
            |in))
        (?:hasn'?t|haven'?t) arrived
        arrived (?:yet|already|safely)
        delivery (?:is |was |has been )?(?:complete|completed|successful)
        (?:was|been|were) (?:dropped off|received)
    """,
    State.IN_TRANSIT: r"in[ -]transit|moving through|being transported",
    State.ON_THE_WAY: r"""
        on (?:its|their|the) way
        en route
        heading (?:to|for) (?:you|your)
    """,
    State.PICKED_UP: r"picked up|collected by",
    State.PENDING: r"""
        (?:label|shipment)(?: has been| was)? created
        (?:awaiting|waiting for) (?:pick-?up|collection|the (?:carrier|courier))
    """,
    State.PACKED: r"""
        packed|boxed up|getting packed
        being (?:packed|prepared)
        ready to (?:ship|go out)
    """,
    State.UNSHIPPED: r"""
        (?:waiting|still|yet|remains) to be (?:shipped|dispatched|sent(?: out)?)
        (?:awaiting|waiting for|pending) (?:shipment|shipping|dispatch)
        (?:still )?(?:with us|in our warehouse)
        not left (?:our|the) warehouse
        unshipped
    """,
    State.SHIPPED: r"""
        shipped|dispatched|despatched|sent out|posted out|gone out
        left (?:our|the) warehouse
        (?<=have )sent (?:it|them|this|that)|(?<=n't )sent (?:it|them|this|that)
        (?<=not )sent (?:it|them|this|that)
        (?:been|was) sent(?= out| on| to you| by| via|[.,]|$)
    """,
    State.UNPAID: r"""
        unpaid
        awaiting payment
        (?:waiting|pending) (?:for )?payment
        payment (?:is )?(?:pending|outstanding|not (?:yet )?(?:received|completed))
        (?:not|n't|nt)(?: yet| been){0,2} paid(?: for)?
    """,
    State.PAID: r"""
        paid(?! out| back| by| within)
        payment (?:has been |was |is )?(?:received|completed|complete|confirmed
            |successful|gone through)
    """,
    State.CANCELLED: r"cancel(?:l)?ed",
    State.LOST: r"""
        (?:has been|was|is|got|been|it'?s|(?:parcel|package)'?s)
            \s(?:(?:probably|likely|apparently|presumably|now|already|perhaps)\s)*
            (?:lost|misplaced|stolen)
        damaged in transit
        gone missing
        lost in (?:transit|the mail)
    """,
    State.DELAYED: r"""
        (?:has|have|had|been|is|was|being|got) delayed
        delayed (?:it|by|due|because|at|in)
        (?:due to|because of) (?:the |bad |severe |heavy )?
            (?:weather|customs|traffic|storms?|snow|strikes?|holidays?)
        (?:cleared|held (?:at|by|in)|stuck in|passed) customs
        customs (?:has |have )?(?:cleared|released|held|inspected)
        customs (?:is |are |has been )(?:now |still |currently )?(?:holding|inspecting
            |checking|examining|processing|clearing)
        (?:at|in|with|through) customs
    """,
}
# Only where the sentence, or the whole question, is about a refund.
_REFUND_ZH: dict[State, str] = {
    State.REFUND_DECLINED: r"拒绝|驳回|(?:未|没有?)通过|被拒",
    State.REFUND_PROCESSING: r"""
        (?:处理|进行|审核|办理)中|退款中|待退款
        (?:正在|还在|在)(?:为您)?(?:处理|办理|审核)
        退款[^,，。]{0,4}(?:在路上|途中)
    """,
    State.REFUND_APPROVED: r"通过|同意|批准|核准",
    State.REFUNDED: r"""
        到账|(?:原路)?退回|退还|打回|结清
        已?(?:经)?(?:全额)?退款(?:已经?|都)?(?:成功|完成|完毕)
        已(?:经)?(?:全额)?退款|退款了|退(?:了|好了)
    """,
    State.REFUND_REQUESTED: r"""
        (?:提交|收到|已申请)(?:了)?(?:您的)?退款(?:申请)?
        退款申请(?:已经?)?(?:提交|收到|受理)
        没有(?:任何)?退款(?:记录)?
        申请(?:了|的)
        已(?:于[^,，。]{1,24})?申请
    """,
}
_REFUND_EN: dict[State, str] = {
    State.REFUND_DECLINED: r"declined|rejected|denied|refused|turned down",
    State.REFUND_APPROVED: r"approved|accepted|granted",
    State.REFUND_PROCESSING: r"""
        (?:being|currently|still) (?:processed|handled|reviewed|worked on)
        processing|in process|in progress|under ?way|under review|in the works
        (?:is|still|currently) pending
        (?:refund|money)(?: is|'s| has been| was)?(?: now| already)? on (?:its|the) way
    """,
    State.REFUNDED: r"""
        refunded
        issued|completed|settled|credited|processed|finali[sz]ed
        (?:been|was|is|were) (?:sent|made|paid(?! for)|returned|done|complete
            |successful)
        paid (?:out|back)|sent back|gone through|went through|went back|gone back
        returned (?:to|on|in) your
        (?:is|are|was|were|been|'s|already|now|went|gone|all) back (?:to|on|in|with) you
    """,
    State.REFUND_REQUESTED: r"requested|submitted|registered|no refund|any refund",
}


def _joined(table: dict[State, str], prefix: str) -> tuple[str, dict[str, State]]:
    groups = {f"{prefix}{index}": state for index, state in enumerate(table)}
    body = "|".join(
        f"(?P<{group}>{lines(table[state])})" for group, state in groups.items()
    )
    return body, groups


def alternation(*, refunds: bool) -> tuple[str, dict[str, State]]:
    """One pattern over both languages, and the state of each of its groups."""
    zh, zh_groups = _joined(_REFUND_ZH if refunds else _ZH, "z")
    en, en_groups = _joined(_REFUND_EN if refunds else _EN, "e")
    body = rf"{zh}|(?<![A-Za-z])(?:{en})(?![A-Za-z])"
    return body, zh_groups | en_groups
