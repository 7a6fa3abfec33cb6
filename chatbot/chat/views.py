"""The pages around a conversation. Everything live goes over the socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.contrib.auth import get_user_model, login
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.http import require_GET, require_POST, require_safe

from chatbot.chat import guests, services
from chatbot.chat.demo import demo_people
from chatbot.chat.models import Account, Conversation, Feedback
from chatbot.chat.transcript import transcript_text
from chatbot.chat.words import live_words, page_language, word
from tools.contracts import Role

View = Callable[..., HttpResponse]

_HISTORY = 60  # conversations in the list on the left
_SUGGESTIONS = ("suggest_1", "suggest_2", "suggest_3", "suggest_4")
_GUEST_SUGGESTIONS = (
    "suggest_guest_1",
    "suggest_guest_2",
    "suggest_guest_3",
    "suggest_guest_4",
)


def for_visitors(view: View) -> View:
    """For whoever has conversations here: customers, and visitors of this session."""

    @wraps(view)
    def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        signed_in = request.user.is_authenticated
        if not signed_in and guests.account_of(request.session) is None:
            return redirect_to_login(request.get_full_path())
        return view(request, *args, **kwargs)

    return shown


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """A visitor's landing page; everybody else goes where their work is."""
    if not request.user.is_authenticated:
        guest = guests.account_of(request.session)
        if guest is not None:
            return redirect("conversation", _newest(guest).pk)
        context = {"people": demo_people(), "guests": settings.GUEST_CHAT}
        return render(request, "chat/landing.html", context)
    account = Account.objects.filter(user__username=request.user.get_username()).first()
    if account is None or account.role != Role.CUSTOMER:
        if request.user.is_staff:
            return redirect("admin:index")
        raise PermissionDenied
    return redirect("conversation", _newest(account).pk)


@require_POST
def as_guest(request: HttpRequest) -> HttpResponse:
    """Go on without signing in: a visitor of this session, who may ask."""
    if request.user.is_authenticated:
        return redirect("home")
    if not settings.GUEST_CHAT:
        raise Http404
    account = guests.account_of(request.session)
    try:
        account = account or guests.begin(
            request.session,
            address=request.META.get("REMOTE_ADDR", ""),
            language=page_language(),
            time_zone=_zone(request.POST.get("time_zone", "")),
            now=timezone.now(),
        )
    except guests.TooMany:
        return render(request, "chat/crowded.html", status=429)
    return redirect("conversation", _newest(account).pk)


@require_POST
def try_as(request: HttpRequest, username: str) -> HttpResponse:
    """Log a visitor in as one of the demo people; in a real shop there are none."""
    known = {person.username for person in demo_people()}
    if username not in known:
        raise Http404
    user = get_object_or_404(get_user_model(), username=username, is_active=True)
    request.session.pop(guests.SESSION_KEY, None)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")


@for_visitors
@require_POST
def new_conversation(request: HttpRequest) -> HttpResponse:
    """Start a conversation; one that nobody has written in yet is taken again."""
    account = _customer(request)
    unused = services.conversations_of(account).filter(last_seq=0).first()
    return redirect("conversation", (unused or _started(account)).pk)


@for_visitors
@require_GET
def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    account = _customer(request)
    shown = get_object_or_404(account.conversations, pk=conversation_id)
    conversations = list(services.conversations_of(account)[:_HISTORY])
    zone = services.zone_of(account)
    today = timezone.localtime(timezone=zone).date()
    for other in conversations:
        moment = timezone.localtime(other.updated_at, zone)
        other.day = date_format(moment, "H:i" if moment.date() == today else "n-j")  # type: ignore[attr-defined]
    is_guest = account.role == Role.GUEST
    suggestions = _GUEST_SUGGESTIONS if is_guest else _SUGGESTIONS
    context = {
        "conversation": shown,
        "conversations": conversations,
        "account": account,
        "person": word("guest")
        if is_guest
        else account.user.get_full_name() or account.user.get_username(),
        "is_guest": is_guest,
        "is_demo": settings.ENVIRONMENT == "demo",
        "socket_path": f"/ws/chat/{shown.pk}/",
        "message_limit": settings.CHAT_MAX_MESSAGE_CHARACTERS,
        "words": live_words(),
        "ratings": _ratings(shown),
        "untitled": word("untitled"),
        "jump": word("newest"),
        "answers_with": _answers_with(),
        "suggestions": [word(name) for name in suggestions],
    }
    return render(request, "chat/conversation.html", context)


@for_visitors
@require_GET
def transcript(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The customer's own conversation as a text file, with the source of each fact."""
    account = _customer(request)
    shown = get_object_or_404(account.conversations, pk=conversation_id)
    zone = services.zone_of(account)
    text = transcript_text(shown, language=page_language(), zone=zone)
    day = timezone.localtime(timezone=zone).strftime("%Y-%m-%d")
    return HttpResponse(
        text,
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="waybill-{day}.txt"'},
    )


def _started(account: Account) -> Conversation:
    return services.start_conversation(account=account, now=timezone.now())


def _newest(account: Account) -> Conversation:
    return services.conversations_of(account).first() or _started(account)


def _zone(name: str) -> str:
    """The browser's time zone, as far as it is one."""
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"


def _customer(request: HttpRequest) -> Account:
    if not request.user.is_authenticated:
        guest = guests.account_of(request.session)
        if guest is not None:
            return guest
    account = (
        Account.objects.select_related("user")
        .filter(user__username=request.user.get_username(), role=Role.CUSTOMER)
        .first()
    )
    if account is None:
        raise PermissionDenied
    return account


def _ratings(shown: Conversation) -> str:
    rows = Feedback.objects.filter(message__conversation=shown)
    return json.dumps(dict(rows.values_list("message_id", "helpful")))


def _answers_with() -> str:
    # As wiring chooses: a model where a key is set, else the offline one.
    if settings.OPENAI_API_KEY:
        return word("answers_model", model=settings.LLM_MODEL)
    return word("answers_offline")
