"""The approval desk in the admin: changes that wait, dead letters, alerts.

Staff see a request's exact arguments and what the shop's code says of them, never a
model's summary. Everything that is written goes through one service of the workflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chatbot.chat.admin import AuditAdmin, _link
from chatbot.chat.labels import ChoiceFilter, choice_column, choice_word
from chatbot.chat.models import Account, Run
from chatbot.chat.words import lazy_word, page_language, word
from chatbot.react.change_words import reason_words
from chatbot.react.wording import as_money
from chatbot.workflow import dead_letters, services
from chatbot.workflow.card import card_of
from chatbot.workflow.models import (
    Alert,
    AuditEntry,
    ChangeRequest,
    Delivery,
)
from chatbot.workflow.services import NotPossible
from tools.contracts import Role

_TONES = {
    "confirmed": "warn",
    "unknown": "bad",
    "succeeded": "good",
    "resolved": "good",
}
# What the desk says where no word of the customers' fits.
_DESK_REASONS = frozenset(
    {
        "reason_required",
        "supervisor_needed",
        "own_request",
        "already_decided",
        "changed_since_shown",
        "not_allowed",
        "actions_off",
        "not_found",
    }
)


class DeskAdmin(AuditAdmin):
    """Rows of the workflow: who may see them is a matter of the role alone."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return admin.ModelAdmin.get_queryset(self, request)

    def answer(self, request: HttpRequest, problem: str) -> HttpResponse:
        """Back to the page that was posted, with what came of it."""
        if problem:
            self.message_user(request, _problem_words(problem), messages.ERROR)
        else:
            self.message_user(request, word("desk_noted"), messages.SUCCESS)
        return HttpResponseRedirect(request.path)


def _problem_words(reason: str) -> str:
    if reason in _DESK_REASONS:
        return word(f"desk_{reason}")
    return reason_words(reason, page_language())


def _role_of(request: HttpRequest) -> Role:
    """The staff role that somebody acts in; of none, one that may decide nothing."""
    account = Account.objects.filter(user__username=request.user.get_username()).first()
    return Role(account.role) if account else Role.GUEST


def _order_of(row: ChangeRequest) -> str:
    """The order's number as the shop writes it; what is changed where it is none."""
    return str(card_of(row)["order"] or row.subject)


