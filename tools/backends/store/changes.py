"""The changes that the embedded shop makes, each under its own rules.

One function a kind works out a ``Plan``: the same code answers "can I?", fills the card
and, under the order's row lock, is the last check before anything is written. The rules
follow the public retail policy (tau2-bench, MIT); the refund is this shop's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.backends.store import goods_changes, money_changes, order_changes
from tools.backends.store.plans import Plan, Request
from tools.contracts import ActionKind


def plan(kind: ActionKind, request: Request) -> Plan:
    """The plan of a change, or ``Refusal``. Reads only."""
    return _PLANS[kind](request)


_PLANS: Mapping[ActionKind, Callable[[Request], Plan]] = {
    ActionKind.CANCEL_ORDER: order_changes.cancel,
    ActionKind.CHANGE_ADDRESS: order_changes.change_address,
    ActionKind.CHANGE_PAYMENT: money_changes.change_payment,
    ActionKind.CHANGE_ITEMS: goods_changes.change_items,
    ActionKind.RETURN_ITEMS: goods_changes.return_items,
    ActionKind.EXCHANGE_ITEMS: goods_changes.exchange_items,
    ActionKind.REQUEST_REFUND: money_changes.request_refund,
    ActionKind.CHANGE_PROFILE_ADDRESS: order_changes.change_profile_address,
}
