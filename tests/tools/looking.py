"""Looking through the gateway as the cast does."""

from __future__ import annotations

import asyncio

from tools import gateway
from tools.contracts import Actor, Json, Observation, Role, ToolCall

LIN = Actor(Role.CUSTOMER, "C-LIN", language="zh")
MEI = Actor(Role.CUSTOMER, "C-MEI")
GUEST = Actor(Role.GUEST)


def look(actor: Actor, name: str, **arguments: Json) -> Observation:
    call = ToolCall("c1", name, arguments)
    return asyncio.run(gateway.observe(call, actor=actor, observation_id="obs-1"))
