"""What each staff role may open, as data; the groups carry it, the admin asks for it.

A group holds Django permissions only. Two of them are ours: who may open conversations
that were never handed over, and who may read what people wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.contrib.auth.models import (
    AbstractBaseUser,
    AnonymousUser,
    Group,
    Permission,
)
from django.db.models import Model, Q, QuerySet

from chatbot.chat.models import HandOver
from tools.contracts import Role

_TRACE = (
    "chat.view_conversation",
    "chat.view_run",
    "chat.view_handover",
    "chat.view_feedback",
)

_WRITE = ("chat.read_message_text", "chat.take_over")

# Who may approve how much is the request's own rule (tools/actions/requests.py).
_DESK = ("workflow.view_changerequest", "workflow.decide_changerequest")

_SWITCHES = ("workflow.view_switch", "workflow.change_switch")

M = TypeVar("M", bound=Model)

GROUPS: Mapping[Role, Sequence[str]] = {
    # Every conversation that was handed over: only such a one can they take.
    Role.AGENT: (*_TRACE, *_DESK, *_WRITE),
    Role.SUPERVISOR: (
        *_TRACE,
        *_DESK,
        *_WRITE,
        "chat.release_any",
        "chat.read_all_conversations",
        "workflow.close_changerequest",
        "workflow.close_delivery",
        "workflow.view_delivery",
        "workflow.view_alert",
        "workflow.view_auditentry",
        *_SWITCHES,
    ),
    # Limits and texts of the shop; of conversations only how they went.
    Role.OPERATOR: (
        *_TRACE,
        "chat.read_all_conversations",
        "tools.view_helparticle",
        "tools.add_helparticle",
        "tools.change_helparticle",
        "tools.delete_helparticle",
        "workflow.view_changepolicy",
        "workflow.change_changepolicy",
        *_SWITCHES,
        "workflow.view_alert",
    ),
}


@dataclass(frozen=True, slots=True)
class Sight:
    """What one member of staff sees of conversations."""

    everything: bool
    text: bool


def sight_of(user: AbstractBaseUser | AnonymousUser) -> Sight:
    return Sight(
        everything=user.has_perm("chat.read_all_conversations"),  # type: ignore[union-attr]
        text=user.has_perm("chat.read_message_text"),  # type: ignore[union-attr]
    )


def in_sight(rows: QuerySet[M], sight: Sight, path: str) -> QuerySet[M]:
    """The rows whose conversation may be opened; ``path`` leads to its id."""
    if sight.everything:
        return rows
    # IN, not EXISTS: few conversations are handed over, so the database starts there.
    handed_over = HandOver.objects.values("conversation_id")
    return rows.filter(**{f"{path}__in": handed_over})


def make_groups() -> None:
    """Create or renew the groups; other permissions that an owner gave them go."""
    for role, names in GROUPS.items():
        group, _ = Group.objects.get_or_create(name=role)
        group.permissions.set(_permissions(names))


def _permissions(names: Sequence[str]) -> QuerySet[Permission]:
    wanted = Q(pk__in=())
    for name in names:
        app, codename = name.split(".")
        wanted |= Q(content_type__app_label=app, codename=codename)
    return Permission.objects.filter(wanted)
