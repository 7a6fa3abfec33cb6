"""Reactions to events that need no chat: execute what was approved, settle refunds."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from chatbot.workflow import refunds, services
from chatbot.workflow.models import Event
from chatbot.workflow.outbox import Later, Retryable
from tools.errors import NotFound, ToolError

# While another process executes the request: when to look whether it has ended.
LOOK_AGAIN = timedelta(seconds=2)


async def perform_action(event: Event) -> None:
    """Execute an approved request to its end; safe to run any number of times.

    The delivery stays open between the attempts, whose times stand in the request.
    """
    now = timezone.now()
    request = await services.carry_out(UUID(event.ids["request"]), now=now)
    if request.state in ("approved", "executing", "retry_wait"):
        raise Later(request.next_attempt_at or now + LOOK_AGAIN)


async def settle_refund(event: Event) -> None:
    """Note in the shop's books that a refund was paid out; twice is once.

    A report may come before the refund that it is about is to be seen: it is tried
    again, and in the end a dead letter, for then somebody pays what nobody asked for.
    """
    try:
        await refunds.settle_refund(
            event.ids["refund"], at=datetime.fromisoformat(event.ids["settled_at"])
        )
    except NotFound as error:
        raise Retryable("no such refund (yet)") from error
    except ToolError as error:
        raise Retryable(type(error).__name__) from error
