"""Writes what runs do, many runs in one transaction, each row under its run's fence.

While one transaction commits, the rows of other runs gather for the next: a process
pays for a commit as often as its disk allows, not once a step.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.db.models import F

from chatbot.chat.leases import Claim
from chatbot.chat.loops import one_per_loop
from chatbot.chat.models import Conversation, Message, Run, RunPhase, Step
from tools.database import in_database
from tools.prepared import (
    Place,
    Query,
    Select,
    Update,
    inserting,
    numbered,
    places,
    together,
    updating,
)

MAX_IN_ONE_TRANSACTION = 200


class LeaseLost(Exception):
    """Somebody else has claimed the run, or it is gone: nothing was written."""


@dataclass(slots=True)
class Entries:
    """Rows to append to a run's conversation, in order; they get their ``seq`` here.

    ``changes`` are columns of the run. ``finish`` is called inside the same
    transaction, under the conversation's row lock, after the rows are written.
    """

    claim: Claim
    rows: Sequence[Message | Step]
    at: datetime
    changes: dict[str, Any] = field(default_factory=dict)
    finish: Callable[[Written], None] | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What stood in the conversation before, seen under its lock.

    ``before`` is the ``last_seq`` that the rows came after: more than the writer knew
    of means that somebody else has written.
    """

    before: int
    cancelled_at: datetime | None


class Journal:
    """The writer of one process."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Entries, asyncio.Future[Written]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, entries: Entries) -> Written:
        """Commit these rows; ``LeaseLost`` if the run is not ours any more.

        A ``DatabaseError`` may leave open whether they were committed. The claim must
        be given up then: whoever takes the run next reads what is there.
        """
        result: asyncio.Future[Written] = asyncio.get_running_loop().create_future()
        self._waiting.append((entries, result))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        # A writer that is cancelled must not take the others' rows with it.
        return await asyncio.shield(result)

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                batch = self._waiting[:MAX_IN_ONE_TRANSACTION]
                del self._waiting[: len(batch)]
                outcomes = await self._outcomes([entries for entries, _ in batch])
                for (_, result), outcome in zip(batch, outcomes, strict=True):
                    _settle(result, outcome)
        finally:
            self._writing = None

    async def _outcomes(self, batch: list[Entries]) -> Sequence[Written | Exception]:
        try:
            return await in_database(write_together, batch)
        except Exception as error:  # noqa: BLE001 - it belongs to the writers, who wait
            return [error] * len(batch)


def _settle(result: asyncio.Future[Written], outcome: Written | Exception) -> None:
    if result.done():
        return
    if isinstance(outcome, Exception):
        result.set_exception(outcome)
        # The writer may be gone; asyncio would complain that nobody looked.
        result.exception()
    else:
        result.set_result(outcome)


journal = one_per_loop(Journal)


def write_together(batch: Sequence[Entries]) -> Sequence[Written | Exception]:
    """One transaction for all; where that fails cleanly, one for each."""
    try:
        return _write(batch)
    except Exception as error:
        # One bad row must not cost the others theirs. But a lost connection leaves open
        # whether the commit came through, and writing again could write twice.
        lost = isinstance(error, DatabaseError) and not connection.is_usable()
        if len(batch) == 1 or lost:
            raise
    return [_alone(entries) for entries in batch]


def _alone(entries: Entries) -> Written | Exception:
    try:
        return _write([entries])[0]
    except Exception as error:  # noqa: BLE001 - its writer gets it, the others go on
        return error


def _write(batch: Sequence[Entries]) -> Sequence[Written | Exception]:
    with transaction.atomic():
        standing = _lock([entries.claim for entries in batch])
        outcomes: list[Written | Exception] = []
        held: list[tuple[Entries, Written]] = []
        for entries in batch:
            found = standing.get(entries.claim.run_id)
            if found is None or found.fence != entries.claim.fence:
                outcomes.append(LeaseLost(entries.claim.run_id))
                continue
            written = Written(found.last_seq, found.cancelled_at)
            outcomes.append(written)
            held.append((entries, written))
            for row in entries.rows:
                found.last_seq += 1
                row.seq = found.last_seq
        together(_appending([entries for entries, _ in held]))
        for entries, written in held:
            if entries.finish is not None:
                entries.finish(written)
    return outcomes


@dataclass(slots=True)
class _Standing:
    fence: int
    last_seq: int
    cancelled_at: datetime | None


def _lock(claims: Sequence[Claim]) -> dict[UUID, _Standing]:
    """The running ones of these runs, locked together with their conversations.

    Always in the same order, a conversation before its run as everywhere, so that no
    two processes ever wait for each other; and not against foreign keys, so that a new
    message may point at a run meanwhile.
    """
    wanted = places([claim.run_id for claim in claims])
    rows = _locked(len(wanted)).rows(**wanted)
    return {
        pk: _Standing(fence, last_seq, cancelled_at)
        for pk, fence, last_seq, cancelled_at in rows
    }


@cache
def _locked(size: int) -> Select:
    return Select(
        lambda: (
            Conversation.objects.select_for_update(no_key=True)
            .filter(runs__pk__in=numbered(size), runs__phase=RunPhase.RUNNING)
            .order_by("pk")
            .values_list(
                "runs__pk", "runs__fence", "last_seq", "runs__cancel_requested_at"
            )
        )
    )


@cache
def _grown(size: int) -> Update:
    return Update(
        lambda: Conversation.objects.filter(pk__in=numbered(size)),
        last_seq=F("last_seq") + Place("count"),
    )


def _appending(held: Sequence[Entries]) -> list[Query[Any]]:
    rows = [row for entries in held for row in entries.rows]
    messages = [row for row in rows if isinstance(row, Message)]
    queries: list[Query[Any]] = inserting(messages)
    queries += inserting([row for row in rows if isinstance(row, Step)], keys=False)
    grown: Counter[UUID] = Counter()
    for entries in held:
        grown[entries.claim.conversation_id] += len(entries.rows)
    for count in set(grown.values()):
        conversations = places([pk for pk, rows in grown.items() if rows == count])
        queries.append(_grown(len(conversations)).asked(count=count, **conversations))
    for message in messages:
        changes = {"updated_at": message.created_at}
        queries.append(updating(Conversation, message.conversation_id, changes))
    for entries in held:
        if entries.changes:
            queries.append(updating(Run, entries.claim.run_id, entries.changes))
    return queries
