from __future__ import annotations

import logging
import sys
from typing import Any

from django.conf import settings

from chatbot.logs import FAILED, RedactingFormatter


def line(message: str, *args: Any, **fields: Any) -> str:
    record = logging.LogRecord("name", logging.INFO, "f", 1, message, args, None)
    record.__dict__.update(fields)
    return RedactingFormatter("{message}", style="{").format(record)


def test_arguments_are_masked_like_the_message() -> None:
    assert (
        line("call %s or %s", "13800131305", "a@b.co") == "call 138****1305 or <email>"
    )


def test_a_traceback_is_masked_too() -> None:
    try:
        raise ValueError("key sk-canary12345678")
    except ValueError:
        text = line("failed", exc_info=sys.exc_info())
    assert "ValueError" in text
    assert "canary" not in text


def test_a_line_that_cannot_be_made_is_withheld() -> None:
    assert line("two %s %s", "canary") == FAILED


def test_no_logger_of_ours_or_the_server_writes_past_the_formatter() -> None:
    logging_of: dict[str, Any] = settings.LOGGING
    assert list(logging_of["handlers"]) == ["console"]
    for name in ("django", "django.server", "uvicorn", "uvicorn.access", "celery"):
        assert logging_of["loggers"][name] == {"handlers": [], "propagate": True}
