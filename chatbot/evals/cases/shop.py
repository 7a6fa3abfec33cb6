"""The embedded shop behind a line that breaks as an attack case says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from tools.contracts import ActionKind, Json
from tools.errors import ToolTimeout, ToolUnavailable

if TYPE_CHECKING:
    from tools.backends.changes import ChangeResult, Preview, Terms

_SHOP = "tools.backends.store.changing.StoreChanges"


class CaseShop:
    """Asked for changes, it fails as ``CASES_FAULT`` says; reads and previews do not.

    How often it has failed stands in a file, for processes of a case may die.
    """

    def __init__(self) -> None:
        self._shop = import_string(_SHOP)()
        # Of ``settings`` beside this alone: other settings have no such names.
        fault = json.loads(getattr(settings, "CASES_FAULT", "") or "{}")
        self._kind = fault.get("kind", "")
        self._times = fault.get("times")
        self._failed = Path(getattr(settings, "CASES_FOLDER", "")) / "faults"

    async def preview(
        self, customer_id: str, kind: ActionKind, arguments: Mapping[str, Json]
    ) -> Preview:
        found: Preview = await self._shop.preview(customer_id, kind, arguments)
        return found

    async def execute(
        self,
        customer_id: str,
        kind: ActionKind,
        arguments: Mapping[str, Json],
        *,
        key: str,
        agreed: Terms,
    ) -> ChangeResult:
        breaks = await self._breaks()
        if breaks and self._kind == "status":
            raise ToolUnavailable("503")
        result: ChangeResult = await self._shop.execute(
            customer_id, kind, arguments, key=key, agreed=agreed
        )
        if breaks:
            raise ToolTimeout("the reply was lost")
        return result

    async def lookup(self, key: str) -> ChangeResult | None:
        if await self._breaks():
            if self._kind == "status":
                raise ToolUnavailable("503")
            raise ToolTimeout("the reply was lost")
        found: ChangeResult | None = await self._shop.lookup(key)
        return found

    async def _breaks(self) -> bool:
        if not self._kind:
            return False
        return await asyncio.to_thread(self._count_one_more)

    def _count_one_more(self) -> bool:
        before = self._failed.stat().st_size if self._failed.exists() else 0
        if self._times is not None and before >= self._times:
            return False
        with self._failed.open("ab") as file:
            file.write(b"x")
        return True
