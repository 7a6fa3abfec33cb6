"""A shop behind a bad line, for measuring that a change is made once all the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from tools.backends.changes import ChangeResult, ChangingBackend, Preview, Terms
from tools.contracts import ActionKind, Json
from tools.errors import ToolTimeout


class Fault(StrEnum):
    """What happens at the first attempt of a change; later ones go through."""

    TIMEOUT = "timeout"
    KILL_BEFORE = "kill_before"
    KILL_AFTER = "kill_after"


class Died(BaseException):
    """The process is gone: nothing below it may catch this and go on."""


class FaultyShop:
    """The real ``shop``, whose first answer to each key is lost to ``fault``.

    ``happened`` counts the faults that were really met, ``executed`` the changes that
    the shop was asked to make.
    """

    def __init__(self, shop: ChangingBackend, fault: Fault | None) -> None:
        self._shop = shop
        self._fault = fault
        self.happened: Counter[str] = Counter()
        self.executed: Counter[str] = Counter()
        self._met: set[str] = set()

    async def preview(
        self, customer_id: str, kind: ActionKind, arguments: Mapping[str, Json]
    ) -> Preview:
        return await self._shop.preview(customer_id, kind, arguments)

    async def lookup(self, key: str) -> ChangeResult | None:
        return await self._shop.lookup(key)

    async def execute(
        self,
        customer_id: str,
        kind: ActionKind,
        arguments: Mapping[str, Json],
        *,
        key: str,
        agreed: Terms,
    ) -> ChangeResult:
        fault = None if key in self._met else self._fault
        self._met.add(key)
        if fault is Fault.KILL_BEFORE:
            self.happened[fault] += 1
            raise Died
        self.executed[key] += 1
        result = await self._shop.execute(
            customer_id, kind, arguments, key=key, agreed=agreed
        )
        if fault is not None:
            self.happened[fault] += 1
            raise Died if fault is Fault.KILL_AFTER else ToolTimeout("reply lost")
        return result
