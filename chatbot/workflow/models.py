"""What must survive a crash: past facts, who still has to hear of them, and alarms."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from tools.models import ActionPolicy, ActionRequest


class Event(models.Model):
    """A past fact, written in the same transaction as the fact itself.

    ``name`` is dotted ("action.approved"); ``ids`` holds ids only, never bodies. A row
    is never changed: what became of it stands in its deliveries. ``key`` makes the same
    fact recorded twice one row.
    """

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=64)
    key = models.CharField(max_length=120, unique=True)
    ids = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["name", "-created_at"])]

    def __str__(self) -> str:
        return f"{self.name} {self.id}"


class DeliveryState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    RESOLVED = "resolved"


class Delivery(models.Model):
    """One handler's share of one event.

    ``attempts`` counts what the handler itself gave back; ``crashes`` counts processes
    that died holding it: a poison event ends, and no refusal is blamed for a crash.
    """

    id = models.BigAutoField(primary_key=True)
    event = models.ForeignKey(
        Event, on_delete=models.CASCADE, related_name="deliveries"
    )
    handler = models.CharField(max_length=120)
    state = models.CharField(
        max_length=8, choices=DeliveryState.choices, default=DeliveryState.WAITING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    crashes = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    lease_owner = models.CharField(max_length=64, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=400, blank=True, default="")
    resolved_reason = models.CharField(max_length=400, blank=True, default="")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        permissions = [("close_delivery", "Can requeue or resolve dead letters")]
        constraints = [
            models.UniqueConstraint(
                fields=["event", "handler"], name="delivery_once_per_handler"
            )
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=Q(state="waiting"),
                name="delivery_waiting_by_due",
            ),
            models.Index(
                fields=["lease_until"],
                condition=Q(state="running"),
                name="delivery_running_by_lease",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.handler} of {self.event_id}"


class Alert(models.Model):
    """Something that a person must look at; delivered until a sink has taken it."""

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=64)
    key = models.CharField(max_length=120, unique=True)
    text = models.CharField(max_length=400)
    ids = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class AuditEntry(models.Model):
    """One thing that somebody did, in a chain that shows any later change.

    ``digest`` covers the entry and the digest before it in the same ``chain`` (a
    conversation's id, or "policy" for changes of the rules). Rows are only ever added:
    database triggers refuse UPDATE and DELETE, whoever asks.
    """

    id = models.BigAutoField(primary_key=True)
    chain = models.CharField(max_length=64)
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=64)
    actor = models.CharField(max_length=150)
    ids = models.JSONField(default=dict)
    at = models.DateTimeField()
    previous_digest = models.CharField(max_length=64, blank=True, default="")
    digest = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "audit entries"
        constraints = [
            models.UniqueConstraint(
                fields=["chain", "position"], name="audit_entry_position_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.chain}/{self.position}"


class SwitchName(models.TextChoices):
    MODEL = "model"
    ACTIONS = "actions"


class Switch(models.Model):
    """Something that staff can turn off at once; ``reason`` says why it is as it is."""

    name = models.CharField(
        max_length=8, primary_key=True, choices=SwitchName.choices, editable=False
    )
    is_off = models.BooleanField(default=False)
    reason = models.CharField(max_length=400)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, editable=False
    )
    changed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = "kill switch"
        verbose_name_plural = "kill switches"

    def __str__(self) -> str:
        return self.name


class ChangeRequest(ActionRequest):
    """A request as the approval desk shows it."""

    class Meta:
        proxy = True
        permissions = [
            ("decide_changerequest", "Can approve and decline changes"),
            ("close_changerequest", "Can requeue or resolve unknown outcomes"),
        ]


class ChangePolicy(ActionPolicy):
    """The rules of one kind of change, as operators edit them: each save a version."""

    class Meta:
        proxy = True
        verbose_name_plural = "change policies"
