"""The frames of docs/protocol.md, typed: what a page may send, and what it is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias
from uuid import UUID

import orjson
from django.conf import settings

from chatbot.assistant.wiring import model_kind
from chatbot.chat.models import Message, Step
from chatbot.chat.problems import Problem
from chatbot.llm.strict_json import NotStrict, read_object
from chatbot.understanding.text import is_blank
from tools.contracts import Json

PROTOCOL = 1
COMMENT_CHARACTERS = 1_000
CARD_FIELDS = 20
CARD_CHOICES = 50
FIELD_CHARACTERS = 200
ORDER_CHARACTERS = 64
CONTACT_CHARACTERS = 254
CODE_CHARACTERS = 12

Frame: TypeAlias = dict[str, Any]

# ---- client -> server


@dataclass(frozen=True, slots=True)
class MessageSend:
    client_id: str
    text: str


@dataclass(frozen=True, slots=True)
class RunCancel:
    run: UUID


@dataclass(frozen=True, slots=True)
class RunRetry:
    run: UUID


@dataclass(frozen=True, slots=True)
class FeedbackSend:
    message: int
    helpful: bool
    comment: str


@dataclass(frozen=True, slots=True)
class CardConfirm:
    """``hash`` is the one that the card showed, ``fields`` what was filled in."""

    request: UUID
    hash: str
    fields: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class CardWithdraw:
    request: UUID


@dataclass(frozen=True, slots=True)
class VerifyStart:
    """What a visitor says of an order: its number, and the contact that it holds."""

    order: str
    contact: str


@dataclass(frozen=True, slots=True)
class VerifyCode:
    code: str


@dataclass(frozen=True, slots=True)
class Resume:
    last: int


@dataclass(frozen=True, slots=True)
class Ping:
    pass


ClientFrame: TypeAlias = (
    MessageSend
    | RunCancel
    | RunRetry
    | FeedbackSend
    | CardConfirm
    | CardWithdraw
    | VerifyStart
    | VerifyCode
    | Resume
    | Ping
)


_CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NAMED_CLIENT = re.compile(r'"client_id"\s{0,3}:\s{0,3}"([A-Za-z0-9_-]{1,64})"')


def read_frame(text: str) -> ClientFrame:
    """The frame that ``text`` is, or ``Problem``. Names it does not know it skips."""
    try:
        frame = read_object(text, max_bytes=settings.CHAT_MAX_FRAME_BYTES)
    except NotStrict:
        raise Problem("bad_frame", client_id=client_id_in(text)) from None
    kind = frame.get("type")
    if not isinstance(kind, str):
        raise Problem("bad_frame")
    match kind:
        case "message.send":
            return _message(frame)
        case "run.cancel":
            return RunCancel(_id(frame, "run"))
        case "run.retry":
            return RunRetry(_id(frame, "run"))
        case "feedback.send":
            return _feedback(frame)
        case "resume":
            return Resume(_number(frame, "last", lowest=0))
        case "ping":
            return Ping()
        case _:
            return _of_form(kind, frame)


def _of_form(kind: str, frame: Mapping[str, Any]) -> ClientFrame:
    match kind:
        case "card.confirm":
            return _confirmation(frame)
        case "card.withdraw":
            return CardWithdraw(_id(frame, "request"))
        case "verify.start":
            order = _line(frame, "order", ORDER_CHARACTERS)
            return VerifyStart(order, _line(frame, "contact", CONTACT_CHARACTERS))
        case "verify.code":
            return VerifyCode(_line(frame, "code", CODE_CHARACTERS))
        case _:
            raise Problem("unknown_type")


def client_id_in(text: str) -> str | None:
    """Which message a frame that cannot be read was meant to be, if it shows."""
    found = _NAMED_CLIENT.search(text)
    return found[1] if found else None


def _message(frame: Mapping[str, Any]) -> MessageSend:
    client_id, text = frame.get("client_id"), frame.get("text")
    if not isinstance(client_id, str) or not _CLIENT_ID.fullmatch(client_id):
        raise Problem("bad_message")
    if not isinstance(text, str):
        raise Problem("bad_message", client_id=client_id)
    if is_blank(text):
        raise Problem("empty_message", client_id=client_id)
    if len(text) > settings.CHAT_MAX_MESSAGE_CHARACTERS:
        raise Problem("message_too_long", client_id=client_id)
    return MessageSend(client_id, text)


def _id(frame: Mapping[str, Any], name: str) -> UUID:
    try:
        return UUID(str(frame.get(name)))
    except ValueError:
        raise Problem("bad_frame") from None


def _confirmation(frame: Mapping[str, Any]) -> CardConfirm:
    shown, fields = frame.get("hash"), frame.get("fields", {})
    if not isinstance(shown, str) or not isinstance(fields, dict):
        raise Problem("bad_frame")
    if len(fields) > CARD_FIELDS:
        raise Problem("bad_frame")
    read = {name: _filled_in(value) for name, value in fields.items()}
    return CardConfirm(_id(frame, "request"), shown, read)


def _filled_in(value: object) -> Json:
    """A line of text, or what was chosen from a list."""
    if isinstance(value, list) and len(value) <= CARD_CHOICES:
        lines = [one.strip() for one in value if isinstance(one, str)]
        if len(lines) == len(value) and all(map(_is_line, lines)):
            return [*lines]
    if isinstance(value, str) and _is_line(value):
        return value.strip()
    raise Problem("bad_frame")


def _line(frame: Mapping[str, Any], name: str, longest: int) -> str:
    value = frame.get(name)
    line = value.strip() if isinstance(value, str) else ""
    if not line or len(line) > longest or not line.isprintable():
        raise Problem("bad_frame")
    return line


def _is_line(text: str) -> bool:
    return len(text) <= FIELD_CHARACTERS and (not text or text.isprintable())


def _feedback(frame: Mapping[str, Any]) -> FeedbackSend:
    helpful, comment = frame.get("helpful"), frame.get("comment", "")
    if not isinstance(helpful, bool) or not isinstance(comment, str):
        raise Problem("bad_frame")
    if len(comment) > COMMENT_CHARACTERS:
        raise Problem("message_too_long")
    return FeedbackSend(_number(frame, "message", lowest=1), helpful, comment.strip())


def _number(frame: Mapping[str, Any], name: str, *, lowest: int) -> int:
    value = frame.get(name)
    # True is an int to Python and a slip of the pen to everybody else.
    if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
        raise Problem("bad_frame")
    return value


# ---- server -> client: the log


def entry_of(row: Message | Step) -> Frame:
    return message_entry(row) if isinstance(row, Message) else step_entry(row)


def message_entry(message: Message) -> Frame:
    return {
        "type": "message",
        "seq": message.seq,
        "run": message.run_id,
        "at": _time(message.created_at),
        "id": message.pk,
        "speaker": message.speaker,
        "text": message.text,
        "client_id": message.client_id,
        "extras": message.extras,
    }


def step_entry(step: Step) -> Frame:
    """The log entry of a stored event; ``step.body`` is as the codec wrote it."""
    return {
        **_STEPS[step.kind](step.body),
        "seq": step.seq,
        "run": step.run_id,
        "at": _time(step.created_at),
    }


def removed_entry(seq: int) -> Frame:
    """Stands where a row was deleted, so that the log has no gap."""
    return {"type": "removed", "seq": seq, "run": None, "at": None}


def _started(body: Mapping[str, Any]) -> Frame:
    return {
        "type": "run.started",
        "language": body["question"]["language"],
        "model": body["model"],
        "model_kind": model_kind(body["model"]),
        "needs": body["question"]["needs"],
    }


def _joined(body: Mapping[str, Any]) -> Frame:
    return {"type": "run.joined", "needs": body["question"]["needs"]}


def _acted(body: Mapping[str, Any]) -> Frame:
    call = body["call"]
    return {
        "type": "step.action",
        "step": body["step"],
        "call_id": call["id"],
        "tool": call["name"],
        "arguments": call["arguments"],
        "thought": call["thought"],
    }


def _observed(body: Mapping[str, Any]) -> Frame:
    observation = body["observation"]
    return {
        "type": "step.observation",
        "step": body["step"],
        "call_id": observation["call_id"],
        "tool": observation["tool"],
        "status": observation["status"],
        "observation": observation["id"],
        "fields": observation["fields"],
        "observed_at": observation["observed_at"],
        "source": observation["source"],
        "repeated": body["repeated"],
        "duration_ms": observation["duration_ms"],
    }


def _refused(body: Mapping[str, Any]) -> Frame:
    return {
        "type": "step.refused",
        "step": body["step"],
        "code": body["code"],
        "tool": body["tool"],
    }


def _sent_back(body: Mapping[str, Any]) -> Frame:
    coverage = body["coverage"]
    missing = dict.fromkeys(slot["need"] for slot in coverage["unanswered"])
    return {
        "type": "step.sent_back",
        "step": body["step"],
        "missing": list(missing),
        "unproved": len(coverage["unsupported"]),
    }


def _nudged(body: Mapping[str, Any]) -> Frame:
    return {"type": "step.note", "step": body["step"], "code": "nothing_new"}


def _model_failed(body: Mapping[str, Any]) -> Frame:
    return {"type": "step.note", "step": body["step"], "code": "model_failed"}


def _stopped(body: Mapping[str, Any]) -> Frame:
    return {
        "type": "run.stopped",
        "reason": body["reason"],
        "hand_over": body["hand_over"],
        "can_retry": body["can_retry"],
        "steps": body["step"],
        "duration_ms": body.get("duration_ms", 0),
    }


_STEPS = {
    "started": _started,
    "joined": _joined,
    "acted": _acted,
    "observed": _observed,
    "refused": _refused,
    "sent_back": _sent_back,
    "nudged": _nudged,
    "model_failed": _model_failed,
    "stopped": _stopped,
}

# ---- server -> client: the rest


def hello(*, conversation: UUID, last_seq: int, run: Mapping[str, str] | None) -> Frame:
    return {
        "type": "hello",
        "protocol": PROTOCOL,
        "conversation": conversation,
        "last_seq": last_seq,
        "run": run,
        "limits": {
            "message_characters": settings.CHAT_MAX_MESSAGE_CHARACTERS,
            "frame_bytes": settings.CHAT_MAX_FRAME_BYTES,
        },
    }


def caught_up(last_seq: int) -> Frame:
    return {"type": "caught_up", "last_seq": last_seq}


def message_accepted(*, client_id: str, seq: int, run: UUID | None) -> Frame:
    return {
        "type": "message.accepted",
        "client_id": client_id,
        "seq": seq,
        "run": run,
    }


def pong() -> Frame:
    return {"type": "pong"}


def encode(frame: Frame) -> str:
    return orjson.dumps(frame).decode()


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
