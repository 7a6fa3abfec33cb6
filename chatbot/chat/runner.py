"""Executes one run: claim, rebuild, loop; each event is saved, then shown.

Where it is executed does not matter: beside the sockets, in a worker, in a terminal. A
run whose process dies goes on elsewhere after its last saved step.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeAlias, cast
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.utils import timezone

from chatbot.assistant.wiring import RunParts, build_run
from chatbot.chat import away, cards, ending
from chatbot.chat.guards import Guards
from chatbot.chat.journal import Entries, LeaseLost, Written, journal
from chatbot.chat.leases import (
    MAX_CRASHES,
    Claim,
    News,
    claim_run,
    crashes_here,
    put_back,
)
from chatbot.chat.models import Message, Speaker, Step
from chatbot.chat.rebuild import (
    Basis,
    Said,
    new_run,
    rebuild_run,
    unread_messages,
)
from chatbot.chat.stored import numbers_in, step_row
from chatbot.chat.stream import stream
from chatbot.chat.switched import Switched
from chatbot.react.endings import broken, model_away
from chatbot.react.loop import run_react
from chatbot.react.signals import Signals
from chatbot.react.types import (
    Background,
    Joined,
    LoopEvent,
    RunState,
    Started,
    Stopped,
    StopReason,
)
from tools.contracts import Actor, Role, ToolCall
from tools.database import in_database

logger = logging.getLogger(__name__)

Builder: TypeAlias = Callable[..., RunParts]

# Whether a commit came through is not known then: the database has to say.
DATABASE_AWAY = (OperationalError, InterfaceError)


async def execute_run(
    run_id: UUID,
    *,
    owner: str,
    model_name: str | None = None,
    taken: Callable[[Execution], None] = lambda execution: None,
    build: Builder | None = None,
) -> UUID | None:
    """Work a run out to its end, if nobody else does; ``taken`` hears once it is ours.

    ``build`` stands in for ``build_run``: an evaluation wraps its parts with faults.

    Gives the id of a run that has to follow, for messages that came too late for this
    one. Where the database is away, or the task is cancelled, the run stays as it was
    last saved and is taken up again when its lease ends or is given back.
    """
    start = await in_database(_take, run_id, owner=owner, now=timezone.now())
    if start is None:
        return None
    execution = Execution(start.claim, model_name, build)
    taken(execution)
    try:
        await execution.play(start)
    except LeaseLost:
        logger.info("run %s is somebody else's now", run_id)
    except DATABASE_AWAY as error:
        logger.warning("run %s waits for the database: %s", run_id, error)
    except Exception as error:
        logger.exception("run %s failed", run_id)
        await execution.give_up(f"{type(error).__name__}: {error}")
    finally:
        execution.let_go()
    return execution.next_run


@dataclass(frozen=True, slots=True)
class _Start:
    """A claimed run and what it starts from, or why that cannot be read."""

    claim: Claim
    basis: Basis | None
    problem: Exception | None = None


def _take(run_id: UUID, *, owner: str, now: datetime) -> _Start | None:
    claim = claim_run(run_id, owner=owner, now=now)
    if claim is None:
        return None
    try:
        return _Start(claim, rebuild_run(run_id))
    except Exception as problem:  # noqa: BLE001 - the claimed run has to be ended by it
        return _Start(claim, None, problem)


class Execution:
    """A run in the hands of this process."""

    def __init__(
        self,
        claim: Claim,
        model_name: str | None = None,
        build: Builder | None = None,
    ) -> None:
        self.claim = claim
        self.signals = Signals()
        self.next_run: UUID | None = None
        self._model_name = model_name
        self._build = build
        self._begun = False
        self._state = RunState(Background())
        self._last_seq = 0  # how far we know the conversation's log
        self._read_seq = 0  # the last message that the loop has taken in
        self._offered: deque[int] = deque()  # seqs of the messages that it has not
        self._keep: set[str] = set()  # numbers that redaction may spare
        self._actor = Actor(Role.GUEST)
        self._guards: Guards | None = None
        self._model = ""
        self._away_since: datetime | None = None
        self._ended = False

    async def play(self, start: _Start) -> None:
        """Run the loop to its end; raises what only the caller can settle."""
        if start.problem is not None:
            raise start.problem
        basis = start.basis
        if basis is None:
            return
        self._begin(basis)
        if self.claim.crashes and await self._is_poison(basis):
            await self.give_up("the processes that tried this run died")
            return
        match await away.look(basis, self._model_name):
            case away.Wait(until=until):
                await in_database(put_back, self.claim, until=until)
                return
            case away.GaveUp():
                self.signals.stop_with(StopReason.MODEL_ERROR)
            case None:
                pass
        parts = (self._build or build_run)(
            actor=basis.actor,
            background=basis.state.background,
            model_name=self._model_name,
        )
        self._model = parts.model.name
        guards = self._guards = Guards(
            self.claim.run_id, self.claim.conversation_id, basis, self.signals
        )
        await guards.begin(basis.state, parts.model.name)
        events = run_react(
            basis.state,
            model=Switched(parts.model),
            tools=parts.tools,
            observe=partial(guards.observe, parts.observe, basis.state),
            limits=parts.limits,
            proofs=parts.proofs,
            signals=self.signals,
            now=timezone.now,
            secrets=parts.secrets,
        )
        async with aclosing(events):  # type: ignore[type-var]
            async for event in events:
                await self._save(event)

    async def _is_poison(self, basis: Basis) -> bool:
        events = len(basis.state.events)
        deaths = await in_database(crashes_here, self.claim, events=events)
        return deaths >= MAX_CRASHES

    def let_go(self) -> None:
        """Whatever became of the run: this process carries it no more."""
        if self._guards is not None:
            self._guards.close(ended=self._ended)

    async def heed(self, news: News) -> None:
        """Take in what others have written about this run."""
        if news.cancelled:
            self.signals.stop_with(StopReason.CANCELLED)
        if news.last_seq > self._last_seq:
            await self.take_in()

    async def take_in(self) -> None:
        """Give the loop what the customer has said since."""
        if not self._begun:
            return  # what is there now will be read, what comes after will be heard
        after = self._offered[-1] if self._offered else self._read_seq
        messages = await in_database(unread_messages, self.claim.run_id, after=after)
        # Two calls may have read the same rows: each message is offered once.
        after = self._offered[-1] if self._offered else self._read_seq
        self._offer([message for message in messages if message.seq > after])

    async def give_up(self, problem: str) -> None:
        """End the run as ``internal_error``, honestly, whatever state it is in."""
        stopped = broken(self._state, problem[:400], at=timezone.now())
        try:
            await self._save(stopped)
        except LeaseLost:
            logger.info("run %s is somebody else's now", self.claim.run_id)
        except DATABASE_AWAY as error:
            # It stays claimed until its lease ends; whoever takes it then tries again.
            logger.warning("run %s could not be ended: %s", self.claim.run_id, error)

    def _begin(self, basis: Basis) -> None:
        self._begun = True
        self._actor = basis.actor
        self._away_since = basis.away_since
        self._state = basis.state
        self._read_seq = basis.read_seq
        self._last_seq = basis.last_seq
        for event in basis.state.events:
            self._keep |= numbers_in(event)
        self._offer(basis.unread)
        if basis.cancelled:
            self.signals.stop_with(StopReason.CANCELLED)

    def _offer(self, messages: list[Said]) -> None:
        for message in messages:
            self._offered.append(message.seq)
            self.signals.messages.append(message.text)

    async def _save(self, event: LoopEvent) -> None:
        if isinstance(event, Stopped) and event.reason is StopReason.MODEL_ERROR:
            again = away.asks_again(event, since=self._away_since)
            event = model_away(event, self._state, asks_again=again)
        entries = self._entries(event)
        if isinstance(event, Stopped) and event.request is not None:
            # The shop is asked before the transaction that writes the end.
            entries.finish = partial(
                self._finish, event, card=await self._card(event.request, entries)
            )
        if self._guards is not None:
            await self._guards.spent(event)
        written = await journal().write(entries)
        heard_all = written.before <= self._last_seq
        self._last_seq = written.before + len(entries.rows)
        stream().publish(self.claim.conversation_id, entries.rows)
        if self._guards is not None:
            await self._guards.saved(event)
        if isinstance(event, Stopped):
            self._ended = True
            return
        if written.cancelled_at is not None:
            self.signals.stop_with(StopReason.CANCELLED)
        if not heard_all:
            await self.take_in()

    def _entries(self, event: LoopEvent) -> Entries:
        self._keep |= numbers_in(event)
        step = step_row(self.claim, event, keep=self._keep)
        entries = Entries(self.claim, [step], at=event.at)
        match event:
            case Started():
                entries.changes = ending.start_columns(event)
                entries.changes["read_seq"] = self._read_seq
            case Joined():
                # The loop has emptied its signals just before it said so.
                while len(self._offered) > len(self.signals.messages):
                    self._read_seq = self._offered.popleft()
                entries.changes = ending.question_columns(event.question)
                entries.changes["read_seq"] = self._read_seq
            case Stopped():
                self._end(entries, step, event)
            case _:
                pass
        return entries

    def _end(self, entries: Entries, step: Step, stopped: Stopped) -> None:
        answer = ending.answer_row(self.claim, stopped, self._state)
        entries.rows = [answer, step]
        duration = _duration(self._state.started_at, stopped.at)
        step.body["duration_ms"] = duration
        entries.changes = ending.end_columns(self._state, stopped, model=self._model)
        entries.changes["duration_ms"] = duration
        entries.finish = partial(self._finish, stopped)

    async def _card(self, call: ToolCall, entries: Entries) -> Callable[[], None]:
        """What makes the request that the run stopped for, in the end's transaction."""
        found = await cards.work_out(
            call, actor=self._actor, conversation_id=self.claim.conversation_id
        )
        answer, step = entries.rows
        return partial(
            cards.attach_card,
            self.claim,
            call,
            found,
            actor=self._actor,
            answer=cast("Message", answer),
            step=cast("Step", step),
            now=entries.at,
        )

    def _finish(
        self,
        stopped: Stopped,
        written: Written,
        *,
        card: Callable[[], None] | None = None,
    ) -> None:
        """The rest of the end's transaction, under the conversation's row lock."""
        if card is not None:
            card()
        hand_over = ending.hand_over_row(self.claim, stopped, self._state)
        if hand_over is not None:
            hand_over.save(force_insert=True)
        if self._offered or written.before > self._last_seq:
            self.next_run = self._follow_up(stopped, written)
        if away.asks_again(stopped, since=self._away_since):
            away.queue_until_back(
                self.claim, stopped, since=self._away_since, late=self.next_run
            )
            self.next_run = None

    def _follow_up(self, stopped: Stopped, written: Written) -> UUID | None:
        """A run for the messages that joined this one too late to be answered."""
        late = Message.objects.filter(
            run_id=self.claim.run_id, speaker=Speaker.CUSTOMER, seq__gt=self._read_seq
        )
        if written.cancelled_at is not None:
            # "Stop" means everything that was asked until then.
            late = late.filter(created_at__gt=written.cancelled_at)
        if not late.exists():
            return None
        following = new_run(self.claim.conversation_id, now=stopped.at)
        late.update(run=following)
        return following.pk


def _duration(started_at: datetime | None, stopped_at: datetime) -> int:
    if started_at is None:
        return 0
    return round((stopped_at - started_at).total_seconds() * 1000)
