"""The kill switches: the model off, changes off, until somebody turns them on again."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from chatbot.workflow.audit import record_audit
from chatbot.workflow.models import Switch, SwitchName


def is_off(name: SwitchName) -> bool:
    return Switch.objects.filter(pk=name, is_off=True).exists()


def all_switches() -> list[Switch]:
    """Both of them; what nobody has ever touched is on."""
    return [Switch.objects.get_or_create(pk=name)[0] for name in SwitchName]


@transaction.atomic
def throw(
    name: SwitchName, *, off: bool, by: User, reason: str, now: datetime
) -> Switch:
    """Turn it off or on; who did it and why stands in the audit."""
    switch, _ = Switch.objects.update_or_create(
        pk=name,
        defaults={
            "is_off": off,
            "reason": reason,
            "changed_by": by,
            "changed_at": now,
        },
    )
    record_audit(
        "switch.off" if off else "switch.on",
        chain="switches",
        actor=by.get_username(),
        ids={"switch": name, "reason": reason},
        now=now,
    )
    return switch
