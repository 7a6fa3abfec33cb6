"""Who may work on a run: one conditional UPDATE decides, a fence marks the winner."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from chatbot.chat.models import Run, RunPhase
from tools.prepared import Place, UpdateReturning

# A run that took this many processes with it at one and the same step is not tried
# again; one that gets on between deaths merely stood beside them.
MAX_CRASHES = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """A run that is ours until its lease ends or somebody raises the fence."""

    run_id: UUID
    conversation_id: UUID
    fence: int
    crashes: int


@dataclass(frozen=True, slots=True)
class News:
    """What happened to a run that this process works on, seen from the database."""

    held: bool
    cancelled: bool
    last_seq: int


def lease() -> timedelta:
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)


def _free(now: datetime) -> Q:
    return Q(phase=RunPhase.QUEUED) | Q(phase=RunPhase.RUNNING, lease_until__lt=now)


def claim_run(run_id: UUID, *, owner: str, now: datetime) -> Claim | None:
    """Take a run that nobody works on; None if somebody does, or it has stopped."""
    until = now + lease()
    found = _take_queued.first(run=run_id, owner=owner, until=until)
    if found is None:
        found = _take_orphan.first(run=run_id, owner=owner, until=until, now=now)
    return Claim(run_id, *found) if found else None


_OURS = {
    "phase": RunPhase.RUNNING,
    "fence": F("fence") + 1,
    "lease_owner": Place("owner"),
    "lease_until": Place("until"),
}
_CLAIM = ("conversation_id", "fence", "crashes")
_take_queued = UpdateReturning(
    lambda: Run.objects.filter(pk=Place("run"), phase=RunPhase.QUEUED), _CLAIM, **_OURS
)
# Only a lease that ran out speaks of a death; one given back does not.
_take_orphan = UpdateReturning(
    lambda: Run.objects.filter(
        pk=Place("run"), phase=RunPhase.RUNNING, lease_until__lt=Place("now")
    ),
    _CLAIM,
    **_OURS,
    crashes=F("crashes") + 1,
)


def due_runs(*, now: datetime, limit: int) -> Sequence[UUID]:
    """Runs that wait for somebody, and runs whose owner died; the oldest first."""
    free = Run.objects.filter(_free(now), due_at__lte=now)
    runs = free.order_by("due_at").values_list("pk", flat=True)
    return list(runs[:limit])


def postpone(run_id: UUID, *, now: datetime, until: datetime) -> bool:
    """Note that a free run was offered: it is not due again before ``until``."""
    free = Run.objects.filter(_free(now), pk=run_id, due_at__lt=until)
    return free.update(due_at=until) == 1


def renew_leases(claims: Collection[Claim], *, owner: str, now: datetime) -> None:
    """Say that this process is alive and still works on these."""
    _update_own(claims, owner, lease_until=now + lease())


def give_back(claims: Collection[Claim], *, owner: str, now: datetime) -> int:
    """Let go of runs so that others take them at once; how many they were."""
    return _update_own(
        claims,
        owner,
        phase=RunPhase.QUEUED,
        lease_until=None,
        lease_owner="",
        due_at=now,
    )


@transaction.atomic
def _update_own(claims: Collection[Claim], owner: str, **columns: object) -> int:
    """Set columns of those that this process still holds; how many they were."""
    ours = Run.objects.filter(
        pk__in=[claim.run_id for claim in claims],
        phase=RunPhase.RUNNING,
        lease_owner=owner,
    )
    # An UPDATE locks its rows in any order, the journal in that of the conversations.
    locked = ours.select_for_update(no_key=True).order_by("conversation_id")
    held = list(locked.values_list("pk", flat=True))
    return Run.objects.filter(pk__in=held).update(**columns) if held else 0


def crashes_here(claim: Claim, *, events: int) -> int:
    """How many processes have died at this step, now that ``events`` are stored."""
    ours = Run.objects.filter(pk=claim.run_id, fence=claim.fence)
    got_on = ours.filter(crash_events__lt=events)
    moved = got_on.update(crashes=1, crash_events=events)
    return 1 if moved else claim.crashes


def put_back(claim: Claim, *, until: datetime) -> bool:
    """Let a claimed run wait until then; False if it is not ours any more."""
    ours = Run.objects.filter(
        pk=claim.run_id, phase=RunPhase.RUNNING, fence=claim.fence
    )
    queued = {"phase": RunPhase.QUEUED, "lease_until": None, "lease_owner": ""}
    return ours.update(**queued, due_at=until) == 1


def news_of(claims: Collection[Claim]) -> dict[UUID, News]:
    """For each of these runs: is it still ours, and what came in from outside."""
    fences = {claim.run_id: claim.fence for claim in claims}
    rows = Run.objects.filter(pk__in=fences).values_list(
        "pk", "fence", "phase", "cancel_requested_at", "conversation__last_seq"
    )
    found = {
        pk: News(
            # A run that has just stopped under our fence was stopped by us.
            held=fence == fences[pk] and phase != RunPhase.QUEUED,
            cancelled=cancelled_at is not None,
            last_seq=last_seq,
        )
        for pk, fence, phase, cancelled_at, last_seq in rows
    }
    gone = News(held=False, cancelled=False, last_seq=0)
    return {run_id: found.get(run_id, gone) for run_id in fences}
