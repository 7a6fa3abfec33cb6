"""What outside systems report: signed calls that become events, and nothing more.

A provider sends again what we did not answer, in any order and any number of times:
the event's key makes them one. What a call means is worked out by the event's handler.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import datetime
from time import time
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from chatbot.llm.strict_json import NotStrict, read_object
from chatbot.workflow import refunds

SIGNATURE = "Waybill-Signature"
# Seconds that a call may be old, or its sender's clock be fast.
WINDOW = 300
_HEADER = re.compile(r"t=(\d{1,12}),v1=([0-9a-f]{64})")
_NUMBER = re.compile(r"[\w-]{1,64}", re.ASCII)


def signature(body: bytes, *, key: str, at: int) -> str:
    """The header's value for a call made at this Unix time."""
    digest = hmac.new(key.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


@csrf_exempt
@require_POST
def payment_hook(request: HttpRequest) -> HttpResponse:
    """A refund that has been paid out: ``{"type", "refund", "settled_at"}``.

    401 without a fresh signature, 400 for a body that is none of these, and 200 as soon
    as the event is stored, however often.
    """
    body = request.body
    if not _is_signed(request.headers.get(SIGNATURE, ""), body, now=time()):
        return JsonResponse({"error": "signature"}, status=401)
    try:
        call = read_object(body.decode())
        refund, settled_at = _settled(call)
    except (NotStrict, ValueError):
        return JsonResponse({"error": "body"}, status=400)
    refunds.refund_settled(refund, settled_at=settled_at, now=timezone.now())
    return JsonResponse({"received": True})


def _is_signed(header: str, body: bytes, *, now: float) -> bool:
    found = _HEADER.fullmatch(header)
    if found is None or not settings.PAYMENT_HOOK_KEY:
        return False
    at = int(found[1])
    right = signature(body, key=settings.PAYMENT_HOOK_KEY, at=at)
    # Compared first: whoever has no key learns nothing about our clock.
    return hmac.compare_digest(right, header) and abs(now - at) <= WINDOW


def _settled(call: Mapping[str, Any]) -> tuple[str, datetime]:
    refund, at = call.get("refund"), call.get("settled_at")
    if call.get("type") != "refund.settled" or not isinstance(refund, str):
        raise ValueError("no settled refund")
    if not _NUMBER.fullmatch(refund) or not isinstance(at, str):
        raise ValueError("no number or no time")
    settled_at = datetime.fromisoformat(at)
    if settled_at.tzinfo is None:
        raise ValueError("a time without a zone")
    return refund, settled_at
