"""Requests for a change: frozen arguments, who agreed, what came of it."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from tools.actions.states import OPEN, RequestState
from tools.backends.base import Money
from tools.backends.changes import Terms
from tools.contracts import ActionKind, Approver


class ActionPolicy(models.Model):
    """Who must agree to one kind of change, and how much of it there may be.

    Amounts are minor units of the order's currency. A row is never edited: a change
    adds the next ``version``, so that each request shows under which rules it was made.
    """

    kind = models.CharField(
        max_length=32, choices=[(kind, kind.replace("_", " ")) for kind in ActionKind]
    )
    version = models.PositiveIntegerField()
    enabled = models.BooleanField(default=True)
    approver = models.CharField(
        max_length=10, choices=[(who, who) for who in Approver if who != "nobody"]
    )
    # Above these a supervisor, or two different people, must agree. Empty: never.
    supervisor_above = models.BigIntegerField(null=True, blank=True)
    two_people_above = models.BigIntegerField(null=True, blank=True)
    max_amount = models.BigIntegerField(null=True, blank=True)
    max_per_customer_per_day = models.PositiveIntegerField(default=5)
    valid_hours = models.PositiveIntegerField(default=24)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    changed_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "action policies"
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "version"], name="action_policy_version_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} v{self.version}"


class ActionRequest(models.Model):
    """One change that somebody asked for; its id is the key under which it is executed.

    ``arguments`` are canonical and frozen by ``arguments_hash`` (SHA-256) once the
    customer has confirmed them. ``preview`` is what the card shows, worked out by code.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(
        max_length=32, choices=[(kind, kind.replace("_", " ")) for kind in ActionKind]
    )
    customer_id = models.CharField(max_length=64)
    # What is changed: an order's canonical number, or the customer's own profile.
    subject = models.CharField(max_length=64)
    conversation_id = models.UUIDField(null=True, blank=True)
    run_id = models.UUIDField(null=True, blank=True)
    arguments = models.JSONField(default=dict)
    arguments_hash = models.CharField(max_length=64)
    preview = models.JSONField(default=dict)
    amount = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True, default="")
    policy = models.ForeignKey(ActionPolicy, on_delete=models.PROTECT)
    state = models.CharField(
        max_length=12,
        choices=[(state, state.replace("_", " ")) for state in RequestState],
        default=RequestState.PROPOSED,
    )
    proposed_by = models.CharField(max_length=64)
    approvals_needed = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    # How often the shop was asked, and how often a process died asking it.
    attempts = models.PositiveSmallIntegerField(default=0)
    crashes = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    outcome = models.JSONField(default=dict)
    reason = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "customer_id", "subject"],
                condition=Q(state__in=sorted(OPEN)),
                name="action_request_one_open",
            ),
            models.CheckConstraint(
                condition=~Q(
                    state__in=[
                        RequestState.EXECUTING,
                        RequestState.RETRY_WAIT,
                        RequestState.SUCCEEDED,
                        RequestState.UNKNOWN,
                        RequestState.RESOLVED,
                    ]
                )
                | Q(confirmed_at__isnull=False, approved_at__isnull=False),
                name="action_request_executed_only_if_approved",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "next_attempt_at"]),
            models.Index(fields=["customer_id", "-created_at"]),
            models.Index(fields=["conversation_id"]),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject} {self.state}"

    @property
    def terms(self) -> Terms:
        """What the card showed when the customer confirmed it."""
        money = None if self.amount is None else Money(self.amount, self.currency)
        return Terms(
            self.preview.get("direction", ""),
            money,
            list(self.preview.get("items", ())),
            dict(self.preview.get("before", {})),
            dict(self.preview.get("after", {})),
        )


class Approval(models.Model):
    """One person's decision on exactly these arguments; used once."""

    request = models.ForeignKey(
        ActionRequest, on_delete=models.CASCADE, related_name="approvals"
    )
    approver = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    approved = models.BooleanField()
    reason = models.CharField(max_length=400)
    arguments_hash = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["request", "approver"], name="approval_once_per_person"
            )
        ]

    def __str__(self) -> str:
        return "approved" if self.approved else "declined"
