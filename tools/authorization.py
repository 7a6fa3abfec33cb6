"""Who may do what: one table, from which the code reads and the tests are made.

Rows are actions, columns the parties. A cell says how far a party may go; whose an
object is, the query for it decides. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tools.contracts import Role


class Party(StrEnum):
    """Who acts. ``RUN`` is a model that works for a customer or a visitor."""

    GUEST = "guest"
    CUSTOMER = "customer"
    RUN = "run"
    AGENT = "agent"
    SUPERVISOR = "supervisor"
    OPERATOR = "operator"


class Action(StrEnum):
    ASK_RULES = "ask_rules"
    READ_ORDER = "read_order"
    LIST_ORDERS = "list_orders"
    READ_REFUND = "read_refund"
    READ_CONVERSATION = "read_conversation"
    READ_TRACE = "read_trace"
    READ_ANY_TRACE = "read_any_trace"
    PROPOSE_CHANGE = "propose_change"
    CONFIRM_CHANGE = "confirm_change"
    APPROVE_CHANGE = "approve_change"
    APPROVE_LARGE_CHANGE = "approve_large_change"
    TAKE_OVER = "take_over"
    SEND_AS_STAFF = "send_as_staff"
    END_ANY_TAKEOVER = "end_any_takeover"
    CLOSE_DEAD_LETTER = "close_dead_letter"
    READ_AUDIT = "read_audit"
    READ_ALERTS = "read_alerts"
    THROW_SWITCH = "throw_switch"
    SET_LIMITS = "set_limits"
    CHANGE_AUDIT = "change_audit"


class Grant(StrEnum):
    """How far. ``NO`` is refused; everything else is allowed, within its words."""

    NO = "–"
    YES = "✓"
    OWN = "own"
    PROVED = "proved order, status fields"
    SESSION = "this session's"
    PROPOSAL = "own, proposal only"
    HANDED_OVER = "handed over"
    REASON = "✓ with reason"
    TAKEN = "after takeover"
    NO_TEXT = "✓ without message text"


def _row(
    guest: Grant, customer: Grant, run: Grant, agent: Grant, sup: Grant, operator: Grant
) -> Mapping[Party, Grant]:
    cells = (guest, customer, run, agent, sup, operator)
    return dict(zip(Party, cells, strict=True))


_NO, _YES, _OWN = Grant.NO, Grant.YES, Grant.OWN

MATRIX: Mapping[Action, Mapping[Party, Grant]] = {
    # guest, customer, run, agent, supervisor, operator
    Action.ASK_RULES: _row(_YES, _YES, _YES, _YES, _YES, _NO),
    Action.READ_ORDER: _row(Grant.PROVED, _OWN, _OWN, _NO, _NO, _NO),
    Action.LIST_ORDERS: _row(_NO, _OWN, _OWN, _NO, _NO, _NO),
    Action.READ_REFUND: _row(_NO, _OWN, _OWN, _NO, _NO, _NO),
    Action.READ_CONVERSATION: _row(
        Grant.SESSION, _OWN, _OWN, Grant.HANDED_OVER, Grant.REASON, _NO
    ),
    Action.READ_TRACE: _row(_NO, _NO, _NO, Grant.HANDED_OVER, _YES, Grant.NO_TEXT),
    Action.READ_ANY_TRACE: _row(_NO, _NO, _NO, _NO, Grant.REASON, Grant.NO_TEXT),
    Action.PROPOSE_CHANGE: _row(_NO, _OWN, Grant.PROPOSAL, _NO, _NO, _NO),
    Action.CONFIRM_CHANGE: _row(_NO, _OWN, _NO, _NO, _NO, _NO),
    Action.APPROVE_CHANGE: _row(_NO, _NO, _NO, _YES, _YES, _NO),
    Action.APPROVE_LARGE_CHANGE: _row(_NO, _NO, _NO, _NO, _YES, _NO),
    Action.TAKE_OVER: _row(_NO, _NO, _NO, Grant.HANDED_OVER, _YES, _NO),
    Action.SEND_AS_STAFF: _row(_NO, _NO, _NO, Grant.TAKEN, Grant.TAKEN, _NO),
    Action.END_ANY_TAKEOVER: _row(_NO, _NO, _NO, _NO, _YES, _NO),
    Action.CLOSE_DEAD_LETTER: _row(_NO, _NO, _NO, _NO, Grant.REASON, _NO),
    Action.READ_AUDIT: _row(_NO, _NO, _NO, _NO, _YES, _NO),
    Action.READ_ALERTS: _row(_NO, _NO, _NO, _NO, _YES, _YES),
    Action.THROW_SWITCH: _row(_NO, _NO, _NO, _NO, _YES, _YES),
    Action.SET_LIMITS: _row(_NO, _NO, _NO, _NO, _NO, _YES),
    Action.CHANGE_AUDIT: _row(_NO, _NO, _NO, _NO, _NO, _NO),
}

_ROLES: Mapping[Party, Role] = {
    Party.GUEST: Role.GUEST,
    Party.CUSTOMER: Role.CUSTOMER,
    Party.AGENT: Role.AGENT,
    Party.SUPERVISOR: Role.SUPERVISOR,
    Party.OPERATOR: Role.OPERATOR,
}


def may(party: Party, action: Action) -> bool:
    return MATRIX[action][party] is not Grant.NO


def roles_that(action: Action) -> frozenset[Role]:
    """The roles that may do this at all. A run has none of its own."""
    return frozenset(role for party, role in _ROLES.items() if may(party, action))
