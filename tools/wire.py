"""Prepared statements straight over libpq, several in one exchange with PostgreSQL.

The driver's connection keeps the transaction, the adaptation of values and the errors;
its cursor is left out, and so is the wait for one answer before the next question.
docs/performance.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import (
    ConnStatus,
    DiagnosticField,
    ExecStatus,
    Format,
    TransactionStatus,
)
from psycopg.pq.abc import PGconn, PGresult
from psycopg.waiting import Wait

# A text with a ``%s`` for each of the values.
Statement: TypeAlias = tuple[str, Sequence[Any]]
Connection: TypeAlias = psycopg.Connection[Any]


@dataclass(frozen=True, slots=True)
class Result:
    rows: Sequence[tuple[Any, ...]]
    rowcount: int


def exchange(connection: Connection, statements: Sequence[Statement]) -> list[Result]:
    """Execute these one after the other, asked together and answered together.

    The transaction that the driver would begin is begun. Of statements that fail the
    first is raised, as the driver raises it; those after it are not executed, and
    outside of a transaction those before it are undone.
    """
    memory = _memories.get(connection)
    if memory is None:
        memory = _memories[connection] = _Memory(connection)
    calls = [memory.call(text, values) for text, values in statements]
    pgconn = connection.pgconn
    begins = (
        not connection.autocommit
        and pgconn.transaction_status == TransactionStatus.IDLE
    )
    try:
        if len(calls) == 1 and calls[0].known and not begins:
            [call] = calls
            # In C, and without the interpreter's lock until the answer is there.
            one = pgconn.exec_prepared(call.name, call.values, call.formats)
            answers = [_sound(pgconn, one)]
        else:
            answers = connection.wait(_asked_together(pgconn, calls, begins=begins))
    except BaseException:
        memory.forget(calls)
        raise
    return [memory.read(answer) for answer in answers]


@dataclass(frozen=True, slots=True)
class _Call:
    text: str
    types: tuple[int, ...]
    name: bytes
    known: bool
    values: Sequence[Any]
    formats: Sequence[Format]


class _Memory:
    """What has been prepared on one connection, and how its values are adapted."""

    def __init__(self, connection: Connection) -> None:
        # After a rollback the driver lets go of whatever it has prepared, and with it
        # of all that anybody has: so it prepares nothing by itself.
        connection.prepare_threshold = None
        # Its map alone: the connection itself would never be let go.
        self._transformer = Transformer(connection.adapters)
        self._names: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._made = 0

    def call(self, text: str, values: Sequence[Any]) -> _Call:
        adapt = self._transformer
        dumped = adapt.dump_sequence(values, [PyFormat.AUTO] * len(values))
        types, formats = tuple(adapt.types or ()), adapt.formats or ()
        name = self._names.get((text, types))
        known = name is not None
        if name is None:
            self._made += 1
            name = self._names[text, types] = b"waybill_%d" % self._made
        return _Call(text, types, name, known, dumped, formats)

    def forget(self, calls: Sequence[_Call]) -> None:
        """Of an exchange that failed: what it prepared may not be there."""
        for call in calls:
            if not call.known:
                self._names.pop((call.text, call.types), None)

    def read(self, answer: PGresult) -> Result:
        rows: Sequence[tuple[Any, ...]] = ()
        if answer.status == ExecStatus.TUPLES_OK:
            self._transformer.set_pgresult(answer)
            rows = self._transformer.load_rows(0, answer.ntuples, tuple)
        return Result(rows, answer.command_tuples or 0)


_memories: WeakKeyDictionary[Connection, _Memory] = WeakKeyDictionary()


def _asked_together(
    pgconn: PGconn, calls: Sequence[_Call], *, begins: bool
) -> PQGen[list[PGresult]]:
    pgconn.enter_pipeline_mode()
    try:
        if begins:
            pgconn.send_query_params(b"BEGIN", None)
        asked = [False] if begins else []
        for call in calls:
            if not call.known:
                pgconn.send_prepare(call.name, _numbered(call.text), call.types)
                asked.append(False)
            pgconn.send_query_prepared(call.name, call.values, call.formats)
            asked.append(True)
        pgconn.pipeline_sync()
        answers = yield from _answers(pgconn)
    finally:
        if pgconn.status == ConnStatus.OK:
            pgconn.exit_pipeline_mode()
    sound = [_sound(pgconn, answer) for answer in answers]
    if len(sound) < len(asked):
        raise psycopg.OperationalError("the connection was lost")
    return [one for one, wanted in zip(sound, asked, strict=True) if wanted]


def _answers(pgconn: PGconn) -> PQGen[list[PGresult]]:
    answers: list[PGresult] = []
    while pgconn.status == ConnStatus.OK:
        while pgconn.flush():
            yield Wait.RW
        while pgconn.is_busy():
            while not (yield Wait.R):
                continue
            pgconn.consume_input()
        answer = pgconn.get_result()
        if answer is None:
            continue  # the end of one statement's answer
        if answer.status == ExecStatus.PIPELINE_SYNC:
            break
        answers.append(answer)
    return answers


def _sound(pgconn: PGconn, answer: PGresult) -> PGresult:
    """The answer, where it is none that has to be raised."""
    if answer.status in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
        return answer
    if answer.error_field(DiagnosticField.SQLSTATE) is None:
        # Nobody answered: libpq itself says what went wrong.
        raise psycopg.OperationalError(answer.get_error_message())
    raise error_from_result(answer)


@lru_cache(maxsize=512)
def _numbered(text: str) -> bytes:
    """The text with ``$1``, ``$2`` and so on in the places of its values."""
    numbers = count(1)
    return re.sub(
        "%[s%]",
        lambda found: f"${next(numbers)}" if found[0] == "%s" else "%",
        text,
    ).encode()
