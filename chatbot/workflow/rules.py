"""The rules that changes are agreed to by, as operators keep them."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from chatbot.workflow.audit import record_audit
from tools.actions import policy as policies
from tools.contracts import ActionKind
from tools.models import ActionPolicy


def current_policies() -> list[ActionPolicy]:
    """The rules that count for new requests, one of each kind."""
    return [policies.current_policy(kind) for kind in ActionKind]


@transaction.atomic
def change_policy(
    kind: ActionKind, *, by: User, now: datetime, **changes: object
) -> ActionPolicy:
    """Add a version of a kind's rules; what changed stands in the audit."""
    before = policies.current_policy(kind)
    after = policies.change_policy(kind, by=by, now=now, **changes)
    changed = [
        f"{name}: {getattr(before, name)} -> {getattr(after, name)}"
        for name in policies.CHANGEABLE
        if getattr(before, name) != getattr(after, name)
    ]
    record_audit(
        "policy.changed",
        chain="policy",
        actor=by.get_username(),
        ids={
            "kind": kind,
            "version": after.version,
            "changed": "; ".join(changed) or "nothing",
        },
        now=now,
    )
    return after
