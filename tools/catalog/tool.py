"""What an entry of the catalogue is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import BaseModel

from tools.backends.base import Owner
from tools.contracts import Actor, Json, Role, ToolSpec

# Raw on purpose: what a tool returns is nothing before its result model has read it.
Raw: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that reads: its spec, the coroutine behind it, the shape of its result.

    ``guest_result`` is the narrower shape for a guest. ``source`` names the system that
    is asked; the value of the field ``source_field``, where there is one, is added.
    """

    spec: ToolSpec
    run: Callable[[Actor, Mapping[str, Json]], Awaitable[Raw]]
    result: type[BaseModel]
    guest_result: type[BaseModel] | None = None
    source: str = "shop"
    source_field: str = ""

    def shape_for(self, actor: Actor) -> type[BaseModel]:
        if actor.role is Role.GUEST and self.guest_result is not None:
            return self.guest_result
        return self.result

    def source_of(self, fields: Mapping[str, Json]) -> str:
        detail = fields.get(self.source_field)
        return f"{self.source}:{detail}" if detail else self.source


def owner_of(actor: Actor) -> Owner:
    """Whose things this actor may read: the one way from an actor to an owner."""
    if actor.role is Role.CUSTOMER:
        return Owner(customer_id=actor.customer_id)
    if actor.role is Role.GUEST:
        return Owner(orders=actor.verified_orders)
    return Owner()
