"""Chinese sentences for what was found and what was not."""

from __future__ import annotations

from datetime import datetime, timedelta

from chatbot.react.facts import Money
from chatbot.react.records import OrderRecord, ParcelRecord, RefundRecord
from chatbot.understanding.needs import Need

_SYMBOLS = {"CNY": "¥", "USD": "$", "EUR": "€", "GBP": "£"}


def day(moment: datetime, now: datetime) -> str:
    year = f"{moment.year}年" if moment.year != now.year else ""
    return f"{year}{moment.month}月{moment.day}日"


def clock(moment: datetime, now: datetime) -> str:
    return f"{day(moment, now)} {moment:%H:%M}"


def money(value: Money) -> str:
    symbol = _SYMBOLS.get(value.currency)
    amount = f"{value.amount:,.2f}"
    return f"{symbol}{amount}" if symbol else f"{amount} {value.currency}".strip()


def order(record: OrderRecord, now: datetime) -> str:
    name = f"订单 {record.order_id} "
    match record.status:
        case "unpaid":
            return f"{name}还没有付款。"
        case "paid":
            return f"{name}已付款，{_not_yet(record)}。"
        case "packed":
            return f"{name}已打包，{_not_yet(record)}。"
        case "shipped":
            return f"{name}已{_on(record.shipped_at, now)}发货。"
        case "delivered":
            return f"{name}已{_on(record.delivered_at, now)}送达。"
        case "returning":
            return f"{name}正在退回途中。"
        case "returned":
            return f"{name}已退货。"
        case "refunded":
            return f"{name}已退款。"
        case "cancelled":
            return f"{name}已{_on(record.cancelled_at, now)}取消。"
        case _:
            return f"店铺系统里没有显示订单 {record.order_id} 的状态。"


def _not_yet(record: OrderRecord) -> str:
    return "其中一部分已发货" if record.has_shipped else "还没有发货"


def _on(moment: datetime | None, now: datetime) -> str:
    return f"于 {clock(moment, now)} " if moment else ""


def tracking(record: OrderRecord) -> str:
    if not record.parcels and record.status == "shipped":
        return f"店铺的记录里没有 {record.order_id} 的运单号，所以查不到它的位置。"
    if not record.parcels:
        return f"订单 {record.order_id} 暂时没有运单号。"
    numbers = "、".join(one.tracking_id for one in record.parcels)
    if len(record.parcels) == 1:
        carrier = _with(record.parcels[0])
        return f"订单 {record.order_id} 的运单号是 {numbers}{carrier}。"
    count = len(record.parcels)
    return f"订单 {record.order_id} 有 {count} 个包裹，运单号是 {numbers}。"


def several_parcels(record: OrderRecord) -> str:
    count = len(record.parcels) + record.unnumbered
    missing = (
        f"，其中 {record.unnumbered} 个在记录里没有运单号" if record.unnumbered else ""
    )
    return f"订单 {record.order_id} 分 {count} 个包裹{missing}。"


def _with(parcel: ParcelRecord) -> str:
    return f"（{parcel.carrier}）" if parcel.carrier else ""


def parcel(record: ParcelRecord, now: datetime) -> str:
    number = record.tracking_id
    carrier = _with(record)
    name = f"包裹 {number}{carrier}" if carrier else f"包裹 {number} "
    place = _latest(record, now)
    match record.status:
        case "pending":
            return f"{name}还在等待快递揽收{place}。"
        case "picked_up":
            return f"{name}已被快递揽收{place}。"
        case "in_transit":
            return f"{name}正在运输中{place}。"
        case "out_for_delivery":
            return f"{name}正在派送中{place}。"
        case "delivered":
            at = f"（{record.place}）" if record.place else ""
            return f"{name}已{_on(record.delivered_at, now)}签收{at}。"
        case "delivery_failed":
            return f"{name}最近一次派送失败{place}。"
        case "returning":
            return f"{name}正在退回途中{place}。"
        case "returned":
            return f"{name}已退回{place}。"
        case _:
            return f"快递系统没有显示包裹 {number} 的状态。"


def _latest(record: ParcelRecord, now: datetime) -> str:
    at = f"（{clock(record.last_event_at, now)}）" if record.last_event_at else ""
    return f"，最新位置是{_spaced(record.place)}{at}" if record.place else ""


def standstill(record: ParcelRecord, now: datetime) -> str:
    """Since when nothing was heard of a parcel; "" where that is not long."""
    if record.last_event_at is None or now - record.last_event_at < LONG_SILENCE:
        return ""
    at, ago = clock(record.last_event_at, now), _ago(record.last_event_at, now)
    return f"包裹 {record.tracking_id} 最新的物流记录停在 {at}（{ago}），之后没有更新。"


def waiting(record: OrderRecord, now: datetime) -> str:
    """Since when a paid order has been waiting for its dispatch."""
    if record.paid_at is None:
        return ""
    paid, ago = clock(record.paid_at, now), _ago(record.paid_at, now)
    return f"订单 {record.order_id} 的付款时间是 {paid}（{ago}）。"


def _ago(moment: datetime, now: datetime) -> str:
    """Days as the calendar counts them, hours within one day."""
    if now - moment >= timedelta(days=1):
        return f"{(now.date() - moment.date()).days} 天前"
    return f"{max(1, round((now - moment).total_seconds() / 3600))} 小时前"


def _spaced(name: str) -> str:
    """A space between Chinese and Latin letters."""
    return f" {name}" if name[:1].isascii() else name


def no_place(record: ParcelRecord) -> str:
    if record.hides_place:
        return f"包裹 {record.tracking_id} 的具体位置，未登录时无法查看。"
    return f"快递系统暂时没有显示包裹 {record.tracking_id} 的位置。"


