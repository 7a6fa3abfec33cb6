"""English sentences for what was found and what was not."""

from __future__ import annotations

from datetime import datetime, timedelta

from chatbot.react.facts import Money
from chatbot.react.records import OrderRecord, ParcelRecord, RefundRecord
from chatbot.understanding.needs import Need

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_SYMBOLS = {"CNY": "¥", "USD": "$", "EUR": "€", "GBP": "£"}


def day(moment: datetime, now: datetime) -> str:
    year = f" {moment.year}" if moment.year != now.year else ""
    return f"{moment.day} {_MONTHS[moment.month - 1]}{year}"


def clock(moment: datetime, now: datetime) -> str:
    return f"{day(moment, now)}, {moment:%H:%M}"


def money(value: Money) -> str:
    symbol = _SYMBOLS.get(value.currency)
    amount = f"{value.amount:,.2f}"
    return f"{symbol}{amount}" if symbol else f"{amount} {value.currency}".strip()


def order(record: OrderRecord, now: datetime) -> str:
    name = f"Order {record.order_id}"
    match record.status:
        case "unpaid":
            return f"{name} has not been paid for yet."
        case "paid":
            return f"{name} is paid and {_not_yet(record)}."
        case "packed":
            return f"{name} is packed and {_not_yet(record)}."
        case "shipped":
            return (
                f"{name} shipped{_on(record.shipped_at, now)}."
                if record.shipped_at
                else f"{name} has shipped."
            )
        case "delivered":
            return f"{name} was delivered{_on(record.delivered_at, now)}."
        case "returning":
            return f"{name} is on its way back to the shop."
        case "returned":
            return f"{name} has been returned."
        case "refunded":
            return f"{name} has been refunded."
        case "cancelled":
            return f"{name} was cancelled{_on(record.cancelled_at, now)}."
        case _:
            return f"The shop does not say where order {record.order_id} stands."


def _not_yet(record: OrderRecord) -> str:
    return "part of it has shipped" if record.has_shipped else "has not shipped yet"


def _on(moment: datetime | None, now: datetime) -> str:
    return f" on {clock(moment, now)}" if moment else ""


def tracking(record: OrderRecord) -> str:
    if not record.parcels and record.status == "shipped":
        return (
            f"The shop's record holds no tracking number for {record.order_id}, "
            "so I cannot see where it is."
        )
    if not record.parcels:
        return f"There is no tracking number for order {record.order_id} yet."
    numbers = " and ".join(one.tracking_id for one in record.parcels)
    if len(record.parcels) == 1:
        carrier = _with(record.parcels[0])
        return f"The tracking number of order {record.order_id} is {numbers}{carrier}."
    return f"The tracking numbers of order {record.order_id} are {numbers}."


def several_parcels(record: OrderRecord) -> str:
    count = len(record.parcels) + record.unnumbered
    missing = (
        f"; the record holds no tracking number for {record.unnumbered} of them"
        if record.unnumbered
        else ""
    )
    return f"Order {record.order_id} travels in {count} parcels{missing}."


def _with(parcel: ParcelRecord) -> str:
    return f" ({parcel.carrier})" if parcel.carrier else ""


def parcel(record: ParcelRecord, now: datetime) -> str:
    number = record.tracking_id
    name = f"Parcel {number}{_with(record)}"
    place = _latest(record, now)
    match record.status:
        case "pending":
            return f"{name} is waiting for the carrier{place}."
        case "picked_up":
            return f"{name} has been picked up by the carrier{place}."
        case "in_transit":
            return f"{name} is in transit{place}."
        case "out_for_delivery":
            return f"{name} is out for delivery{place}."
        case "delivered":
            at = f" (in {record.place})" if record.place else ""
            return f"{name} was delivered{_on(record.delivered_at, now)}{at}."
        case "delivery_failed":
            return f"The last delivery attempt for parcel {number} failed{place}."
        case "returning":
            return f"{name} is on its way back{place}."
        case "returned":
            return f"{name} has been returned{place}."
        case _:
            return f"The carrier does not say where parcel {number} is."


def _latest(record: ParcelRecord, now: datetime) -> str:
    at = f" ({clock(record.last_event_at, now)})" if record.last_event_at else ""
    return f"; its latest place is {record.place}{at}" if record.place else ""


def standstill(record: ParcelRecord, now: datetime) -> str:
    """Since when nothing was heard of a parcel; "" where that is not long."""
    if record.last_event_at is None or now - record.last_event_at < LONG_SILENCE:
        return ""
    at = clock(record.last_event_at, now)
    return (
        f"The latest scan of parcel {record.tracking_id} is that of {at}, "
        f"{_ago(record.last_event_at, now)}; there is none since."
    )


def waiting(record: OrderRecord, now: datetime) -> str:
    """Since when a paid order has been waiting for its dispatch."""
    if record.paid_at is None:
        return ""
    paid, ago = clock(record.paid_at, now), _ago(record.paid_at, now)
    return f"Order {record.order_id} was paid on {paid}, {ago}."


def _ago(moment: datetime, now: datetime) -> str:
    """Days as the calendar counts them, hours within one day."""
    days = (now.date() - moment.date()).days
    if now - moment >= timedelta(days=1):
        return f"{days} days ago" if days > 1 else "1 day ago"
    hours = round((now - moment).total_seconds() / 3600)
    return f"{hours} hours ago" if hours > 1 else "1 hour ago"


def no_place(record: ParcelRecord) -> str:
    if record.hides_place:
        return f"Where parcel {record.tracking_id} is, is not shown without a log-in."
    return (
        f"The carrier does not say where parcel {record.tracking_id} is at the moment."
    )


