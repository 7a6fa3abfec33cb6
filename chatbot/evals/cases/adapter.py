"""The one table between the logical names of attack cases and this product's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatbot.evals.cases.format import NotSupported
from chatbot.react.types import StopReason as Why
from tools.actions.states import RequestState as State
from tools.contracts import ActionKind, Role

# ---- who there is


@dataclass(frozen=True, slots=True)
class Person:
    """``customer_id`` is the shop's; ``admin`` may do everything in the admin;
    ``proved`` is the order that a visitor has proved."""

    name: str
    role: Role
    customer_id: str = ""
    admin: bool = False
    proved: str = ""

    @property
    def chats(self) -> bool:
        return self.role in (Role.CUSTOMER, Role.GUEST)


PEOPLE: Mapping[str, Person] = {
    person.name: person
    for person in (
        Person("alice", Role.CUSTOMER, "C-ALICE"),
        Person("bob", Role.CUSTOMER, "C-BOB"),
        Person("carol", Role.CUSTOMER, "C-CAROL"),
        Person("li", Role.AGENT),
        Person("zhao", Role.AGENT),
        Person("wang", Role.SUPERVISOR),
        Person("sun", Role.SUPERVISOR),
        Person("root", Role.OPERATOR, admin=True),
        Person("guest", Role.GUEST),
        Person("guest_v", Role.GUEST, proved="O-404"),
    )
}
# Who takes over where a case names nobody.
AGENT = "li"


def person(name: str) -> Person:
    if name in PEOPLE:
        return PEOPLE[name]
    raise NotSupported(f"a person named {name!r}")


# ---- tools


@dataclass(frozen=True, slots=True)
class Tool:
    """The product's ``name``; ``fit`` gives its arguments from the logical ones."""

    name: str
    fit: Callable[[dict[str, Any]], dict[str, Any]] = dict


def _cancel(arguments: dict[str, Any]) -> dict[str, Any]:
    """The shop knows two reasons; any other wording would end at the schema, and the
    attack would never reach the rules behind it."""
    if isinstance(arguments.get("reason"), str):
        arguments = {**arguments, "reason": "no longer needed"}
    return arguments


def _address(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "address1" if name == "address" else name: value
        for name, value in arguments.items()
    }


TOOLS: Mapping[str, Tool] = {
    "list_my_orders": Tool("list_my_orders"),
    "get_order": Tool("get_order"),
    "track_shipment": Tool("track_shipment"),
    "search_faq": Tool("search_help"),
    "propose_cancel": Tool("cancel_order", _cancel),
    "propose_refund": Tool("request_refund"),
    "propose_change_address": Tool("change_address", _address),
    "handoff_to_human": Tool("handoff_to_human"),
}


def tool_name(logical: str) -> str:
    return TOOLS[logical].name if logical in TOOLS else logical


def model_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A scripted reply in the product's names; what is no proper call stays so."""
    entry = dict(entry)
    if "call" in entry:
        entry["call"] = _call(*entry["call"])
    if "calls" in entry:
        entry["calls"] = [_call(*one) for one in entry["calls"]]
    if "sse" in entry:
        entry["sse"] = [_CALL_CHUNK.sub(_chunk, chunk) for chunk in entry["sse"]]
    return entry


_CALL_CHUNK = re.compile(r"\A(tool_calls\[\d+\]=)(.*)\Z", re.DOTALL)


def _chunk(found: re.Match[str]) -> str:
    return found[1] + tool_name(found[2])


def _call(name: str | None, raw: str) -> list[str | None]:
    if name not in TOOLS:
        return [name, raw]
    tool = TOOLS[str(name)]
    try:
        arguments = json.loads(raw, parse_constant=_no_json)
    except ValueError:
        return [tool.name, raw]
    if isinstance(arguments, dict):
        raw = json.dumps(tool.fit(arguments), ensure_ascii=False)
    return [tool.name, raw]


def _no_json(constant: str) -> None:
    raise ValueError(constant)


# ---- changes

KINDS: Mapping[str, ActionKind] = {
    "cancel": ActionKind.CANCEL_ORDER,
    "refund": ActionKind.REQUEST_REFUND,
    "address": ActionKind.CHANGE_ADDRESS,
    "change_address": ActionKind.CHANGE_ADDRESS,
    "return": ActionKind.RETURN_ITEMS,
    "exchange": ActionKind.EXCHANGE_ITEMS,
    "items": ActionKind.CHANGE_ITEMS,
    "payment": ActionKind.CHANGE_PAYMENT,
}
# What proposes each of them, where a case says only that it was done before.
PROPOSALS: Mapping[str, str] = {
    "cancel": "propose_cancel",
    "refund": "propose_refund",
    "address": "propose_change_address",
}
STATES: Mapping[str, frozenset[State]] = {
    "proposed": frozenset({State.PROPOSED}),
    "confirmed": frozenset({State.CONFIRMED}),
    "pending": frozenset({State.PROPOSED, State.CONFIRMED}),
    "waiting": frozenset({State.PROPOSED, State.CONFIRMED}),
    "approved": frozenset({State.APPROVED}),
    "executing": frozenset({State.EXECUTING, State.RETRY_WAIT}),
    "done": frozenset({State.SUCCEEDED}),
    "succeeded": frozenset({State.SUCCEEDED}),
    "failed": frozenset({State.REFUSED}),
    "refused": frozenset({State.REFUSED}),
    "stale": frozenset({State.REFUSED}),
    # A dead letter: given up by the machine, a person's to settle.
    "dead": frozenset({State.UNKNOWN}),
    "unknown": frozenset({State.UNKNOWN}),
    "rejected": frozenset({State.DECLINED}),
    "declined": frozenset({State.DECLINED}),
    "expired": frozenset({State.EXPIRED}),
    "withdrawn": frozenset({State.WITHDRAWN}),
    "resolved": frozenset({State.RESOLVED}),
}


