"""The names of rooms, tables and columns in the admin of a Chinese browser.

English ones are Django's own, made of the code's names. They are put on when all models
are loaded, so that no model has to know of pages, and no migration of a name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django.apps import AppConfig, apps
from django.contrib import admin
from django.db.models import Model
from django.utils.functional import lazy

from chatbot.chat.words import WORD_LISTS, page_language

NAMED = ("accounts", "chat", "workflow", "tools", "store")


def name_tables() -> None:
    for label in NAMED:
        room = apps.get_app_config(label)
        _name_room(room)
        for model in room.get_models():
            _name_table(model)


def _name_room(room: AppConfig) -> None:
    named: Any = room
    named.verbose_name = _lazy_label("apps", room.label, str(room.verbose_name))


def _name_table(model: type[Model]) -> None:
    meta: Any = model._meta
    for attribute in ("verbose_name", "verbose_name_plural"):
        english = str(getattr(meta, attribute))
        setattr(meta, attribute, _lazy_label("models", meta.label_lower, english))
    for field in model._meta.local_fields:
        english = str(field.verbose_name)
        named: Any = field
        named.verbose_name = _lazy_label("fields", field.name, english)


def choice_word(english: str) -> str:
    """A choice of a column, such as a state, as this page calls it."""
    return _label("choices", english, english)


def choice_column(name: str) -> Any:
    """A list's column of a field with choices, in the page's words."""

    @admin.display(description=_lazy_label("fields", name, name), ordering=name)
    def column(row: Model) -> str:
        told: str = getattr(row, f"get_{name}_display")()
        return choice_word(told)

    return column


class ChoiceFilter(admin.ChoicesFieldListFilter):
    """The choices of a column, in the page's words."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for one in super().choices(changelist):
            yield {**one, "display": choice_word(str(one["display"]))}


def _label(part: str, key: str, english: str) -> str:
    """The Chinese word on a Chinese page, or the English one."""
    if page_language() != "zh":
        return english
    return _chinese()[part].get(key, english)


_lazy_label: Any = lazy(_label, str)


@cache
def _chinese() -> Mapping[str, Mapping[str, str]]:
    words: Mapping[str, Mapping[str, str]] = json.loads(
        (WORD_LISTS / "admin_zh.json").read_text("utf-8")
    )
    return words
