"""Reads the arguments of a call strictly: what is not plainly right is refused.

A vendor's JSON is never repaired. Python's own reader takes duplicate keys, NaN, lone
surrogates and numbers that no other reader keeps, so each is refused here.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from tools.contracts import Json

MAX_BYTES = 4096
MAX_DEPTH = 8
MAX_DIGITS = 15


class NotStrict(ValueError):
    """The text is not acceptable; the message says why, in words for a model."""


def read_object(text: str, *, max_bytes: int = MAX_BYTES) -> dict[str, Json]:
    """The JSON object that ``text`` is, or ``NotStrict``."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise NotStrict("the arguments hold half of a character") from None
    if size > max_bytes:
        raise NotStrict(f"the arguments are longer than {max_bytes} bytes")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
            parse_int=_short_int,
            parse_float=_short_float,
        )
    except NotStrict:
        raise
    except RecursionError:
        raise NotStrict(f"the arguments nest deeper than {MAX_DEPTH}") from None
    except ValueError:
        raise NotStrict("the arguments are not complete JSON") from None
    if not isinstance(value, dict):
        raise NotStrict("the arguments must be a JSON object")
    _check(value, MAX_DEPTH)
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrict("the arguments name a key twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise NotStrict(f"{name} is not JSON")


def _short_int(digits: str) -> int:
    _check_digits(digits)
    return int(digits)


def _short_float(digits: str) -> float:
    _check_digits(digits)
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise NotStrict("a number is out of range")
    return value


def _check_digits(number: str) -> None:
    if sum(letter.isdigit() for letter in number) > MAX_DIGITS:
        raise NotStrict(f"a number has more than {MAX_DIGITS} digits")


def _check(value: Json, depth: int) -> None:
    if isinstance(value, str):
        # PostgreSQL keeps neither in its text.
        if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise NotStrict("a text holds half of a character or a NUL")
        return
    if not isinstance(value, dict | list):
        return
    if depth == 0:
        raise NotStrict(f"the arguments nest deeper than {MAX_DEPTH}")
    if isinstance(value, dict):
        for key in value:
            _check(key, depth)
    for child in value.values() if isinstance(value, dict) else value:
        _check(child, depth - 1)
