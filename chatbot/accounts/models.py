"""Log-ins that did not succeed, for as long as they count."""

from __future__ import annotations

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
