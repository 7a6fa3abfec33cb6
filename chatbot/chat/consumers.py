"""A page's socket: frames in, service calls, frames out. See docs/protocol.md."""

from __future__ import annotations

import logging
from functools import partial
from time import monotonic
from typing import Any, assert_never
from urllib.parse import parse_qs
from uuid import UUID

from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from chatbot.chat import cards, frames, services, verify
from chatbot.chat.gate import Visitor, admit, as_visitor, language_of_request
from chatbot.chat.limits import Patience
from chatbot.chat.line import Line
from chatbot.chat.loops import make_home
from chatbot.chat.problems import RESTART, TOO_MANY, Dismissed, Problem, error_frame
from chatbot.chat.sockets import OpenSocket, sockets
from tools.database import in_database

logger = logging.getLogger(__name__)


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Translates; the log, the limits and the runs live elsewhere."""

    socket: OpenSocket | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # Without a channel of its own: the process has one for all its sockets.
        self.scope, self.base_send = scope, send
        self.patience = Patience()
        self.language = language_of_request(scope["cookies"], scope["headers"])
        try:
            while True:
                await self.dispatch(await receive())
        except StopConsumer:
            pass
        finally:
            if self.socket is not None:
                sockets().leave(self.socket)
                self.socket.line.hang_up()

    async def dispatch(self, message: dict[str, Any]) -> None:
        # Channels would look after a connection here; none is ever held in this thread.
        handlers = {
            "websocket.connect": self.websocket_connect,
            "websocket.receive": self.websocket_receive,
            "websocket.disconnect": self.websocket_disconnect,
        }
        await handlers[message["type"]](message)

    async def websocket_connect(self, message: dict[str, Any]) -> None:
        await self.connect()

    async def websocket_disconnect(self, message: dict[str, Any]) -> None:
        raise StopConsumer

    async def connect(self) -> None:
        """Check everything, then answer the handshake.

        A page that is refused is let in and sent away at once: only so can it read why.
        """
        conversation_id: UUID = self.scope["url_route"]["kwargs"]["conversation"]
        session_key = self.scope["cookies"].get(settings.SESSION_COOKIE_NAME, "")
        try:
            if not await sockets().may_come(self._address):
                raise Dismissed(TOO_MANY)
            admitted = await in_database(
                admit, session_key, conversation_id, address=self._address
            )
        except (Dismissed, DatabaseError) as problem:
            await self.accept()
            await self.close(
                problem.code if isinstance(problem, Dismissed) else RESTART
            )
            return
        await self.accept()
        make_home()
        last = min(_last_of(self.scope["query_string"]), admitted.last_seq)
        line = Line(conversation_id, last=last, send=self.send, close=self.close)
        self.socket = OpenSocket(admitted.visitor, line)
        line.push(
            frames.hello(
                conversation=conversation_id,
                last_seq=admitted.last_seq,
                run=admitted.run,
            )
        )
        line.replay(last)
        sockets().enter(self.socket)

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        socket = self.socket
        if socket is None:
            return
        socket.heard_at = monotonic()
        try:
            await self._take(text_data or "", socket)
        except Dismissed as dismissed:
            socket.line.close(dismissed.code)

    async def _take(self, text: str, socket: OpenSocket) -> None:
        try:
            size = len(text.encode("utf-8", "surrogatepass"))
            self.patience.weigh(size, monotonic(), frames.client_id_in(text))
            await self._handle(frames.read_frame(text), socket.visitor, socket.line)
        except Problem as problem:
            socket.line.push(
                error_frame(
                    problem.code,
                    self.language,
                    client_id=problem.client_id,
                    retry_after=problem.retry_after,
                    request=problem.request,
                    reason=problem.reason,
                )
            )
            self.patience.suffer(problem)

    async def _handle(
        self, frame: frames.ClientFrame, visitor: Visitor, line: Line
    ) -> None:
        """One service call for each frame, by a visitor who is still signed in."""
        here: dict[str, Any] = {
            "conversation_id": line.conversation_id,
            "account_id": visitor.account_id,
            "now": timezone.now(),
        }
        ask = partial(_ask, visitor)
        match frame:
            case frames.MessageSend(client_id=client_id, text=text):
                accepted = await ask(
                    services.accept_from(is_guest=visitor.is_guest),
                    client_id=client_id,
                    text=text,
                    **here,
                )
                line.push(
                    frames.message_accepted(
                        client_id=client_id, seq=accepted.seq, run=accepted.run_id
                    )
                )
            case frames.RunCancel(run=run_id):
                await ask(services.cancel_run, run_id, **here)
            case frames.RunRetry(run=run_id):
                await ask(services.retry_run, run_id, **here)
            case frames.FeedbackSend(message=message, helpful=helpful, comment=comment):
                await ask(
                    services.rate_answer,
                    message,
                    helpful=helpful,
                    comment=comment,
                    **here,
                )
            case frames.CardConfirm(request=request, hash=shown, fields=fields):
                await cards.confirm_card(
                    ask, request, arguments_hash=shown, fields=fields, **here
                )
            case frames.CardWithdraw(request=request):
                await ask(cards.withdraw_card, request, **here)
            case frames.VerifyStart() | frames.VerifyCode():
                await ask(verify.take, frame, **here)
            case frames.Resume(last=last):
                await ask(_nothing)
                line.replay(last)
            case frames.Ping():
                await ask(_nothing)
                line.push(frames.pong())
            case _:
                assert_never(frame)

    @property
    def _address(self) -> str:
        return str((self.scope.get("client") or ("unknown",))[0])


async def _ask(visitor: Visitor, service: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return await in_database(as_visitor, visitor, service, *args, **kwargs)
    except DatabaseError:
        logger.warning("a request could not be stored", exc_info=True)
        client_id = kwargs.get("client_id")
        raise Problem("unavailable", client_id=client_id, retry_after=5) from None


def _nothing() -> None:
    """What a frame asks for that only has to come from somebody who is signed in."""


def _last_of(query: bytes) -> int:
    """The ``last`` of the address: 0 for a page that has nothing yet, or nonsense."""
    asked = parse_qs(query.decode("latin-1")).get("last", ["0"])[0]
    return int(asked) if asked.isdecimal() and len(asked) <= 15 else 0
