"""What each staff role may open: the matrix says it, the groups carry it.

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
from tools.authorization import Action, roles_that
from tools.contracts import Role

M = TypeVar("M", bound=Model)

# What carries an action of the matrix in the admin. Who may approve how much is the
# request's own rule (tools/actions/requests.py).
PERMISSIONS: Mapping[Action, Sequence[str]] = {
    Action.READ_TRACE: (
        "chat.view_conversation",
        "chat.view_run",
        "chat.view_handover",
        "chat.view_feedback",
    ),
    Action.READ_CONVERSATION: ("chat.read_message_text",),
    Action.READ_ANY_TRACE: ("chat.read_all_conversations",),
    Action.APPROVE_CHANGE: (
        "workflow.view_changerequest",
        "workflow.decide_changerequest",
    ),
    Action.TAKE_OVER: ("chat.take_over",),
    Action.END_ANY_TAKEOVER: ("chat.release_any",),
    Action.CLOSE_DEAD_LETTER: (
        "workflow.close_changerequest",
        "workflow.close_delivery",
        "workflow.view_delivery",
    ),
    Action.READ_AUDIT: ("workflow.view_auditentry",),
    Action.READ_ALERTS: ("workflow.view_alert",),
    Action.THROW_SWITCH: ("workflow.view_switch", "workflow.change_switch"),
    Action.SET_LIMITS: (
        "tools.view_helparticle",
        "tools.add_helparticle",
        "tools.change_helparticle",
        "tools.delete_helparticle",
        "workflow.view_changepolicy",
        "workflow.change_changepolicy",
    ),
}

GROUPS: Mapping[Role, Sequence[str]] = {
    role: [
        name
        for action, names in PERMISSIONS.items()
        if role in roles_that(action)
        for name in names
    ]
    for role in (Role.AGENT, Role.SUPERVISOR, Role.OPERATOR)
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