def arrival(record: ParcelRecord, now: datetime) -> str:
    name = f"包裹 {record.tracking_id} "
    if record.status == "delivered":
        return ""
    if record.delivered_at:
        return f"{name}显示已{_on(record.delivered_at, now)}送达。"
    if record.estimated_delivery_at and record.estimated_delivery_at < now:
        expected = day(record.estimated_delivery_at, now)
        return f"{name}原定的预计送达时间是{expected}，现在已经过了。"
    if record.estimated_delivery_at:
        return f"{name}预计 {clock(record.estimated_delivery_at, now)} 送达。"
    return f"快递暂时没有给出{name}的预计送达时间。"


def no_arrival(order_id: str) -> str:
    return f"订单 {order_id} 目前没有预计送达时间。"


def refund(record: RefundRecord, order_id: str, now: datetime) -> str:
    name = f"订单 {order_id} 的退款"
    amount = f"（{money(record.amount)}）" if record.amount else ""
    match record.status:
        case "requested":
            return f"{name}{amount}已{_on(record.requested_at, now)}申请，等待审核。"
        case "approved":
            return f"{name}申请{amount}已通过{_expected(record, now)}。"
        case "processing":
            return f"{name}{amount}正在处理中{_expected(record, now)}。"
        case "settled":
            return f"{name}{amount}已{_on(record.settled_at, now)}退回。"
        case "declined":
            return f"{name}申请{amount}未通过。"
        case _:
            return f"店铺系统里没有显示{name}进度。"


def _expected(record: RefundRecord, now: datetime) -> str:
    if record.expected_at is None:
        return ""
    return f"，预计{day(record.expected_at, now)}前退款到账"


def no_refund(order_id: str) -> str:
    return f"订单 {order_id} 没有退款记录。"


def not_found(name: str) -> str:
    return f"在您的账户下没有找到{name}，麻烦您再核对一下号码。"


def failed(what: str, source: str) -> str:
    return f"暂时没能查到{what}：{source}没有响应，这并不说明订单本身有问题。"


def denied(what: str) -> str:
    return f"这里无法为您查询{what}。"


def unknown(what: str) -> str:
    return f"{what}还没有查到。"


def no_field(what: str) -> str:
    return f"{what}暂时没有信息。"


def asked(need: Need, order_id: str | None, parcel_id: str | None) -> str:
    """The thing asked, as a noun."""
    name = f"订单 {order_id} " if order_id else "您的订单"
    if parcel_id and not order_id:
        name = f"包裹 {parcel_id} "
    return {
        Need.ORDER_STATUS: f"{name}的状态",
        Need.SHIPPED: f"{name}的发货情况",
        Need.LOCATION: f"{name}的位置",
        Need.ETA: f"{name}的预计送达时间",
        Need.TRACKING_ID: f"{name}的运单号",
        Need.REFUND_STATUS: f"{name}的退款进度",
        Need.CANCEL: f"{name}能否取消",
        Need.RETURN: f"{name}如何退货",
        Need.CHANGE_ADDRESS: f"{name}能否改地址",
        Need.INVOICE: "开发票的方法",
        Need.POLICY: "店铺的相关规定",
        Need.HUMAN: "人工客服",
    }.get(need, name.strip())


def subject(order_id: str | None, parcel_id: str | None) -> str:
    if order_id:
        return f"订单 {order_id}"
    return f"包裹 {parcel_id}" if parcel_id else "这样的订单"


def action(need: Need) -> str:
    done = {
        Need.CANCEL: "取消订单",
        Need.CHANGE_ADDRESS: "修改地址",
        Need.RETURN: "办理退货",
    }[need]
    return f"我这边不能直接{done}，如果需要，可以为您转人工客服。"


def option(action: str, order_id: str) -> str:
    """What the shop says can still be done with an order; "" where it is no choice."""
    return {
        "cancel_order": f"如果不想再等，订单 {order_id} 现在还可以申请取消。",
        "return_items": f"订单 {order_id} 的商品现在还可以申请退货。",
    }.get(action, "")


def person() -> str:
    return "如果需要人工客服，直接告诉我就好。"


def orders(records: list[OrderRecord], total: int, now: datetime) -> str:
    if not records:
        return "您的账户下还没有订单。"
    lines = [f"- {listed(record, now)}" for record in records]
    head = f"您一共有 {total} 个订单"
    if total > len(records):
        head += f"，最近的 {len(records)} 个是"
    return "\n".join([f"{head}：", *lines])


def listed(record: OrderRecord, now: datetime) -> str:
    placed = f"，{day(record.placed_at, now)}下单" if record.placed_at else ""
    total = f"，{money(record.total)}" if record.total else ""
    return f"{record.order_id}：{_STATUS.get(record.status, '状态未知')}{placed}{total}"


_STATUS = {
    "unpaid": "未付款",
    "paid": "已付款，未发货",
    "packed": "已打包，未发货",
    "shipped": "已发货",
    "delivered": "已送达",
    "returning": "退回途中",
    "returned": "已退货",
    "refunded": "已退款",
    "cancelled": "已取消",
}


def article(title: str, excerpt: str, url: str) -> str:
    more = f" 详情见：{url}" if url else ""
    return f"帮助中心《{title}》里写道：{excerpt}{more}"


def no_article() -> str:
    return "帮助中心里没有这方面的文章，我不便随意猜测。如果需要，可以为您转人工客服。"


def as_of(moment: datetime, now: datetime, sources: list[str]) -> str:
    return f"以上来自{'和'.join(sources)}，截至 {clock(moment, now)}。"


LONG_SILENCE = timedelta(days=2)
SOURCES = {"shop": "店铺系统", "carrier": "快递系统", "help": "帮助中心"}
GAP = ""
