"""Whether this actor may use this tool with these arguments."""

from __future__ import annotations

from collections.abc import Mapping

from tools.contracts import Actor, Json, Role, ToolSpec, canonical_number


def visible(spec: ToolSpec, actor: Actor) -> bool:
    """Whether the actor's role may use the tool at all."""
    if actor.role not in spec.roles:
        return False
    # A customer without a customer's id is nobody's, and so has nothing to read.
    return actor.role is not Role.CUSTOMER or bool(actor.customer_id)


def allowed(spec: ToolSpec, arguments: Mapping[str, Json], actor: Actor) -> bool:
    """Whether this call may be made. Whose an order is, the backend's query decides.

    A guest may ask only for the orders that were verified for this session.
    """
    if not visible(spec, actor):
        return False
    if actor.role is not Role.GUEST or "order_id" not in arguments:
        return actor.role is not Role.GUEST or "tracking_id" not in arguments
    return canonical_number(str(arguments["order_id"])) in actor.verified_orders
