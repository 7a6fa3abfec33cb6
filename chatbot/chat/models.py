"""Conversations, their log, and the trace of each run.

The log of a conversation is what its pages show: messages and steps, ordered by one
``seq`` per conversation that is assigned under the conversation's row lock. The
database is the truth; a socket only mirrors it.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from chatbot.react.types import HandOverMode, StopReason
from tools.contracts import Role


class Account(models.Model):
    """Who a signed-in person is to the assistant.

    ``customer_id`` is the shop's id of the customer; empty for staff.
    ``allowance`` is how many messages they may still send at ``allowance_at``; it fills
    up again with time.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="account"
    )
    role = models.CharField(
        max_length=16, choices=[(role, role) for role in Role], default=Role.CUSTOMER
    )
    customer_id = models.CharField(max_length=64, blank=True, default="")
    language = models.CharField(max_length=8, blank=True, default="")
    time_zone = models.CharField(max_length=64, default="UTC")
    allowance = models.FloatField(default=0)
    allowance_at = models.DateTimeField(null=True, blank=True)
    # Until then no new number is looked up for them: see chatbot/chat/lookups.py.
    lookups_locked_until = models.DateTimeField(null=True, blank=True)
    # A keyed digest of where they came from last, for limits that hold for an address.
    address = models.CharField(max_length=64, blank=True, default="")
    # When a page of theirs was open last, to within a few seconds.
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["customer_id"],
                condition=~Q(customer_id=""),
                name="account_one_user_per_customer",
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class Conversation(models.Model):
    """One thread of one customer; nobody else's id opens it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="conversations"
    )
    title = models.CharField(max_length=120, blank=True, default="")
    last_seq = models.PositiveBigIntegerField(default=0)
    # Who of the staff answers in it; while somebody does, the assistant is silent.
    taken_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="taken_conversations",
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["account", "-updated_at"])]
        # What staff may see beyond their own list of pages; see chatbot/chat/roles.py.
        permissions = [
            ("read_all_conversations", "Can open conversations of every customer"),
            ("read_message_text", "Can read what customers and the assistant wrote"),
            ("take_over", "Can take a conversation over and write in it"),
            ("release_any", "Can end anybody's takeover"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Speaker(models.TextChoices):
    CUSTOMER = "customer"
    ASSISTANT = "assistant"
    STAFF = "staff"
    NOTICE = "notice"


class RunPhase(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    STOPPED = "stopped"


class Run(models.Model):
    """One answer being worked out, owned by whoever holds its lease.

    A process claims it with one conditional UPDATE that raises ``fence``; every later
    write names that fence and is void once somebody else has claimed the run.
    ``due_at`` is when the sweep may offer a queued run, ``lease_until`` when it may
    take a running one away; ``crashes`` counts how often it had to. ``read_seq`` is the
    last message of the customer that the loop has taken in.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="runs"
    )
    # The stopped run whose question this one works out again.
    retry_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="retries"
    )
    phase = models.CharField(
        max_length=8, choices=RunPhase.choices, default=RunPhase.QUEUED
    )
    stop_reason = models.CharField(
        max_length=24,
        blank=True,
        default="",
        choices=[(reason, reason) for reason in StopReason],
    )
    model = models.CharField(max_length=120, blank=True, default="")
    language = models.CharField(max_length=2, default="en")
    # What the audit lists filter by, kept beside the steps so that no list counts them.
    question = models.CharField(max_length=200, blank=True, default="")
    needs = models.JSONField(default=list)
    numbers = models.TextField(blank=True, default="")
    tools = models.CharField(max_length=200, blank=True, default="")
    tool_errors = models.CharField(max_length=200, blank=True, default="")
    steps_used = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    tokens_estimated = models.BooleanField(default=False)
    # By the prices in the settings at its end, in their currency.
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    hand_over = models.CharField(
        max_length=8,
        default=HandOverMode.NONE,
        choices=[(mode, mode) for mode in HandOverMode],
    )
    read_seq = models.PositiveBigIntegerField(default=0)
    # Since when its question waits for a model that is away; null where it does not.
    away_since = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField()
    lease_owner = models.CharField(max_length=64, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    crashes = models.PositiveSmallIntegerField(default=0)
    # How many steps were stored when the latest of these deaths was found.
    crash_events = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    stopped_at = models.DateTimeField(null=True, blank=True)
    # Beside the two times: databases filter a number faster than a difference.
    duration_ms = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=~Q(phase=RunPhase.STOPPED),
                name="run_one_active_per_conversation",
            ),
            models.CheckConstraint(
                condition=Q(phase=RunPhase.STOPPED, stop_reason__gt="")
                | (~Q(phase=RunPhase.STOPPED) & Q(stop_reason="")),
                name="run_stopped_says_why",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=~Q(phase=RunPhase.STOPPED),
                name="run_unfinished_by_due",
            ),
            models.Index(fields=["-created_at"]),
            models.Index(fields=["stop_reason", "-created_at"]),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def ending(self) -> str:
        """The stop reason, or the phase of a run that goes on."""
        return self.stop_reason or self.phase


class Message(models.Model):
    """One line that people read. ``client_id`` makes a resent message the same one."""

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    run = models.ForeignKey(
        Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="messages"
    )
    seq = models.PositiveBigIntegerField()
    speaker = models.CharField(max_length=10, choices=Speaker.choices)
    text = models.TextField()
    # What a page needs beside the text: evidence, buttons, links, a notice's code.
    extras = models.JSONField(default=dict)
    client_id = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "seq"], name="message_seq_once"
            ),
            models.UniqueConstraint(
                fields=["conversation", "client_id"], name="message_client_id_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.speaker} {self.seq}"


class Step(models.Model):
    """One event of a run's loop, as stored: append-only, read by the trace and resume.

    ``kind`` is the event's name (started, joined, acted, observed, refused, sent_back,
    nudged, model_failed, stopped); ``body`` is the whole event as JSON, redacted.
    """

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="steps"
    )
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=16)
    number = models.PositiveSmallIntegerField(default=0)
    tool = models.CharField(max_length=64, blank=True, default="")
    status = models.CharField(max_length=16, blank=True, default="")
    body = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "seq"], name="step_seq_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.seq}"


class HandOver(models.Model):
    """A person is asked to look: the open needs and the evidence, for staff."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="handover")
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="handovers"
    )
    reason = models.CharField(max_length=400)
    open_needs = models.JSONField(default=list)
    evidence = models.JSONField(default=list)
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "hand-over"
        indexes = [
            models.Index(
                fields=["-created_at"],
                condition=Q(closed_at=None),
                name="handover_open",
            )
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}"


class Feedback(models.Model):
    """A customer's thumb on one answer, seen by staff beside the run."""

    message = models.OneToOneField(
        Message, on_delete=models.CASCADE, related_name="feedback"
    )
    helpful = models.BooleanField()
    comment = models.CharField(max_length=1000, blank=True, default="")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "feedback"

    def __str__(self) -> str:
        return "up" if self.helpful else "down"
