"""What people of a case do: say something, press a card's or the desk's buttons."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from uuid import uuid4

from django.urls import NoReverseMatch, reverse

from chatbot.chat.models import Run, RunPhase
from chatbot.evals.cases.client import ANSWER_SECONDS, Visitor
from chatbot.evals.cases.format import NotSupported
from chatbot.evals.cases.world import conversation_of
from chatbot.workflow.card import card_of
from tools.models import ActionRequest

_MOST_PATIENCE = 30
# What a card's open fields are filled with.
_ADDRESS = {
    "recipient": "case",
    "phone": "13800000000",
    "address1": "天府大道 2 号",
    "city": "成都",
    "state": "四川",
    "zip": "610000",
    "country": "中国",
}
T = TypeVar("T")


def until(check: Callable[[], T], deadline: float) -> T | None:
    """What ``check`` says once it says something; None when the time is over."""
    while not (value := check()):
        if time.monotonic() > deadline:
            return None
        time.sleep(0.05)
    return value


# ---- messages


def send_message(visitor: Visitor, text: str, client_id: str) -> dict[str, Any]:
    frame = {"type": "message.send", "client_id": client_id, "text": text}
    send_frame(visitor, frame)
    return frame


def send_frame(visitor: Visitor, frame: Mapping[str, Any]) -> None:
    visitor.socket.send(json.dumps(frame, ensure_ascii=False))


def reply_to(visitor: Visitor, client_id: str) -> dict[str, Any] | None:
    """The newest word on a message, since it was last sent."""
    told = visitor.frames("message.accepted", "error")
    own = [one for one in told if one.get("client_id") == client_id]
    after = own[visitor.forgotten.get(client_id, 0) :]
    return after[-1] if after else None


def say_and_wait(visitor: Visitor, text: str) -> None:
    """As a page does: wait when told to, and for the answer."""
    deadline = time.monotonic() + ANSWER_SECONDS
    frame = send_message(visitor, text, uuid4().hex)
    while not visitor.was_sent_away and time.monotonic() < deadline:
        reply = _fate(visitor, frame, seconds=15)
        wait = 0 if reply is None else reply.get("retry_after", None)
        if wait is None or wait > _MOST_PATIENCE:
            break
        time.sleep(wait)
        # The same message, so that it is stored once however often it is sent.
        visitor.forget(str(frame["client_id"]))
        send_frame(visitor, frame)
    until(lambda: not unfinished_runs(), deadline)


def see_to_reply(visitor: Visitor, frame: Mapping[str, Any]) -> None:
    """As a page does: send again what was not acknowledged."""
    for _ in range(2):
        if visitor.was_sent_away or _fate(visitor, frame, seconds=15):
            return
        send_frame(visitor, frame)


def _fate(
    visitor: Visitor, frame: Mapping[str, Any], *, seconds: float
) -> dict[str, Any] | None:
    """What was said to a message; None where the connection broke or nothing came."""

    def told() -> dict[str, Any] | bool | None:
        return reply_to(visitor, str(frame["client_id"])) or not visitor.is_connected

    found = until(told, time.monotonic() + seconds)
    return found if isinstance(found, dict) else None


def unfinished_runs() -> bool:
    return Run.objects.exclude(phase=RunPhase.STOPPED).exists()


def unfinished_changes() -> bool:
    on_their_way = ("approved", "executing", "retry_wait")
    return ActionRequest.objects.filter(state__in=on_their_way).exists()


# ---- changes


def last_request(state: str) -> ActionRequest | None:
    """The newest request, once it is in this state or will not come to it."""

    def newest() -> ActionRequest | None:
        return ActionRequest.objects.order_by("created_at").last()

    def found() -> bool:
        last = newest()
        return last is not None and last.state == state

    until(found, time.monotonic() + 30)
    return newest()


def confirm(visitor: Visitor) -> None:
    """Press Confirm on the newest card; what is to be filled in is filled in."""
    request = last_request("proposed")
    if request is None:
        return  # nothing was asked for: the atoms will tell
    card = card_of(request)
    fields = {
        one["name"]: one["value"] or _filling(one)
        for one in card["fields"]
        if one["required"]
    }
    frame = {"type": "card.confirm", "request": card["request"], "hash": card["hash"]}
    send_frame(visitor, {**frame, "fields": fields})

    def is_over() -> bool:
        request.refresh_from_db()
        refused = [one.get("request") for one in visitor.frames("error")]
        return request.state != "proposed" or card["request"] in refused

    until(is_over, time.monotonic() + 20)


def _filling(one: Mapping[str, Any]) -> str:
    if one["choices"]:
        return str(one["choices"][0]["value"])
    return _ADDRESS.get(one["name"], "case")


def decide(visitor: Visitor, *, approve: bool) -> None:
    """Press a button of the approval desk for the newest request."""
    request = last_request("confirmed")
    if request is None:
        return
    try:
        desk = reverse("admin:workflow_changerequest_change", args=[request.pk])
    except NoReverseMatch:
        raise NotSupported("an approval desk") from None
    pressed = {
        "do": "approve" if approve else "decline",
        "reason": "as the case says",
        "hash": request.arguments_hash,
    }
    visitor.fetch("approval", "POST", desk, pressed)


def take_over(visitor: Visitor, *, of: str) -> None:
    """Press the button that takes a customer's conversation over."""
    conversation = conversation_of(of)
    page = reverse("admin:chat_conversation_change", args=[conversation.pk])
    visitor.fetch("takeover", "POST", page, {"do": "take"})
