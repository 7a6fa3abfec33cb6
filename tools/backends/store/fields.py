"""Field types and validators of the shop's tables."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.core.exceptions import ValidationError
from django.db import models

from tools.contracts import canonical_number


class CanonicalField(models.CharField[str, str]):
    """The canonical form of the number in the field ``of``, written with it.

    However a row is saved (a form, a script, in bulk), the two cannot part; only
    ``QuerySet.update()`` goes past it.
    """

    def __init__(self, *args: Any, of: str = "", **kwargs: Any) -> None:
        self.of = of
        kwargs.setdefault("max_length", 64)
        kwargs["editable"] = False
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        return name, path, args, {**kwargs, "of": self.of}

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        key = canonical_number(getattr(model_instance, self.of))
        setattr(model_instance, self.attname, key)
        return key


def validate_time_zone(value: str) -> None:
    if value not in available_timezones():
        raise ValidationError(f"{value} is no time zone of the IANA database.")


def zone_or_utc(name: str) -> ZoneInfo:
    """The zone, or UTC where a row names none: the instant is the same."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def validate_options(value: object) -> None:
    """One text for each option's name, such as ``{"colour": "jade"}``."""
    if not isinstance(value, dict) or not all(
        isinstance(name, str) and isinstance(choice, str)
        for name, choice in value.items()
    ):
        raise ValidationError('Options are written like {"colour": "jade"}.')


def validate_number(value: str) -> None:
    """A number needs letters or digits: by them alone it is found again."""
    if value and not canonical_number(value):
        raise ValidationError("A number needs at least one letter or digit (A-Z, 0-9).")
