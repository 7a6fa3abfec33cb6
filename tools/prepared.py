"""Queries that Django writes once and the database plans once: for the hot path alone.

Building and compiling a query costs more than three times what running it does, and a
run makes two dozen of them that differ in their values only. What is here keeps the SQL
that Django made of a query set, and on PostgreSQL has it prepared. The models stay the
one place that knows tables, columns and types. docs/performance.md has the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Expression, Model, QuerySet, sql

from tools.wire import Result, Statement, exchange

T = TypeVar("T")


class Place(Expression):
    """Where a query takes one of the values that each call brings, by name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        # Out it comes among the parameters, to be exchanged for the value.
        return "%s", [self]


@dataclass(frozen=True, slots=True)
class _Compiled:
    text: str
    parameters: Sequence[Any]
    # By column: what makes Python values of the database's.
    converters: Mapping[int, tuple[Sequence[Callable[..., Any]], Any]]

    def filled(self, values: Mapping[str, Any]) -> list[Any]:
        return [
            _adapted(values[one.name]) if isinstance(one, Place) else one
            for one in self.parameters
        ]


@dataclass(frozen=True, slots=True)
class Query(Generic[T]):
    """One statement with its values, and what becomes of its result."""

    text: str
    parameters: Sequence[Any]
    read: Callable[[Result], T]

    def run(self) -> T:
        [found] = _execute([(self.text, self.parameters)])
        return self.read(found)


def together(queries: Sequence[Query[Any]]) -> list[Any]:
    """Run these one after the other; on PostgreSQL they are asked all at once.

    So none of them may need what another one gives.
    """
    if not queries:
        return []
    results = _execute([(one.text, one.parameters) for one in queries])
    return [one.read(found) for one, found in zip(queries, results, strict=True)]


class Select:
    """The rows of a query of values: ``Select(lambda: A.objects...values_list(...))``.

    The query set is made at the first call and again for another kind of database. What
    it filters by is a ``Place``, or stays the same for good.
    """

    def __init__(self, query: Callable[[], QuerySet[Any, Any]]) -> None:
        self._query = query
        self._compiled: dict[str, _Compiled] = {}

    def asked(self, **values: Any) -> Query[list[tuple[Any, ...]]]:
        compiled = self._of_this_database()
        return Query(
            compiled.text,
            compiled.filled(values),
            lambda found: [_converted(row, compiled.converters) for row in found.rows],
        )

    def rows(self, **values: Any) -> list[tuple[Any, ...]]:
        return self.asked(**values).run()

    def first(self, **values: Any) -> tuple[Any, ...] | None:
        """The one row, where the query gives no more than one."""
        return next(iter(self.rows(**values)), None)

    def _of_this_database(self) -> _Compiled:
        compiled = self._compiled.get(connection.vendor)
        if compiled is None:
            compiler = self._query().query.get_compiler(connection=connection)
            text, parameters = compiler.as_sql()
            columns = [one[0] for one in compiler.select[: compiler.col_count]]
            converters = compiler.get_converters(columns)
            compiled = _Compiled(text, parameters, converters)
            self._compiled[connection.vendor] = compiled
        return compiled


class Update:
    """The same for ``queryset.update(**changes)``; gives the number of rows."""

    def __init__(
        self, query: Callable[[], QuerySet[Any, Any]], **changes: object
    ) -> None:
        self._query = query
        self._changes = changes
        self._compiled: dict[str, _Compiled] = {}

    def asked(self, **values: Any) -> Query[int]:
        compiled = self._of_this_database()
        return Query(compiled.text, compiled.filled(values), attrgetter("rowcount"))

    def __call__(self, **values: Any) -> int:
        return self.asked(**values).run()

    def _of_this_database(self) -> _Compiled:
        compiled = self._compiled.get(connection.vendor)
        if compiled is None:
            compiled = self._compiled[connection.vendor] = self._compile()
        return compiled

    def _compile(self) -> _Compiled:
        query: Any = self._query().query.chain(sql.UpdateQuery)
        query.add_update_values(self._changes)
        text, parameters = query.get_compiler(connection=connection).as_sql()
        return _Compiled(text, parameters, {})


class UpdateReturning(Update):
    """The same, and gives these columns of the one row as it is then, or None."""

    def __init__(
        self,
        query: Callable[[], QuerySet[Any, Any]],
        columns: Sequence[str],
        **changes: object,
    ) -> None:
        super().__init__(query, **changes)
        self._columns = columns

    def first(self, **values: Any) -> tuple[Any, ...] | None:
        compiled = self._of_this_database()
        [found] = _execute([(compiled.text, compiled.filled(values))])
        return _converted(found.rows[0], compiled.converters) if found.rows else None

    def _compile(self) -> _Compiled:
        updated = super()._compile()
        model = self._query().model
        # A compiler of its own: it knows what makes Python values of these columns.
        compiler = model.objects.values_list(*self._columns).query.get_compiler(
            connection=connection
        )
        compiler.pre_sql_setup()
        columns: list[Any] = [one[0] for one in compiler.select]
        quote = connection.ops.quote_name
        names = ", ".join(quote(column.target.column) for column in columns)
        text = f"{updated.text} RETURNING {names}"
        return _Compiled(text, updated.parameters, compiler.get_converters(columns))


# Sizes of ``pk__in``, and of an insert: few, for each is a statement of its own.
_SIZES = (32, 8, 4, 2, 1)
# The driver reads a statement with more parameters anew each time.
_MOST_PARAMETERS = 50


