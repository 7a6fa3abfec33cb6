"""What a run may still do, looked at after each of its events: budget and lookups."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from django.utils import timezone

from chatbot.assistant.wiring import model_kind
from chatbot.chat import guests, lookups
from chatbot.chat.budget import cost_of, till
from chatbot.chat.ending import tally, usage_of
from chatbot.chat.rebuild import Basis
from chatbot.react import state as known
from chatbot.react.signals import Signals
from chatbot.react.types import (
    Acted,
    Joined,
    LoopEvent,
    Observed,
    RunState,
    Started,
    StopReason,
)
from tools.contracts import Observation, ObservationStatus, ToolCall
from tools.database import in_database

Observer: TypeAlias = Callable[[ToolCall, str], Awaitable[Observation]]


class Guards:
    """Of one run, from its begin in this process to its end or its loss."""

    def __init__(
        self, run_id: UUID, conversation_id: UUID, basis: Basis, signals: Signals
    ) -> None:
        self._run_id = run_id
        self._conversation_id = conversation_id
        self._account_id = basis.account_id
        self._background = basis.state.background
        self._today = basis.spent_today
        self._locked_until: datetime | None = basis.lookups_locked_until
        self._signals = signals
        self._model = ""
        self._counts = False

    async def begin(self, state: RunState, model: str) -> None:
        """Count what the run has cost already, and see whether it may cost more."""
        self._model = model
        if self._background.guest is not None:
            await self._begin_for_guest()
        # The offline model costs nothing.
        self._counts = model_kind(model) != "offline"
        if self._counts:
            before = cost_of(model, tally(state).usage)
            await till().open(
                self._run_id, self._account_id, before=before, today=self._today
            )
            await self._mind_the_budget()

    async def _begin_for_guest(self) -> None:
        """What holds for a visitor and their address, not for an account."""
        standing = await in_database(
            guests.standing_of, self._account_id, now=timezone.now()
        )
        if standing.has_spent_too_much:
            self._signals.stop_with(StopReason.BUDGET_LIMIT)
        self._locked_until = standing.locked_until

    async def observe(
        self, observe: Observer, state: RunState, call: ToolCall, observation_id: str
    ) -> Observation:
        until = self._locked_until
        locked = until is not None and timezone.now() < until
        if locked and lookups.is_guess(call, known.known_numbers(state)):
            return lookups.not_found(call, observation_id)
        return await observe(call, observation_id)

    async def spent(self, event: LoopEvent) -> None:
        """Hear of an event before it is stored: its model call is paid for already.

        So staff are told of a limit even where the process dies with the run's end.
        """
        if not self._counts:
            return
        cost = cost_of(self._model, usage_of(event))
        till().add(self._run_id, self._account_id, cost)
        # A call that was accepted is still made: it costs no tokens.
        if not isinstance(event, Acted):
            await self._mind_the_budget()

    async def saved(self, event: LoopEvent) -> None:
        """Hear of an event that was stored."""
        if self._background.guest is not None and isinstance(event, Started | Joined):
            await in_database(
                guests.note_guesses,
                event.question,
                self._background,
                account_id=self._account_id,
                conversation_id=self._conversation_id,
                now=event.at,
            )
        if isinstance(event, Observed) and not event.repeated:
            await self._note_lookup(event)

    def close(self, *, ended: bool) -> None:
        """Whatever became of the run: this process carries it no more."""
        if self._counts:
            till().close(self._run_id, self._account_id, ended=ended)

    async def _mind_the_budget(self) -> None:
        if till().is_reached(self._run_id, self._account_id):
            self._signals.stop_with(StopReason.BUDGET_LIMIT)
        await till().alert(self._account_id)

    async def _note_lookup(self, observed: Observed) -> None:
        locked = self._locked_until is not None and observed.at < self._locked_until
        if locked or observed.observation.status is not ObservationStatus.NOT_FOUND:
            return
        numbers = lookups.numbers_in(observed.observation.arguments)
        if self._background.guest is not None:
            await in_database(
                guests.note_numbers,
                numbers,
                account_id=self._account_id,
                conversation_id=self._conversation_id,
                now=observed.at,
            )
            return
        until = await in_database(
            lookups.note_failure,
            numbers,
            account_id=self._account_id,
            conversation_id=self._conversation_id,
            now=observed.at,
        )
        self._locked_until = until or self._locked_until
