"""A shop that charges and refunds one after the other, and may stop in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.servers.shop_server import ShopServer

PARTS = ("charge new", "refund old")


class ShopInParts(ShopServer):
    """``stops`` maps the place of an attempt to the point at which it ends there.

    ``before charge``, ``before refund`` and ``before reply``: the connection is dropped
    at that point. ``charge unknown`` and ``refund unknown``: that part was sent to the
    payment provider, which has not said what became of it; ``provider_says`` ends that.
    ``refund refused``: the provider takes no refund, so the charge is taken back.
    ``booked`` is every movement, in order.
    """

    def __init__(self, shop: Mapping[str, Any]) -> None:
        super().__init__(shop)
        self.stops: dict[int, str] = {}
        self.booked: list[str] = []
        self.unknown = ""

    def provider_says(self, *, done: bool) -> None:
        with self.lock:
            if done:
                self.booked.append(self.unknown)
            self.unknown = ""

    def known(self, key: str) -> tuple[int, Any]:
        return (202, {}) if self.unknown else super().known(key)

    def change(self, customer: str, key: str, body: Mapping[str, Any]) -> Any:
        with self.lock:
            self.attempts += 1
            stop = self.stops.get(self.attempts, "")
            if self.unknown:
                return 202, {}
            if key not in self.done and (ended := self._book(key, stop)):
                return ended[0]
            return None if stop == "before reply" else (200, self.done[key])

    def _book(self, key: str, stop: str) -> tuple[Any] | None:
        """Book what is not booked yet; what to answer where that stops half way."""
        for part in PARTS:
            name = part.split()[0]
            if part in self.booked:
                continue
            if stop == f"before {name}":
                return (None,)
            if stop == f"{name} unknown":
                self.unknown = part
                return ((202, {}),)
            if stop == f"{name} refused":
                self.booked.append("refund new")
                self.done[key] = {"succeeded": False, "reason": "payment_refused"}
                return ((200, self.done[key]),)
            self.booked.append(part)
        self.done[key] = {"succeeded": True, "details": {}}
        return None