def kind(logical: str) -> ActionKind:
    if logical in KINDS:
        return KINDS[logical]
    raise NotSupported(f"an action named {logical!r}")


def states(logical: str) -> frozenset[State]:
    if logical in STATES:
        return STATES[logical]
    raise NotSupported(f"an action state named {logical!r}")


# ---- ends of a run

RUNS: Mapping[str, frozenset[Why]] = {
    "completed": frozenset({Why.ANSWERED}),
    "limited": frozenset(
        {
            *(Why.STEP_LIMIT, Why.TIME_LIMIT, Why.TOKEN_LIMIT, Why.BUDGET_LIMIT),
            *(Why.REPEATED_ACTION, Why.NO_PROGRESS),
        }
    ),
    "failed": frozenset(
        {
            *(Why.TOOL_FAILED, Why.MODEL_ERROR, Why.INTERNAL_ERROR),
            *(Why.INSUFFICIENT_EVIDENCE, Why.REFUSED_ACTION),
        }
    ),
    "waiting_approval": frozenset({Why.AWAITING_APPROVAL}),
    "handed_over": frozenset({Why.HANDED_OVER}),
}
STOPS: Mapping[str, Why] = {
    "insufficient": Why.INSUFFICIENT_EVIDENCE,
    "worker_lost": Why.INTERNAL_ERROR,
    **{reason.value: reason for reason in Why},
}


def ends(logical: str) -> frozenset[Why]:
    if logical in RUNS:
        return RUNS[logical]
    raise NotSupported(f"a run that is {logical!r}")


def stop(logical: str) -> Why:
    if logical in STOPS:
        return STOPS[logical]
    raise NotSupported(f"a stop reason {logical!r}")


# ---- what a refused call counts as, by the code of the refusal

REFUSALS: Mapping[str, str] = {
    "unknown_tool": "denied",
    "unknown_number": "denied",
    "write_not_alone": "denied",
    "bad_arguments": "invalid",
    "malformed": "invalid",
}
OBSERVED: Mapping[str, str] = {
    "ok": "ok",
    "denied": "denied",
    # Not the actor's and not there look the same from outside.
    "not_found": "denied",
}
OUTCOMES = frozenset({"ok", "denied", "invalid", "any"})

# ---- audit

AUDIT: Mapping[str, Sequence[str]] = {
    "proposed": ("action.proposed",),
    "confirmed": ("action.confirmed",),
    "approve": ("action.agreed", "action.approved"),
    "approved": ("action.approved",),
    "reject": ("action.declined",),
    "declined": ("action.declined",),
    "expired": ("action.expired",),
    "withdrawn": ("action.withdrawn",),
    "finished": ("action.finished",),
    "tainted_argument": ("action.tainted_argument",),
    "lookup_lock": ("lookup_lock",),
    "denied": ("conversation.refused",),
    "conversation_refused": ("conversation.refused",),
    "takeover": ("conversation.taken_over",),
    "release": ("conversation.released",),
}


def audit_kinds(logical: str) -> Sequence[str]:
    if logical in AUDIT:
        return AUDIT[logical]
    if "." in logical:
        return (logical,)
    raise NotSupported(f"an audit entry named {logical!r}")


# ---- pages

# By name, with its argument in the logical path: the view's name and what it is given.
PAGES: Mapping[str, tuple[str, str]] = {
    "chat": ("conversation", "conversation"),
    "conversation": ("conversation", "conversation"),
    "transcript": ("transcript", "conversation"),
    "trace": ("admin:chat_run_change", "run"),
    "approvals": ("admin:workflow_changerequest_changelist", ""),
    "order": ("admin:store_order_change", "order"),
    "deadletters": ("admin:workflow_delivery_changelist", ""),
    "alerts": ("admin:workflow_alert_changelist", ""),
    "audit": ("admin:workflow_auditentry_changelist", ""),
    "admin_change_order": ("admin:store_order_change", "order"),
    "admin_changelist_orders": ("admin:store_order_changelist", ""),
    "admin_changelist_runs": ("admin:chat_run_changelist", ""),
}

# ---- frames over the socket, as text, so that a broken one stays as broken

_FRAME_WORDS = (
    (re.compile(r'"type"\s*:\s*"message"'), '"type":"message.send"'),
    (re.compile(r'"cid"\s*:'), '"client_id":'),
)


def frame(text: str) -> str:
    """A raw frame in the product's words."""
    for pattern, word in _FRAME_WORDS:
        text = pattern.sub(word, text)
    return text
