"""The staff side of a taken conversation: take it, write, give it back, read along."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from chatbot.chat import takeover
from chatbot.chat.models import Conversation
from chatbot.workflow.services import NotPossible


def act(request: HttpRequest, conversation: Conversation) -> str:
    """Do what was pressed; the code of why it was not possible, or ""."""
    user = request.user
    if user.is_anonymous or not user.has_perm("chat.take_over"):
        raise PermissionDenied
    by, now = user, timezone.now()
    try:
        match request.POST.get("do"):
            case "take":
                takeover.take_over(conversation.pk, by=by, now=now)
            case "release":
                anyones = by.has_perm("chat.release_any")
                takeover.release(conversation.pk, by=by, now=now, anyones=anyones)
            case "say":
                text = request.POST.get("text", "")
                takeover.say_as_staff(conversation.pk, by=by, text=text, now=now)
            case _:
                raise PermissionDenied
    except NotPossible as refusal:
        return refusal.reason
    return ""


def state_for(request: HttpRequest, conversation: Conversation) -> dict[str, Any]:
    """What the page offers this person: take it, write in it, end another's hold."""
    user, holder = request.user, conversation.taken_by
    may = user.has_perm("chat.take_over")
    mine = holder is not None and holder.pk == user.pk
    return {
        "holder": takeover.name_of(holder) or holder.get_username() if holder else "",
        "mine": may and mine,
        "may_take": may and holder is None,
        "may_end": may and holder is not None and user.has_perm("chat.release_any"),
    }


def news(request: HttpRequest, conversation: Conversation) -> JsonResponse:
    """How far the conversation's log goes: a page that is behind loads itself anew."""
    last = conversation.messages.order_by("-seq").values_list("seq", flat=True).first()
    reply = JsonResponse({"last": last or 0})
    reply["Cache-Control"] = "no-store"
    return reply
