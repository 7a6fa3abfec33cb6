"""What can be wrong with a request over the socket, and how it is said."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from chatbot.react.change_words import reason_words
from chatbot.understanding.needs import Language

CloseCode = Literal[1012, 4400, 4401, 4403, 4408, 4409, 4413, 4429]

RESTART: CloseCode = 1012
BAD_FRAMES: CloseCode = 4400
NOT_SIGNED_IN: CloseCode = 4401
NOT_ALLOWED: CloseCode = 4403
IDLE: CloseCode = 4408
SUPERSEDED: CloseCode = 4409
FAR_TOO_LARGE: CloseCode = 4413
TOO_MANY: CloseCode = 4429

ERROR_TEXTS: dict[str, dict[Language, str]] = {
    "bad_frame": {
        "zh": "这条请求的格式不正确，没有处理。",
        "en": "That request was not well formed and was not handled.",
    },
    "too_large": {
        "zh": "这条请求太大，没有处理。",
        "en": "That request was too large and was not handled.",
    },
    "too_many": {
        "zh": "发送得太快了，请稍候再试。",
        "en": "That was too many at once. Please wait a moment.",
    },
    "unknown_type": {
        "zh": "不认识这种请求，请刷新页面后再试。",
        "en": "That kind of request is not known. Please reload the page.",
    },
    "bad_message": {
        "zh": "这条消息的格式不正确，没有发送。",
        "en": "That message was not well formed and was not sent.",
    },
    "message_too_long": {
        "zh": "内容太长，请缩短后再发送。",
        "en": "That is too long. Please shorten it and send it again.",
    },
    "empty_message": {
        "zh": "消息是空的，没有发送。",
        "en": "That message is empty and was not sent.",
    },
    "queue_full": {
        "zh": "前面的消息还在处理，请等一下再发。",
        "en": "Your earlier messages are still being worked on. Please wait a moment.",
    },
    "nothing_to_cancel": {
        "zh": "现在没有可以停止的查询。",
        "en": "There is nothing to stop.",
    },
    "nothing_to_retry": {
        "zh": "这次查询不能重试。",
        "en": "That cannot be tried again.",
    },
    "no_such_card": {
        "zh": "没有找到这张卡片。",
        "en": "There is no such card.",
    },
    "card_incomplete": {
        "zh": "请先把卡片填写完整。",
        "en": "Please fill in the card first.",
    },
    "card_changed": {
        "zh": "内容在显示之后有了变化，没有办理。请重新提出。",
        "en": "The details have changed since they were shown; nothing was done. "
        "Please ask again.",
    },
    "card_refused": {
        "zh": "没有办理：{why}。",
        "en": "This was not done: {why}.",
    },
    "card_no_reply": {
        "zh": "店铺系统暂时没有回复，没有办理，请稍候再确认一次。",
        "en": "The shop's system did not reply; nothing was done. Please try again.",
    },
    "code_refused": {
        "zh": "验证码不正确或已失效，请核对后再试，或重新获取。",
        "en": "That code is not right, or no longer valid. Check it, or get a new one.",
    },
    "no_guest": {
        "zh": "您已登录，不需要验证订单。",
        "en": "You are logged in: there is no order to confirm.",
    },
    "unavailable": {
        "zh": "现在无法保存，请稍候再试。您的内容还没有发送。",
        "en": "Nothing can be saved right now. It was not sent; please try again.",
    },
}


class Problem(Exception):
    """A request that is refused; ``retry_after`` is in seconds.

    ``request`` names the card that it is about, ``reason`` the code of the rule.
    """

    def __init__(
        self,
        code: str,
        *,
        client_id: str | None = None,
        retry_after: float | None = None,
        request: UUID | None = None,
        reason: str = "",
    ) -> None:
        super().__init__(code)
        self.code = code
        self.request = request
        self.reason = reason
        self.client_id = client_id
        self.retry_after = retry_after


class Dismissed(Exception):
    """The socket is closed with this ``code``."""

    def __init__(self, code: CloseCode) -> None:
        super().__init__(code)
        self.code = code


class NotSignedIn(Dismissed):
    """There is no session, or it is over."""

    def __init__(self) -> None:
        super().__init__(NOT_SIGNED_IN)


class Forbidden(Dismissed):
    """The conversation is not this person's, or there is none of this id."""

    def __init__(self) -> None:
        super().__init__(NOT_ALLOWED)


def error_frame(
    code: str,
    language: Language,
    *,
    client_id: str | None = None,
    retry_after: float | None = None,
    request: UUID | None = None,
    reason: str = "",
) -> dict[str, Any]:
    why = reason_words(reason, language)
    frame: dict[str, Any] = {
        "type": "error",
        "code": code,
        "text": ERROR_TEXTS[code][language].format(why=why),
    }
    if request is not None:
        frame["request"] = str(request)
    if client_id is not None:
        frame["client_id"] = client_id
    if retry_after is not None:
        frame["retry_after"] = max(1, round(retry_after))
    return frame
