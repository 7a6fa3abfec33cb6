"""Settings from the environment: each read once, checked, and named when wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

Choice = TypeVar("Choice", bound=str)


@dataclass(frozen=True, slots=True)
class Declared:
    """What is known of one setting; docs/settings.md is held against it."""

    name: str
    kind: str
    default: str
    low: float | None = None
    high: float | None = None
    unit: str = ""


# Every setting that has been read, by name; and every variable that was looked at.
DECLARED: dict[str, Declared] = {}
_looked_at: set[str] = set()
OUR_PREFIXES = ("REACT_", "LLM_", "CHAT_")


def _declare(name: str, kind: str, default: object, **bounds: Any) -> None:
    DECLARED[name] = Declared(name, kind, str(default), **bounds)


def _raw(name: str) -> str | None:
    """The variable's text; None where it is missing or blank."""
    _looked_at.add(name)
    return os.environ.get(name, "").strip() or None


def unread_names() -> list[str]:
    """Variables that look like ours and that no setting reads: misspelled ones."""
    ours = (name for name in os.environ if name.startswith(OUR_PREFIXES))
    return sorted(set(ours) - _looked_at)


def _first(name: str, alias: str) -> str | None:
    second = _raw(alias) if alias else None
    return _raw(name) or second


def env_text(name: str, default: str, *, alias: str = "") -> str:
    _declare(name, "text", default)
    return _first(name, alias) or default


def env_choice(name: str, default: Choice, choices: tuple[Choice, ...]) -> Choice:
    _declare(name, "one of " + ", ".join(choices), default)
    value = _raw(name) or default
    for choice in choices:
        if value == choice:
            return choice
    raise ImproperlyConfigured(
        f"{name} is {value!r}; it must be one of {', '.join(choices)}."
    )


def env_bool(name: str, default: bool) -> bool:
    _declare(name, "yes or no", "yes" if default else "no")
    value = _raw(name)
    if value is None:
        return default
    if value.lower() in {"1", "true", "yes", "on"}:
        return True
    if value.lower() in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}; it must be yes or no.")


def env_int(name: str, default: int, *, low: int, high: int, unit: str) -> int:
    """A whole number of ``unit`` from ``low`` to ``high``, both allowed."""
    _declare(name, "whole number", default, low=low, high=high, unit=unit)
    value = _raw(name)
    if value is None:
        return default
    # int() would also take "1_000", other scripts' digits and a sign.
    if not (value.isascii() and value.isdigit() and low <= int(value) <= high):
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it must be a whole number of {unit}"
            f" from {low} to {high}."
        )
    return int(value)


def env_seconds(name: str, default: float, *, low: float, high: float) -> float:
    """A time in seconds from ``low`` to ``high``, both allowed; fractions too."""
    return env_number(name, default, low=low, high=high, unit="seconds")


def env_number(
    name: str, default: float, *, low: float, high: float, unit: str
) -> float:
    """A number of ``unit`` from ``low`` to ``high``, both allowed; fractions too."""
    _declare(name, "number", f"{default:g}", low=low, high=high, unit=unit)
    value = _raw(name)
    if value is None:
        return default
    plain = value.isascii() and value.replace(".", "", 1).isdigit()
    if not (plain and low <= float(value) <= high):
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it must be a number of {unit}"
            f" from {low:g} to {high:g}."
        )
    return float(value)


def env_list(name: str, default: Iterable[str] = ()) -> list[str]:
    """Parts between commas, without blanks around them and without empty ones."""
    _declare(name, "list, commas between", ",".join(default))
    value = _raw(name)
    if value is None:
        return list(default)
    return [part.strip() for part in value.split(",") if part.strip()]


def env_json(name: str) -> dict[str, Any]:
    """A JSON object; empty where nothing is set."""
    _declare(name, "JSON object", "{}")
    value = _raw(name)
    if value is None:
        return {}
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise ImproperlyConfigured(f"{name} must be a JSON object.")
    return parsed


def env_prices(name: str) -> dict[str, dict[str, float]]:
    """By model: the price of a million ``prompt`` and ``completion`` tokens."""
    found = env_json(name)
    for model, price in found.items():
        kinds = set(price) if isinstance(price, dict) else set()
        amounts = price.values() if isinstance(price, dict) else ()
        numbers = all(type(one) in (int, float) and one >= 0 for one in amounts)
        if kinds != {"prompt", "completion"} or not numbers:
            raise ImproperlyConfigured(
                f'{name} of {model} must read {{"prompt": 0.4, "completion": 1.6}}.'
            )
    return found


def env_secret(name: str, default: str = "", *, alias: str = "") -> str:
    """A secret from ``NAME``, or from the file that ``NAME_FILE`` names.

    No message of this function holds the secret itself.
    """
    _declare(name, "secret, or a file's path in " + name + "_FILE", default)
    for candidate in filter(None, (name, alias)):
        value, path = _raw(candidate), _raw(candidate + "_FILE")
        if value and path:
            raise ImproperlyConfigured(
                f"{candidate} and {candidate}_FILE are both set; set one of them."
            )
        if path:
            return _read_secret(candidate + "_FILE", path)
        if value:
            return value
    return default


def address(name: str, value: str, *, schemes: Iterable[str]) -> str:
    """``value``, which must be empty or an address of one of these kinds at a host.

    No message repeats it: it may hold a password.
    """
    if not value:
        return value
    try:
        parts = urlsplit(value)
        fits = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits or any(sign.isspace() for sign in value):
        kinds = " or ".join(f"{scheme}://" for scheme in schemes)
        raise ImproperlyConfigured(
            f"{name} is no address: it must begin with {kinds} and name a host."
        )
    return value


def _read_secret(name: str, path: str) -> str:
    try:
        value = Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"{name} names a file that cannot be read ({type(error).__name__})."
        ) from None
    if not value:
        raise ImproperlyConfigured(f"{name} names an empty file.")
    return value
