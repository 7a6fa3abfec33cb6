"""Log lines without people's data and secrets in them."""

from __future__ import annotations

import logging

from tools.redaction import redact

FAILED = "<REDACTION_FAILED>"


class RefusalWithoutTraceback(logging.Filter):
    """What was refused or is not there needs its line, but is no fault of the code."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = None
        return True


class RedactingFormatter(logging.Formatter):
    """Redacts the whole line, traceback and all.

    Where that fails the line is not written: a lost line can be missed, a leaked one
    cannot be called back.
    """

    def format(self, record: logging.LogRecord) -> str:
        try:
            return redact(super().format(record))
        except Exception:  # noqa: BLE001 - whatever went wrong, the line must not leak
            return FAILED
