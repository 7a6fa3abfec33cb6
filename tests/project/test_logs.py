from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from chatbot.logs import FAILED, RedactingFormatter, RefusalWithoutTraceback
from tests.cast import person


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


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/admin/chat/run/", "/no/such/page/"])
def test_a_page_that_is_not_there_leaves_a_line_and_no_traceback(
    path: str, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.force_login(person("lin").user)
    assert client.get(path).status_code == 404
    assert f"Not Found: {path}" in caplog.messages
    assert not [record for record in caplog.records if record.exc_info]


def test_a_page_that_may_not_be_seen_leaves_a_line_and_no_traceback(
    rf: RequestFactory, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(request: HttpRequest) -> HttpResponse:
        raise PermissionDenied

    response = convert_exception_to_response(refuse)(rf.get("/orders/"))
    assert isinstance(response, HttpResponse)
    assert response.status_code == 403
    (record,) = caplog.records
    assert record.getMessage() == "Forbidden (Permission denied): /orders/"
    assert record.exc_info is None


def test_a_fault_of_the_code_keeps_its_traceback() -> None:
    fault = logging.LogRecord("django.request", logging.ERROR, "f", 1, "m", (), None)
    fault.__dict__["status_code"] = 500
    fault.exc_info = (ValueError, ValueError(), None)
    assert RefusalWithoutTraceback().filter(fault)
    assert fault.exc_info


def test_no_logger_of_ours_or_the_server_writes_past_the_formatter() -> None:
    logging_of: dict[str, Any] = settings.LOGGING
    assert list(logging_of["handlers"]) == ["console"]
    for name in ("django", "django.server", "uvicorn", "uvicorn.access", "celery"):
        assert logging_of["loggers"][name] == {"handlers": [], "propagate": True}
