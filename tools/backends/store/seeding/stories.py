"""What becomes of the demo shop's orders, and how many times each of it happens."""

from __future__ import annotations

from dataclasses import dataclass

from tools.contracts import OrderStatus as O
from tools.contracts import ParcelStatus as P
from tools.contracts import RefundStatus as R


@dataclass(frozen=True, slots=True)
class Way:
    """How far one parcel has come; ``numbered`` where the shop knows its number.

    ``stuck``: nothing was heard of it for days. ``sent_back``: it turned round on the
    way, or after its delivery.
    """

    status: P
    numbered: bool = True
    stuck: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """One course of things. ``share`` of the money is refunded, in per cent."""

    name: str
    times: int
    status: O
    parcels: tuple[Way, ...] = ()
    refund: R | None = None
    share: int = 100
    returned: bool = False
    reason: str = ""


_PENDING, _PICKED_UP = Way(P.PENDING), Way(P.PICKED_UP)
_MOVING, _OUT = Way(P.IN_TRANSIT), Way(P.OUT_FOR_DELIVERY)
_DELIVERED, _FAILED = Way(P.DELIVERED), Way(P.DELIVERY_FAILED)
_BACKWARDS, _BACK = Way(P.RETURNING), Way(P.RETURNED)
_UNNUMBERED = Way(P.IN_TRANSIT, numbered=False)

STORIES = (
    Story("unpaid", 12, O.UNPAID),
    Story("paid", 28, O.PAID),
    Story("packed", 18, O.PACKED),
    Story("packed and waiting for the carrier", 8, O.PACKED, (_PENDING,)),
    Story("picked up", 14, O.SHIPPED, (_PICKED_UP,)),
    Story("in transit", 40, O.SHIPPED, (_MOVING,)),
    Story("out for delivery", 16, O.SHIPPED, (_OUT,)),
    Story("delivery failed", 12, O.SHIPPED, (_FAILED,)),
    Story("stuck", 8, O.SHIPPED, (Way(P.IN_TRANSIT, stuck=True),)),
    Story("one of two delivered", 14, O.SHIPPED, (_DELIVERED, _MOVING)),
    Story("three parcels", 4, O.SHIPPED, (_MOVING, _OUT, _PENDING)),
    Story("number missing", 10, O.SHIPPED, (_UNNUMBERED,)),
    Story("one of two numbers missing", 4, O.SHIPPED, (_MOVING, _UNNUMBERED)),
    Story("delivered", 35, O.DELIVERED, (_DELIVERED,)),
    Story("both delivered", 6, O.DELIVERED, (_DELIVERED, _DELIVERED)),
    Story("refused", 8, O.RETURNING, (_BACKWARDS,), R.REQUESTED),
    Story("sent back", 8, O.RETURNING, (_DELIVERED,), R.APPROVED, returned=True,
          reason="尺寸不合适 / wrong size"),
    Story("back in the warehouse", 8, O.RETURNED, (_BACK,), R.PROCESSING),
    Story("refunded", 14, O.REFUNDED, (_BACK,), R.SETTLED, returned=True,
          reason="不想要了 / changed my mind"),
    Story("partly refunded", 6, O.DELIVERED, (_DELIVERED,), R.SETTLED, share=30),
    Story("refund declined", 4, O.DELIVERED, (_DELIVERED,), R.DECLINED),
    Story("cancelled and refunded", 9, O.CANCELLED, (), R.SETTLED,
          reason="no longer needed"),
    Story("cancelled, refund on its way", 4, O.CANCELLED, (), R.PROCESSING,
          reason="ordered by mistake"),
    Story("closed unpaid", 4, O.CANCELLED, reason="not paid within 24 hours"),
)  # fmt: skip

BY_NAME = {story.name: story for story in STORIES}
