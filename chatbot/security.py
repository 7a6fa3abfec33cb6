"""What every answer carries to a browser, and how much a request may bring."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from asgiref.sync import markcoroutinefunction
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

logger = logging.getLogger(__name__)

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

REPORT_PATH = "/csp-report/"


class SecurityHeaders:
    """Headers that Django has no setting for.

    Pages are personal unless they say otherwise: what names no ``Cache-Control`` of its
    own is not stored anywhere.
    """

    async_capable = True
    sync_capable = False

    def __init__(
        self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]
    ) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = await self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        response.headers["Reporting-Endpoints"] = f'csp="{REPORT_PATH}"'
        if "text/html" in response.headers.get("Content-Type", ""):
            patch_vary_headers(response, ["Cookie"])
        return response


class ContentSecurityPolicy(CSPMiddleware):
    """The policy of the settings, with the request's own host for sockets.

    Trusted types are asked for everywhere but in the admin, whose jQuery writes HTML.
    """

    def get_policy_parts(
        self,
        request: HttpRequest,
        response: HttpResponseBase,
        report_only: bool = False,
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        if report_only:
            return parts
        scheme = "wss" if request.is_secure() else "ws"
        # An invalid host is answered with 400 before this; its page opens no socket.
        host = request.META.get("HTTP_HOST", "")
        update = dict(parts.update or {})
        if response.status_code != 400 and host:
            update["connect-src"] = [f"{scheme}://{host}"]
        if not request.path_info.startswith("/admin/"):
            update["require-trusted-types-for"] = ["'script'"]
        parts.update = update
        return parts


@csrf_exempt
@require_POST
def csp_report(request: HttpRequest) -> HttpResponse:
    """Note that a browser blocked something: which directive, never the page's text."""
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return HttpResponse(status=400)
    reports = body if isinstance(body, list) else [body]
    for report in reports[:5]:
        details = report.get("body") if isinstance(report, dict) else None
        if isinstance(details, dict):
            logger.warning(
                "csp blocked directive=%.60r blocked=%.120r",
                details.get("effectiveDirective"),
                details.get("blockedURL"),
            )
    return HttpResponse(status=204)


class BodyLimit:
    """Refuses a request body over ``limit`` bytes with 413, before Django spools it."""

    def __init__(self, app: AsgiApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > self.limit:
            await _too_large(send)
            return
        # A chunked body declares nothing: it is counted as it comes.
        taken = 0
        refused = False

        async def limited_receive() -> Message:
            nonlocal taken, refused
            message = await receive()
            taken += len(message.get("body", b""))
            if taken <= self.limit:
                return message
            if not refused:
                refused = True
                await _too_large(send)
            return {"type": "http.disconnect"}

        async def guarded_send(message: Message) -> None:
            if not refused:
                await send(message)

        await self.app(scope, limited_receive, guarded_send)


async def _too_large(send: Send) -> None:
    text = b"Request body too large.\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": text})
