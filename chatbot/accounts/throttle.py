"""How often somebody may try to log in: per account and per address, in the database.

An attempt is counted before the password is looked at and struck out if it was right:
any number of processes and of attempts at once share one count.
"""

from __future__ import annotations

import logging
import unicodedata
from datetime import datetime, timedelta

from django.conf import settings

from chatbot.accounts.digests import address_digest, digest
from chatbot.accounts.models import LogInAttempt

logger = logging.getLogger(__name__)


class Attempt:
    """One log-in that somebody tries."""

    def __init__(self, username: str, address: str, *, now: datetime) -> None:
        name = unicodedata.normalize("NFKC", username)
        self._account = digest("log-in account", name)
        self._now = now
        self._keys = [self._account, address_digest("log-in address", address)]
        self._rows: list[int] = []

    def begin(self) -> bool:
        """Count it; False where too many have failed: the password is not looked at.

        A refused attempt is not counted, so that waiting always helps.
        """
        since = self._now - timedelta(seconds=settings.LOGIN_WINDOW_SECONDS)
        LogInAttempt.objects.filter(at__lte=since).delete()
        for key in self._keys:
            self._rows.append(LogInAttempt.objects.create(key=key, at=self._now).pk)
        # Each row is committed before it is counted: of attempts at once none slips by.
        counts = [
            LogInAttempt.objects.filter(key=key, at__gt=since).count()
            for key in self._keys
        ]
        if max(counts) <= settings.LOGIN_FAILURES:
            return True
        LogInAttempt.objects.filter(pk__in=self._rows).delete()
        logger.warning("log-in refused: too many attempts")
        return False

    def succeed(self) -> None:
        """Strike it out, with the account's failures; the address keeps its own.

        Otherwise whoever has one account could try the passwords of all others.
        """
        LogInAttempt.objects.filter(pk__in=self._rows).delete()
        LogInAttempt.objects.filter(key=self._account).delete()
