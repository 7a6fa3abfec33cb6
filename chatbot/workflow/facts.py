"""What follows from a change's move: events, audit entries and alarms, once each.

They are written in the transaction of the move; each of them has a key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction

from chatbot.workflow.audit import record_audit
from chatbot.workflow.models import Event
from chatbot.workflow.outbox import raise_alert, record_event
from tools.models import ActionRequest


def chain_of(request: ActionRequest) -> str:
    """The audit chain of a request: its conversation's."""
    if request.conversation_id is None:
        return f"request:{request.pk}"
    return str(request.conversation_id)


# Facts that one request may meet more than once, each time another one.
_AGAIN = {"action.finished": "state", "action.amended": "arguments_hash"}
_FACTS: Mapping[str, Sequence[str]] = {
    "proposed": ("action.proposed",),
    "confirmed": ("action.confirmed",),
    "approved": ("action.confirmed", "action.approved"),
    "declined": ("action.declined",),
    "withdrawn": ("action.withdrawn",),
    "expired": ("action.expired",),
    "succeeded": ("action.finished",),
    "refused": ("action.finished",),
    "unknown": ("action.finished",),
    "resolved": ("action.resolved",),
}


def keys_of(request: ActionRequest) -> list[str]:
    """Keys of the events that a request in this state must have brought."""
    return [_key_of(name, request) for name in _FACTS.get(request.state, ())]


def _key_of(name: str, request: ActionRequest) -> str:
    key = f"{name}:{request.pk}"
    return f"{key}:{getattr(request, _AGAIN[name])}" if name in _AGAIN else key


@transaction.atomic
def announce(
    request: ActionRequest,
    *,
    actor: str,
    now: datetime,
    facts: Sequence[str] | None = None,
) -> None:
    """Write event and audit entry of the state that a request has reached, once each.

    An unknown outcome also raises an alert: it is a dead letter, and a person's.
    """
    for name in _FACTS.get(request.state, ()) if facts is None else facts:
        key = _key_of(name, request)
        if Event.objects.filter(key=key).exists():
            continue
        ids = {"request": str(request.pk)}
        if request.conversation_id is not None:
            ids["conversation"] = str(request.conversation_id)
        record_event(name, key=key, now=now, ids={**ids, "state": request.state})
        record_audit(
            name,
            chain=chain_of(request),
            actor=actor,
            ids={
                **ids,
                "state": request.state,
                "kind": request.kind,
                "hash": request.arguments_hash,
                "policy": request.policy_id,
            },
            now=now,
        )
    if request.state == "unknown":
        raise_alert(
            "unknown_outcome",
            key=f"request:{request.pk}:{request.attempts}",
            text=f"Nobody knows whether {request.kind} was done: look it up",
            ids={"request": str(request.pk)},
            now=now,
        )
