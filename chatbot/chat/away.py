"""A model that is away: the question waits as a row of its own, and for how long.

The run that met the outage ends honestly, and a new one is queued in the same
transaction. When it is due, the model is asked for one word before anything is shown:
the customer reads one apology and one answer, however often it was looked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

from django.utils import timezone

from chatbot.assistant.wiring import model_answers
from chatbot.chat import switched
from chatbot.chat.leases import Claim
from chatbot.chat.loops import one_per_loop
from chatbot.chat.models import Run
from chatbot.chat.rebuild import Basis, new_run
from chatbot.react import state as known
from chatbot.react.types import HandOverMode, Stopped, StopReason
from chatbot.understanding.needs import Need

WAITS_AT_MOST = timedelta(minutes=15)
# Between two looks: longer the longer it lasts, but an answer within seconds of its
# return is what the waiting is for.
SHORTEST, LONGEST = timedelta(seconds=2), timedelta(seconds=8)
# Seconds for which all waiting runs of a process share one look.
LOOK_IS_FRESH = 1.5


def next_look(since: datetime, *, now: datetime) -> datetime | None:
    """When a run that waits since then is due again; None when it has waited enough."""
    waited = now - since
    if waited >= WAITS_AT_MOST:
        return None
    return now + min(max(waited / 4, SHORTEST), LONGEST)


class Lookout:
    """Asks the model whether it is there, once for all who want to know."""

    def __init__(self) -> None:
        self._looked_at: float | None = None
        self._back = False

    async def is_back(self, model_name: str | None) -> bool:
        now = monotonic()
        if self._looked_at is None or now - self._looked_at > LOOK_IS_FRESH:
            self._looked_at = now
            off = await switched.look().model_is_off()
            self._back = not off and await model_answers(model_name)
        return self._back


lookout = one_per_loop(Lookout)


@dataclass(frozen=True, slots=True)
class Wait:
    """The model is still away: look again then."""

    until: datetime


@dataclass(frozen=True, slots=True)
class GaveUp:
    """It has been away too long, or a person was asked for meanwhile."""


async def look(basis: Basis, model_name: str | None) -> Wait | GaveUp | None:
    """Whether a run that is about to begin has to wait on; None where it may begin."""
    state = basis.state
    if basis.away_since is None or basis.cancelled or state.started_at is not None:
        return None
    if await lookout().is_back(model_name):
        return None
    again = next_look(basis.away_since, now=timezone.now())
    if again is None or Need.HUMAN in known.question_of(state).needs:
        return GaveUp()
    return Wait(again)


def asks_again(stopped: Stopped, *, since: datetime | None) -> bool:
    """Whether a run follows this end by itself."""
    if stopped.reason is not StopReason.MODEL_ERROR:
        return False
    if stopped.hand_over is HandOverMode.MADE:
        return False
    return next_look(since or stopped.at, now=stopped.at) is not None


def queue_until_back(
    claim: Claim, stopped: Stopped, *, since: datetime | None, late: UUID | None
) -> None:
    """Queue the run that asks again; inside the transaction of the end.

    ``late`` is the run made for messages that came too late: then it is that one, for a
    conversation has one unfinished run.
    """
    since = since or stopped.at
    waiting = late or new_run(claim.conversation_id, now=stopped.at).pk
    Run.objects.filter(pk=waiting).update(
        retry_of=claim.run_id,
        away_since=since,
        due_at=next_look(since, now=stopped.at),
    )
