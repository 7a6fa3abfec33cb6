"""The open sockets of a process, and the look that is taken at them all together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from time import monotonic, time
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError

from chatbot.chat.gate import Visitor, note_seen, still_signed_in
from chatbot.chat.limits import Comings
from chatbot.chat.line import Line
from chatbot.chat.loops import one_per_loop
from chatbot.chat.models import Conversation
from chatbot.chat.problems import (
    IDLE,
    NOT_ALLOWED,
    NOT_SIGNED_IN,
    SUPERSEDED,
    CloseCode,
)
from chatbot.chat.shared import LOOKS_TO_LIVE, Place, address_key, shared
from chatbot.chat.stream import stream
from tools.database import in_database

logger = logging.getLogger(__name__)


class OpenSocket:
    """A socket that was let in; ``heard_at`` is when its page last said something.

    ``beyond`` counts the looks at which it was one too many among all processes.
    """

    __slots__ = ("beyond", "heard_at", "line", "name", "opened_at", "visitor")

    def __init__(self, visitor: Visitor, line: Line) -> None:
        self.visitor = visitor
        self.line = line
        self.opened_at = self.heard_at = monotonic()
        # In the order of their opening, among those of other processes too.
        self.name = f"{time() * 1000:015.0f}:{uuid4().hex[:8]}"
        self.beyond = 0

    @property
    def most(self) -> int:
        """How many sockets this person may have."""
        guest = self.visitor.is_guest
        return settings.GUEST_MAX_SOCKETS if guest else settings.CHAT_MAX_SOCKETS

    @property
    def place(self) -> Place:
        return Place(self.visitor.account_id, self.name, self.most)


class Sockets:
    """Looks every few seconds, for all sockets at once, whether their logs have grown,
    who has logged out and who has fallen asleep: no socket costs a timer or a query.
    """

    def __init__(self) -> None:
        self.comings = Comings(most=settings.CHAT_NEW_SOCKETS_PER_MINUTE, seconds=60)
        self._open: dict[OpenSocket, None] = {}
        self._by_account: dict[int, list[OpenSocket]] = {}
        self._left: list[Place] = []
        self._looking: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._open)

    async def may_come(self, address: str) -> bool:
        """Count a coming from this address; False for one too many, here or in all."""
        if not self.comings.came(address_key(address), monotonic()):
            return False
        return await shared().may_come(
            address, most=self.comings.most, seconds=self.comings.seconds
        )

    def enter(self, socket: OpenSocket) -> None:
        """Take a socket in; where the customer has too many, their oldest one goes."""
        own = self._by_account.setdefault(socket.visitor.account_id, [])
        if len(own) >= socket.most:
            own[0].line.close(SUPERSEDED)
            self.leave(own[0])
        self._by_account.setdefault(socket.visitor.account_id, []).append(socket)
        self._open[socket] = None
        stream().join(socket.line.conversation_id, socket.line)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_on(), name="sockets")

    def leave(self, socket: OpenSocket) -> None:
        if socket not in self._open:
            return
        del self._open[socket]
        self._left.append(socket.place)
        stream().leave(socket.line.conversation_id, socket.line)
        own = self._by_account[socket.visitor.account_id]
        own.remove(socket)
        if not own:
            del self._by_account[socket.visitor.account_id]

    def close_all(self, code: CloseCode) -> None:
        for socket in list(self._open):
            socket.line.close(code)

    async def _look_on(self) -> None:
        while self._open:
            await asyncio.sleep(settings.CHAT_POLL_SECONDS)
            try:
                await self.look()
            except DatabaseError:
                logger.warning("the sockets wait for the database", exc_info=True)

    async def look(self) -> None:
        """One look at every open socket."""
        sockets = list(self._open)
        self._close_sleepers(sockets)
        visitors = {socket.visitor for socket in sockets}
        welcome = await in_database(still_signed_in, visitors)
        await in_database(note_seen, {one.account_id for one in welcome})
        conversations = {socket.line.conversation_id for socket in sockets}
        grown = await in_database(_last_seqs, conversations)
        for socket in sockets:
            last_seq = grown.get(socket.line.conversation_id)
            if socket.visitor not in welcome:
                socket.line.close(NOT_SIGNED_IN)
            elif last_seq is None:
                socket.line.close(NOT_ALLOWED)
            else:
                socket.line.grew_to(last_seq)
        await self._look_at_all_processes(sockets)

    async def _look_at_all_processes(self, sockets: Collection[OpenSocket]) -> None:
        """Close those of a person who has opened newer ones in other processes.

        Not at the first look: others may still have to say that theirs were closed, or
        have died with them.
        """
        left, self._left = self._left, []
        await shared().gone(left)
        beyond = await shared().beyond([socket.place for socket in sockets])
        for socket in sockets:
            socket.beyond = socket.beyond + 1 if socket.name in beyond else 0
            if socket.beyond > LOOKS_TO_LIVE:
                socket.line.close(SUPERSEDED)

    def _close_sleepers(self, sockets: Collection[OpenSocket]) -> None:
        now = monotonic()
        for socket in sockets:
            silent = now - socket.heard_at >= settings.CHAT_IDLE_SECONDS
            if silent or now - socket.opened_at >= settings.CHAT_ABSOLUTE_SECONDS:
                socket.line.close(IDLE)


sockets = one_per_loop(Sockets)


def _last_seqs(conversation_ids: Collection[UUID]) -> dict[UUID, int]:
    rows = Conversation.objects.filter(pk__in=conversation_ids)
    return dict(rows.values_list("pk", "last_seq"))
