"""What the admin is called in a Chinese browser, and what migrations know of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db.models import Model
from django.utils.translation import override

from chatbot.chat.labels import NAMED, choice_word
from chatbot.workflow.models import ChangePolicy, ChangeRequest, Delivery, Switch

CHINESE = re.compile(r"[一-鿿]")
MODELS = [model for label in NAMED for model in apps.get_app_config(label).get_models()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_every_table_and_column_has_a_name_in_either_language(
    model: type[Model],
) -> None:
    def names() -> list[str]:
        meta = model._meta
        room = str(apps.get_app_config(meta.app_label).verbose_name)
        columns = [str(field.verbose_name) for field in meta.fields]
        return [str(meta.verbose_name), str(meta.verbose_name_plural), room, *columns]

    with override("zh-hans"):
        assert [name for name in names() if not CHINESE.search(name)] == []
    with override("en"):
        assert [name for name in names() if CHINESE.search(name)] == []


@pytest.mark.django_db
def test_no_migration_knows_of_it() -> None:
    with override("zh-hans"):
        call_command("makemigrations", "--check", "--dry-run", verbosity=0)


@pytest.mark.parametrize(
    ("model", "column"),
    [
        (ChangeRequest, "kind"),
        (ChangeRequest, "state"),
        (ChangePolicy, "kind"),
        (ChangePolicy, "approver"),
        (Delivery, "state"),
        (Switch, "name"),
    ],
)
def test_what_the_desk_chooses_from_is_said_in_either_language(
    model: type[Model], column: str
) -> None:
    field: Any = model._meta.get_field(column)
    with override("zh-hans"):
        told = [choice_word(str(label)) for _, label in field.flatchoices]
    assert [one for one in told if not CHINESE.search(one)] == []
