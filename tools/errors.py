"""Failures that a tool or a backend expects. The gateway lets none of them out."""

from __future__ import annotations

from typing import ClassVar

from tools.contracts import ObservationStatus


class ToolError(Exception):
    """A tool that brought no result; the message is for the trace, not the customer.

    ``retryable``: the same read may succeed when it is made again.
    """

    retryable: ClassVar[bool] = False
    status: ClassVar[ObservationStatus] = ObservationStatus.UNAVAILABLE


class ToolTimeout(ToolError):
    """No answer in time. Of a read nothing is known, of a write not its outcome."""

    retryable = True
    status = ObservationStatus.TIMEOUT


class ToolUnavailable(ToolError):
    """The system behind the tool is away, overloaded or answers with an error."""

    retryable = True


class ToolDenied(ToolError):
    """The actor may not use this tool, or may not use it so."""

    status = ObservationStatus.DENIED


class NotFound(ToolError):
    """There is no such thing, or it is not the actor's: from outside the same."""

    status = ObservationStatus.NOT_FOUND


class BadArguments(ToolError):
    """The arguments do not fit the tool's schema."""

    status = ObservationStatus.DENIED


class BadResult(ToolError):
    """The system behind the tool returned something that is not what it declared."""

    status = ObservationStatus.BAD_RESULT
