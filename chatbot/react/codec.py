"""Loop events as JSON and back: what a stored step holds.

Written once per class and then only called: a run stores a dozen of these. A field that
an older row lacks gets its default; one that this version does not know is passed over,
so that rows outlive the code that wrote them.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from chatbot.react.types import (
    Acted,
    Joined,
    LoopEvent,
    ModelFailed,
    Nudged,
    Observed,
    Refused,
    SentBack,
    Started,
    Stopped,
)
from tools.contracts import Json

KINDS: Mapping[str, type[LoopEvent]] = {
    "started": Started,
    "joined": Joined,
    "acted": Acted,
    "observed": Observed,
    "refused": Refused,
    "sent_back": SentBack,
    "nudged": Nudged,
    "model_failed": ModelFailed,
    "stopped": Stopped,
}
_KIND_OF = {cls: kind for kind, cls in KINDS.items()}

# An edge: values come from a JSON column and are checked field by field.
Decoder: TypeAlias = Callable[[Any], Any]


def event_kind(event: LoopEvent) -> str:
    return _KIND_OF[type(event)]


def event_to_json(event: LoopEvent) -> dict[str, Json]:
    return _fields_encoded(event)


def event_from_json(kind: str, body: Mapping[str, Json]) -> LoopEvent:
    """The event of a stored step; ``ValueError`` where the row holds no such event."""
    try:
        cls: Any = KINDS[kind]
        event: LoopEvent = _dataclass_decoder(cls)(body)
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(f"not a stored {kind} event: {problem}") from problem
    return event


def _encoded(value: object) -> Json:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _encoded(child) for key, child in value.items()}
    if isinstance(value, frozenset):
        return [str(child) for child in sorted(value)]
    if isinstance(value, tuple | list):
        return [_encoded(child) for child in value]
    return _fields_encoded(value)


def _fields_encoded(value: object) -> dict[str, Json]:
    cls: Any = type(value)
    return {name: _encoded(getattr(value, name)) for name in _names(cls)}


@cache
def _names(cls: Any) -> tuple[str, ...]:
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is no part of an event")
    return tuple(field.name for field in fields(cls))


@cache
def _decoder(hint: Any) -> Decoder:
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        cls: Any = hint
        decoder: Decoder = _dataclass_decoder(cls)
        return decoder
    if origin in (Union, types.UnionType) and type(None) in arguments:
        [inner] = [_decoder(a) for a in arguments if a is not type(None)] or [_same]
        return lambda value: None if value is None else inner(value)
    if origin is tuple or origin is frozenset:
        item = _decoder(arguments[0])
        collect = tuple if origin is tuple else frozenset
        return lambda value: collect([item(child) for child in value])
    if hint is datetime:
        return datetime.fromisoformat
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint
    return _same


def _same(value: Any) -> Any:
    return value


@cache
def _dataclass_decoder(cls: Any) -> Decoder:
    # JSON values stay as they are, and their recursive alias can't be evaluated here.
    hints = get_type_hints(cls, localns={"Json": Any})
    decoders = {field.name: _decoder(hints[field.name]) for field in fields(cls)}
    needed = [
        field.name
        for field in fields(cls)
        if field.default is MISSING and field.default_factory is MISSING
    ]

    def decode(body: Mapping[str, Any]) -> Any:
        for name in needed:
            if name not in body:
                raise ValueError(f"{cls.__name__}.{name} is missing")
        known = {
            name: decoder(body[name])
            for name, decoder in decoders.items()
            if name in body
        }
        return cls(**known)

    return decode
