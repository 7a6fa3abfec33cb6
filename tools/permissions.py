"""Whether this actor may use this tool with these arguments."""

from __future__ import annotations

from collections.abc import Mapping

from tools.contracts import Actor, Json, Role, ToolSpec, canonical_number

# What an order or a parcel is named by. A tool with such an argument reads what
# somebody owns.
_OWNED = frozenset({"order_id", "tracking_id"})


def visible(spec: ToolSpec, actor: Actor) -> bool:
    """Whether this actor may use the tool at all."""
    if actor.role not in spec.roles:
        return False
    match actor.role:
        case Role.CUSTOMER:
            # A customer without a customer's id owns nothing and so reads nothing.
            return bool(actor.customer_id)
        case Role.GUEST:
            return bool(actor.verified_orders) or not _reads_what_is_owned(spec)
        case _:
            return True


def allowed(spec: ToolSpec, arguments: Mapping[str, Json], actor: Actor) -> bool:
    """Whether this call may be made. Whose an order is, the backend's query decides.

    A guest may name only orders that were proved in this session.
    """
    if not visible(spec, actor):
        return False
    if actor.role is Role.GUEST and "order_id" in arguments:
        return canonical_number(str(arguments["order_id"])) in actor.verified_orders
    return True


def _reads_what_is_owned(spec: ToolSpec) -> bool:
    properties = spec.parameters.get("properties")
    return isinstance(properties, dict) and not _OWNED.isdisjoint(properties)