def arrival(record: ParcelRecord, now: datetime) -> str:
    name = f"Parcel {record.tracking_id}"
    if record.status == "delivered":
        return ""
    if record.delivered_at:
        return f"{name} is reported as delivered{_on(record.delivered_at, now)}."
    if record.estimated_delivery_at and record.estimated_delivery_at < now:
        expected = day(record.estimated_delivery_at, now)
        return f"{name} was expected on {expected}, which has passed."
    if record.estimated_delivery_at:
        return f"{name} is expected on {clock(record.estimated_delivery_at, now)}."
    return f"The carrier gives no arrival date for parcel {record.tracking_id} yet."


def no_arrival(order_id: str) -> str:
    return f"There is no estimated delivery date for order {order_id} so far."


def refund(record: RefundRecord, order_id: str, now: datetime) -> str:
    amount = f" of {money(record.amount)}" if record.amount else ""
    name = f"The refund{amount} for order {order_id}"
    match record.status:
        case "requested":
            return f"{name} has been requested{_on(record.requested_at, now)}."
        case "approved":
            return f"{name} has been approved{_expected(record, now)}."
        case "processing":
            return f"{name} is being processed{_expected(record, now)}."
        case "settled":
            return f"{name} has been paid out{_on(record.settled_at, now)}."
        case "declined":
            return f"{name} has been declined."
        case _:
            return (
                f"The shop does not say where the refund for order {order_id} stands."
            )


def _expected(record: RefundRecord, now: datetime) -> str:
    if record.expected_at is None:
        return ""
    return f"; the refund is expected by {day(record.expected_at, now)}"


def no_refund(order_id: str) -> str:
    return f"There is no refund on record for order {order_id}."


def not_found(name: str) -> str:
    return (
        f"I could not find {name} in your account. Please check the number once more."
    )


def failed(what: str, source: str) -> str:
    return (
        f"I could not check {what}: {source} did not answer. "
        "That says nothing about the order itself."
    )


def denied(what: str) -> str:
    return f"I cannot look up {what} for you here."


def unknown(what: str) -> str:
    return f"I have not found out {what}."


def no_field(what: str) -> str:
    return f"There is no information yet on {what}."


def asked(need: Need, order_id: str | None, parcel_id: str | None) -> str:
    """The thing asked, as the object of "check", "look up" and "find out"."""
    name = f"order {order_id}" if order_id else "your order"
    if parcel_id and not order_id:
        name = f"parcel {parcel_id}"
    return {
        Need.ORDER_STATUS: f"the status of {name}",
        Need.SHIPPED: f"whether {name} has shipped",
        Need.LOCATION: f"where {name} is now",
        Need.ETA: f"when {name} will arrive",
        Need.TRACKING_ID: f"the tracking number of {name}",
        Need.REFUND_STATUS: f"the refund for {name}",
        Need.CANCEL: f"whether {name} can be cancelled",
        Need.RETURN: f"how {name} can be returned",
        Need.CHANGE_ADDRESS: f"whether the address of {name} can be changed",
        Need.INVOICE: "how to get an invoice",
        Need.POLICY: "what the shop's rules say on this",
        Need.HUMAN: "a person for you",
    }.get(need, name)


def subject(order_id: str | None, parcel_id: str | None) -> str:
    if order_id:
        return f"order {order_id}"
    return f"parcel {parcel_id}" if parcel_id else "such an order"


def action(need: Need) -> str:
    done = {
        Need.CANCEL: "cancel an order",
        Need.CHANGE_ADDRESS: "change an address",
        Need.RETURN: "arrange a return",
    }[need]
    return f"I cannot {done} myself; if you like, I can bring in a person for that."


def option(action: str, order_id: str) -> str:
    """What the shop says can still be done with an order; "" where it is no choice."""
    return {
        "cancel_order": f"If you would rather not wait, order {order_id} can still be "
        "cancelled.",
        "return_items": f"Order {order_id} is within the time for returns, so its "
        "items can be returned.",
    }.get(action, "")


def person() -> str:
    return "If you would like to speak to a person, just say so."


def orders(records: list[OrderRecord], total: int, now: datetime) -> str:
    if not records:
        return "There are no orders in your account yet."
    lines = [f"- {listed(record, now)}" for record in records]
    head = f"You have {total} orders" if total != 1 else "You have one order"
    if total > len(records):
        head += f"; these are the latest {len(records)}"
    return "\n".join([f"{head}:", *lines])


def listed(record: OrderRecord, now: datetime) -> str:
    placed = f", placed on {day(record.placed_at, now)}" if record.placed_at else ""
    total = f", {money(record.total)}" if record.total else ""
    status = _STATUS.get(record.status, "status unknown")
    return f"{record.order_id}: {status}{placed}{total}"


_STATUS = {
    "unpaid": "not paid yet",
    "paid": "paid, not shipped yet",
    "packed": "packed, not shipped yet",
    "shipped": "shipped",
    "delivered": "delivered",
    "returning": "on its way back",
    "returned": "returned",
    "refunded": "refunded",
    "cancelled": "cancelled",
}


def article(title: str, excerpt: str, url: str) -> str:
    more = f" Read more: {url}" if url else ""
    return f"Our help centre says under “{title}”: {excerpt}{more}"


def no_article() -> str:
    return (
        "I found no help article on this, and I would rather not guess. "
        "If you like, I can bring in a person."
    )


def as_of(moment: datetime, now: datetime, sources: list[str]) -> str:
    verb = "say" if len(sources) > 1 else "says"
    return f"This is what {' and '.join(sources)} {verb} as of {clock(moment, now)}."


LONG_SILENCE = timedelta(days=2)
SOURCES = {"shop": "the shop", "carrier": "the carrier", "help": "our help centre"}
GAP = " "
