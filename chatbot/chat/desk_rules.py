"""What operators set in the admin: the rules of changes, and what is turned off.

Everything that is written goes through one service of the workflow, with its audit.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Max
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chatbot.chat.labels import ChoiceFilter, choice_column
from chatbot.chat.words import lazy_word, word
from chatbot.workflow import rules, switches
from chatbot.workflow.models import ChangePolicy, Switch, SwitchName
from tools.contracts import ActionKind


@admin.register(ChangePolicy)
class ChangePolicyAdmin(admin.ModelAdmin[ChangePolicy]):
    """The newest rules of each kind; saving adds a version and changes none."""

    list_display = (
        choice_column("kind"),
        "version",
        "enabled",
        choice_column("approver"),
        "supervisor_above",
        "two_people_above",
        "max_amount",
        "changed_by",
        "changed_at",
    )
    list_filter = (("kind", ChoiceFilter),)
    ordering = ("kind", "-version")
    actions = None
    fields = (
        "enabled",
        "approver",
        "supervisor_above",
        "two_people_above",
        "max_amount",
        "max_per_customer_per_day",
        "valid_hours",
    )

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name in ("supervisor_above", "two_people_above", "max_amount"):
            kwargs["help_text"] = word("desk_minor_units")
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        rules.current_policies()  # what nobody has changed yet is there as well
        return super().changelist_view(request, extra_context)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is not None:
            newest = ChangePolicy.objects.filter(kind=obj.kind)
            if obj.version != newest.aggregate(newest=Max("version"))["newest"]:
                return False
        return super().has_change_permission(request, obj)

    def save_model(
        self, request: HttpRequest, obj: ChangePolicy, form: Any, change: bool
    ) -> None:
        if request.user.is_anonymous:
            raise PermissionDenied
        rules.change_policy(
            ActionKind(obj.kind),
            by=request.user,
            now=timezone.now(),
            **{name: form.cleaned_data[name] for name in self.fields},
        )


@admin.register(Switch)
class SwitchAdmin(admin.ModelAdmin[Switch]):
    """The model off, changes off: within seconds, everywhere, with a reason."""

    list_display = (
        choice_column("name"),
        "works",
        "reason",
        "changed_by",
        "changed_at",
    )
    fields = ("is_off", "reason")
    ordering = ("name",)
    actions = None

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        switches.all_switches()
        return super().changelist_view(request, extra_context)

    @admin.display(description=lazy_word("col_state"))
    def works(self, row: Switch) -> SafeString:
        tone, key = ("bad", "switch_off") if row.is_off else ("good", "switch_on")
        return format_html('<span class="tag tag-{}">{}</span>', tone, word(key))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: Switch, form: Any, change: bool
    ) -> None:
        if request.user.is_anonymous:
            raise PermissionDenied
        switches.throw(
            SwitchName(obj.pk),
            off=form.cleaned_data["is_off"],
            by=request.user,
            reason=form.cleaned_data["reason"],
            now=timezone.now(),
        )