class StateFilter(admin.SimpleListFilter):
    """Shows what waits for a decision unless something else is chosen."""

    title = lazy_word("col_state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        states = ChangeRequest._meta.get_field("state").choices or ()
        return [
            ("all", word("filter_any")),
            *((str(k), choice_word(str(v))) for k, v in states),
        ]

    def choices(self, changelist: Any) -> Iterator[Any]:
        waiting, *others = super().choices(changelist)
        yield {**waiting, "display": word("desk_waiting")}
        yield from others

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "all":
                return rows
            case None:
                return rows.filter(state="confirmed")
            case state:
                return rows.filter(state=state)


@admin.register(ChangeRequest)
class ChangeRequestAdmin(DeskAdmin):
    list_display = ("what", "order", "money", "where", "created_at", "expires_at")
    list_filter = (StateFilter, ("kind", ChoiceFilter))
    ordering = ("-created_at",)
    search_fields = ("subject", "customer_id", "id")

    @admin.display(description=lazy_word("desk_kind"))
    def what(self, row: ChangeRequest) -> str:
        return choice_word(row.get_kind_display())

    @admin.display(description=lazy_word("desk_order"), ordering="subject")
    def order(self, row: ChangeRequest) -> str:
        return _order_of(row)

    @admin.display(description=lazy_word("desk_amount"))
    def money(self, row: ChangeRequest) -> str:
        return as_money(card_of(row)["amount"], language=page_language()) or "–"

    @admin.display(description=lazy_word("col_state"))
    def where(self, row: ChangeRequest) -> SafeString:
        tone = _TONES.get(row.state, "none")
        state = choice_word(row.get_state_display())
        return format_html('<span class="tag tag-{}">{}</span>', tone, state)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row: ChangeRequest = self.found(request, object_id)
        if request.method == "POST":
            return self.answer(request, self._act(request, row))
        card = card_of(row)
        names = dict.fromkeys([*card["before"], *card["after"]])
        sides = [(n, card["before"].get(n), card["after"].get(n)) for n in names]
        run = Run.objects.filter(pk=row.run_id).first() if row.run_id else None
        return self.page(
            request,
            "admin/workflow/request.html",
            word("desk_request"),
            row=row,
            card=card,
            what=self.what(row),
            order=_order_of(row),
            money=self.money(row),
            state=choice_word(row.get_state_display()),
            sides=sides,
            arguments=orjson.dumps(
                row.arguments, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2
            ).decode(),
            outcome=orjson.dumps(row.outcome).decode() if row.outcome else "",
            approvals=row.approvals.select_related("approver").order_by("at"),
            history=AuditEntry.objects.filter(ids__request=str(row.pk)).order_by("at"),
            trace=_link(run, word("trace_title")) if run else "",
            may_decide=self._may(request, row, "confirmed", "decide_changerequest"),
            may_close=self._may(request, row, "unknown", "close_changerequest"),
            tone=_TONES.get(row.state, "none"),
        )

    def _may(
        self, request: HttpRequest, row: ChangeRequest, state: str, permission: str
    ) -> bool:
        may = request.user.has_perm(f"workflow.{permission}")
        return may and row.state == state

    def _act(self, request: HttpRequest, row: ChangeRequest) -> str:
        """What was pressed; the code of why it was not possible, or ""."""
        user = request.user
        pressed, reason = request.POST.get("do", ""), request.POST.get("reason", "")
        now = timezone.now()
        wanted = "decide" if pressed in ("approve", "decline") else "close"
        if user.is_anonymous or not user.has_perm(f"workflow.{wanted}_changerequest"):
            raise PermissionDenied
        try:
            match pressed:
                case "approve" | "decline":
                    services.decide(
                        row.pk,
                        approver=user,
                        role=_role_of(request),
                        approve=pressed == "approve",
                        arguments_hash=request.POST.get("hash", ""),
                        reason=reason,
                        now=now,
                    )
                case "requeue":
                    dead_letters.requeue_unknown(
                        row.pk, by=user, reason=reason, now=now
                    )
                case "resolve":
                    dead_letters.resolve_unknown(
                        row.pk, by=user, reason=reason, now=now
                    )
                case _:
                    return "not_found"
        except NotPossible as refusal:
            return refusal.reason
        return ""


@admin.register(Delivery)
class DeliveryAdmin(DeskAdmin):
    """What was to follow from an event; the dead ones are for a person."""

    list_display = (
        "id",
        "fact",
        "handler",
        choice_column("state"),
        "attempts",
        "crashes",
        "problem",
    )
    list_filter = (("state", ChoiceFilter),)
    list_select_related = ("event",)
    ordering = ("-id",)

    @admin.display(description=lazy_word("desk_event"))
    def fact(self, row: Delivery) -> str:
        return row.event.name

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row: Delivery = self.found(request, object_id)
        may_close = request.user.has_perm("workflow.close_delivery")
        if request.method == "POST":
            if not may_close or request.user.is_anonymous:
                raise PermissionDenied
            try:
                dead_letters.close_delivery(
                    row.pk,
                    by=request.user,
                    reason=request.POST.get("reason", ""),
                    again=request.POST.get("do") == "requeue",
                    now=timezone.now(),
                )
            except NotPossible as refusal:
                return self.answer(request, refusal.reason)
            return self.answer(request, "")
        return self.page(
            request,
            "admin/workflow/delivery.html",
            word("desk_delivery"),
            row=row,
            ids=orjson.dumps(row.event.ids).decode(),
            may_close=may_close and row.state == "dead",
        )


@admin.register(Alert)
class AlertAdmin(DeskAdmin):
    list_display = ("created_at", "kind", "text", "ids", "delivered_at")
    list_filter = ("kind",)
    list_display_links = None
    ordering = ("-id",)


@admin.register(AuditEntry)
class AuditEntryAdmin(DeskAdmin):
    list_display = ("at", "kind", "actor", "ids", "chain", "position")
    list_filter = ("kind",)
    list_display_links = None
    search_fields = ("chain", "actor")
    ordering = ("-id",)
