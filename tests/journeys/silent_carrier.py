"""The demo shop with a carrier that never replies."""

from __future__ import annotations

import asyncio

from tools.backends import base
from tools.backends.store.backend import StoreBackend


class SilentCarrier(StoreBackend):
    async def track(self, owner: base.Owner, tracking_id: str) -> base.Shipment | None:
        await asyncio.sleep(3600)
        return None