def numbered(size: int) -> Any:
    """``size`` places for the members of an ``in``, filled by ``places()``."""
    return [Place(f"at_{number}") for number in range(size)]


def places(members: Sequence[object]) -> dict[str, object]:
    """Members of an ``in``, as many as one of a few sizes, the last one repeated."""
    fitting = [size for size in _SIZES if size >= len(members)]
    size = min(fitting, default=-(-len(members) // _SIZES[0]) * _SIZES[0])
    padding = [members[-1]] * (size - len(members))
    return {f"at_{n}": one for n, one in enumerate([*members, *padding])}


def updating(
    model: type[Model], key: object, changes: Mapping[str, Any]
) -> Query[None]:
    """Setting these columns of the row with this primary key."""
    text, fields = _update_of(connection.vendor, model, tuple(changes))
    *columns, primary = fields
    values = zip(columns, changes.values(), strict=True)
    stored = [field.get_db_prep_save(value, connection) for field, value in values]
    stored.append(primary.get_db_prep_save(key, connection))
    return Query(text, stored, _nothing)


def update_row(model: type[Model], key: object, changes: Mapping[str, Any]) -> None:
    updating(model, key, changes).run()


def inserting(rows: Sequence[Model], *, keys: bool = True) -> list[Query[None]]:
    """Inserting unsaved rows of one model as their fields are.

    They get their primary keys; without ``keys`` they don't learn those that the
    database makes.
    """
    if not rows:
        return []
    insert = _insert_of(connection.vendor, type(rows[0]))
    return [
        Query(
            text,
            [
                field.get_db_prep_save(getattr(row, field.attname), connection)
                for row in some
                for field in insert.fields
            ],
            partial(_inserted, some, insert.made if keys else ""),
        )
        for text, some in _batches(insert, rows, keys=keys)
    ]


def insert_row(row: Model) -> None:
    insert_rows([row])


def insert_rows(rows: Sequence[Model], *, keys: bool = True) -> None:
    together(inserting(rows, keys=keys))


def _inserted(rows: Sequence[Model], made: str, found: Result) -> None:
    if made:
        for row, key in zip(rows, found.rows, strict=True):
            setattr(row, made, key[0])
    for row in rows:
        row._state.adding = False
        row._state.db = connection.alias


def _nothing(found: Result) -> None:
    pass


@dataclass(frozen=True, slots=True)
class _Insert:
    table: str
    fields: Sequence[Any]
    # The attribute of a key that the database makes, or "".
    made: str


def _batches(
    insert: _Insert, rows: Sequence[Model], *, keys: bool
) -> Iterable[tuple[str, Sequence[Model]]]:
    at = 0
    while at < len(rows):
        most = max(1, _MOST_PARAMETERS // len(insert.fields))
        size = next(size for size in _SIZES if size <= min(most, len(rows) - at))
        yield _insert_text(insert, size, keys=keys), rows[at : at + size]
        at += size


@lru_cache(maxsize=64)
def _insert_of(vendor: str, model: type[Model]) -> _Insert:
    made = model._meta.auto_field
    fields: list[Any] = [
        field for field in model._meta.local_concrete_fields if field is not made
    ]
    name = made.attname if made else ""
    return _Insert(model._meta.db_table, tuple(fields), name)


@lru_cache(maxsize=256)
def _insert_text(insert: _Insert, size: int, *, keys: bool) -> str:
    quote = connection.ops.quote_name
    columns = ", ".join(quote(field.column) for field in insert.fields)
    row = f"({', '.join(['%s'] * len(insert.fields))})"
    places = ", ".join([row] * size)
    text = f"INSERT INTO {quote(insert.table)} ({columns}) VALUES {places}"  # noqa: S608
    if not (insert.made and keys):
        return text
    return f"{text} RETURNING {quote(insert.made)}"


@lru_cache(maxsize=256)
def _update_of(
    vendor: str, model: type[Model], names: tuple[str, ...]
) -> tuple[str, Sequence[Any]]:
    quote = connection.ops.quote_name
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    key: Any = model._meta.pk
    columns = ", ".join(f"{quote(field.column)} = %s" for field in fields)
    table = quote(model._meta.db_table)
    text = f"UPDATE {table} SET {columns} WHERE {quote(key.column)} = %s"  # noqa: S608
    return text, (*fields, key)


def _adapted(value: Any) -> Any:
    """A value as this database's driver takes it."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, UUID):
        native = connection.features.has_native_uuid_field
        return value if native else value.hex
    return value.value if isinstance(value, Enum) else value


def _converted(row: Sequence[Any], converters: Mapping[int, Any]) -> tuple[Any, ...]:
    if not converters:
        return tuple(row)
    values = list(row)
    for column, (steps, expression) in converters.items():
        for step in steps:
            values[column] = step(values[column], expression, connection)
    return tuple(values)


def _execute(statements: Sequence[Statement]) -> list[Result]:
    """What each of them gave. Errors are Django's."""
    watched = connection.execute_wrappers or connection.queries_logged
    if connection.vendor != "postgresql" or watched:
        return [_execute_one(*statement) for statement in statements]
    # Opens a connection, or checks one that lay idle, as Django does it.
    here: Any = connection
    if here.connection is None or not here.health_check_done:
        here.cursor().close()
    with connection.wrap_database_errors:
        return exchange(connection.connection, statements)


def _execute_one(text: str, parameters: Sequence[Any]) -> Result:
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        rows = [tuple(row) for row in cursor.fetchall()] if cursor.description else []
        return Result(rows, cursor.rowcount)
