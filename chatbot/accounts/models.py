"""Log-ins and lookups that failed, for as long as they count; and who is a visitor."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class LogInAttempt(models.Model):
    """One attempt that failed or is being checked, counted for ``key``.

    ``key`` is a keyed digest of an account's name or of an address: the table tells
    nobody who tried to log in.
    """

    id = models.BigAutoField(primary_key=True)
    key = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["key", "at"], name="log_in_attempt_by_key")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"


class Guest(models.Model):
    """A visitor who is not signed in: a user that nobody can log in as.

    ``address`` is a keyed digest of where they came from last, for limits that hold for
    an address.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="guest",
    )
    address = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["address", "created_at"], name="guest_by_address"),
            models.Index(fields=["created_at"], name="guest_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.user}"


class OrderProof(models.Model):
    """A visitor's try to prove an order by a code that is mailed to its buyer.

    The code itself is kept nowhere, only its keyed digest: "" where none was mailed, or
    where it was used. ``contact`` is what the visitor typed; it is emptied once it was
    compared with the order's own.
    """

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="order_proofs"
    )
    order = models.CharField(max_length=64)
    order_key = models.CharField(max_length=64)
    contact = models.CharField(max_length=254, blank=True, default="")
    code = models.CharField(max_length=64, blank=True, default="")
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    mailed_at = models.DateTimeField(null=True, blank=True)
    verified_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["order_key", "mailed_at"], name="proof_by_order")
        ]

    def __str__(self) -> str:
        return f"{self.order_key}"


class LookupTry(models.Model):
    """One order that somebody asked for without proof, counted for ``key``.

    ``key`` is a keyed digest of a visitor or of an address, ``subject`` of what was
    tried: the same try again is no further one.
    """

    id = models.BigAutoField(primary_key=True)
    key = models.CharField(max_length=64)
    subject = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["key", "at"], name="lookup_try_by_key")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"


class LookupGate(models.Model):
    """Whether orders may be asked for by ``key``; its row lock orders the tries."""

    key = models.CharField(max_length=64, primary_key=True)
    locked_until = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.locked_until}"
