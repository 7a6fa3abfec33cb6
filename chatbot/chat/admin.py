"""The audit in the admin: who asked what, what was done, why it stopped.

No row of it can be written; a conversation's page also lets a person take it over.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chatbot.chat import admin_takeover, reading
from chatbot.chat.admin_lists import (
    BoundedPaginator,
    DayFilter,
    DurationFilter,
    ModelFilter,
    StopFilter,
    TokenFilter,
    ToolErrorFilter,
    ToolFilter,
    find_accounts,
    search_runs,
)
from chatbot.chat.log_in import StaffLogInForm
from chatbot.chat.models import Account, Conversation, Feedback, HandOver, Run
from chatbot.chat.roles import in_sight, sight_of
from chatbot.chat.trace import timeline
from chatbot.chat.words import ending_word, lazy_word, word
from tools.contracts import Role

# The lists need the width; the index and the crumbs lead everywhere.
admin.site.enable_nav_sidebar = False
admin.site.login_form = StaffLogInForm

_HIDDEN = "•••"
_GOOD = {"answered", "needs_customer", "awaiting_approval", "handed_over", "cancelled"}
_WARN = {"insufficient_evidence", "no_progress", "repeated_action", "refused_action"}


class AuditAdmin(admin.ModelAdmin[Any]):
    """A list and a page that nobody can write through, superusers included.

    ``conversation_path`` leads from a row to the conversation's id: what a role may not
    see is not in any of its lists, and its page is a 404.
    """

    conversation_path = "conversation_id"
    text_columns: tuple[str, ...] = ()  # what people wrote
    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    actions = None
    change_list_template = "admin/chat/audit_list.html"

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        sight = sight_of(request.user)
        return in_sight(super().get_queryset(request), sight, self.conversation_path)

    def get_list_display(self, request: HttpRequest) -> Any:
        hidden = () if sight_of(request.user).text else self.text_columns
        return [name for name in self.list_display if name not in hidden]

    def found(self, request: HttpRequest, object_id: str) -> Any:
        """The row that this person asked for, or a 404."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404
        return row

    def page(
        self, request: HttpRequest, template: str, title: str, **context: Any
    ) -> HttpResponse:
        everything = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            **context,
        }
        return TemplateResponse(request, template, everything)


def _link(row: Model, text: str) -> SafeString:
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_change"
    return format_html('<a href="{}">{}</a>', reverse(name, args=[row.pk]), text)


def _customer(account: Account) -> str:
    if account.role == Role.GUEST:
        # Told apart by the end of a name that means nothing.
        return f"{word('guest')} {account.user.get_username()[-6:]}"
    return account.user.get_full_name() or account.user.get_username()


def ending_tone(reason: str) -> str:
    """The colour of a stop reason: good, warn, bad, or none while the run goes on."""
    if not reason:
        return "none"
    return "good" if reason in _GOOD else "warn" if reason in _WARN else "bad"


@admin.register(Run)
class RunAdmin(AuditAdmin):
    list_display = (
        "asked",
        "question_line",
        "customer",
        "ended",
        "tool_line",
        "steps",
        "tokens",
        "took",
    )
    text_columns = ("question_line",)
    list_display_links = ("asked",)
    list_filter = (
        DayFilter,
        StopFilter,
        ToolFilter,
        ToolErrorFilter,
        ModelFilter,
        DurationFilter,
        TokenFilter,
    )
    list_select_related = ("conversation__account__user",)
    ordering = ("-created_at",)
    search_fields = ("numbers",)  # shows the box; search_runs() decides
    sortable_by = ("asked",)

    @property
    def search_help_text(self) -> str:  # type: ignore[override]
        return word("search_runs")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return search_runs(queryset, search_term), False

    @admin.display(description=lazy_word("col_asked"), ordering="created_at")
    def asked(self, run: Run) -> Any:
        return run.created_at

    @admin.display(description=lazy_word("col_question"))
    def question_line(self, run: Run) -> str:
        return run.question[:90] or "–"

    @admin.display(description=lazy_word("col_customer"))
    def customer(self, run: Run) -> str:
        return _customer(run.conversation.account)

    @admin.display(description=lazy_word("col_ended"))
    def ended(self, run: Run) -> SafeString:
        return format_html(
            '<span class="tag tag-{}" title="{}">{}</span>',
            ending_tone(run.stop_reason),
            run.ending,
            ending_word(run.ending),
        )

    @admin.display(description=lazy_word("col_tools"))
    def tool_line(self, run: Run) -> SafeString | str:
        if not run.tool_errors:
            return run.tools or "–"
        return format_html(
            '{} <span class="tag tag-warn">{}</span>', run.tools, run.tool_errors
        )

    @admin.display(description=lazy_word("col_steps"))
    def steps(self, run: Run) -> int:
        return run.steps_used

    @admin.display(description=lazy_word("col_tokens"))
    def tokens(self, run: Run) -> str:
        total = run.prompt_tokens + run.completion_tokens
        return f"{'~' if run.tokens_estimated else ''}{total:,}"

    @admin.display(description=lazy_word("col_took"))
    def took(self, run: Run) -> str:
        return "–" if run.duration_ms is None else f"{run.duration_ms / 1000:.1f} s"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        run: Run = self.found(request, object_id)
        reading.note_read(request, run.conversation, "run", now=timezone.now())
        sight = sight_of(request.user)
        events = timeline(run, with_text=sight.text)
        verdict = next((e for e in reversed(events) if e.slots or e.unsupported), None)
        return self.page(
            request,
            "admin/chat/run/trace.html",
            word("trace_title"),
            run=run,
            question=run.question if sight.text else _HIDDEN,
            customer=_customer(run.conversation.account),
            events=events,
            verdict=verdict,
            took=self.took(run),
            tokens=self.tokens(run),
            tone=ending_tone(run.stop_reason),
            hand_over=HandOver.objects.filter(run=run).first(),
            feedback=Feedback.objects.filter(message__run=run),
            with_text=sight.text,
        )


@admin.register(Conversation)
class ConversationAdmin(AuditAdmin):
    conversation_path = "id"
    list_display = ("updated_at", "title_line", "customer", "created_at")
    text_columns = ("title_line",)
    list_select_related = ("account__user", "taken_by")
    ordering = ("-updated_at",)
    search_fields = ("id",)
    sortable_by = ("updated_at",)

    @property
    def search_help_text(self) -> str:  # type: ignore[override]
        return word("search_conversations")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        of_runs = search_runs(Run.objects.all(), term).order_by("-created_at")
        conversations = of_runs.values_list("conversation_id", flat=True)[:1000]
        return queryset.filter(pk__in=set(conversations)) | queryset.filter(
            account__in=list(find_accounts(term))
        ), False

    @admin.display(description=lazy_word("col_title"))
    def title_line(self, conversation: Conversation) -> str:
        return conversation.title or "–"

    @admin.display(description=lazy_word("col_customer"))
    def customer(self, conversation: Conversation) -> str:
        return _customer(conversation.account)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        conversation: Conversation = self.found(request, object_id)
        if request.method == "POST":
            problem = self._act(request, conversation)
            if problem:
                self.message_user(request, word(problem), messages.ERROR)
            return HttpResponseRedirect(request.path)
        if "news" in request.GET:
            return admin_takeover.news(request, conversation)
        if reading.needs_reason(request, conversation):
            return self.page(
                request, "admin/chat/conversation/reason.html", word("log_title")
            )
        reading.note_read(request, conversation, "conversation", now=timezone.now())
        sight = sight_of(request.user)
        return self.page(
            request,
            "admin/chat/conversation/log.html",
            word("log_title"),
            conversation=conversation,
            customer=_customer(conversation.account),
            said=conversation.messages.order_by("seq") if sight.text else (),
            take=admin_takeover.state_for(request, conversation),
            runs=conversation.runs.order_by("created_at"),
            hand_overs=conversation.handovers.order_by("created_at"),
            with_text=sight.text,
        )

    def _act(self, request: HttpRequest, conversation: Conversation) -> str:
        """What was pressed; the word for why it was not possible, or ""."""
        if request.POST.get("do") == "read":
            given = reading.give_reason(request, conversation)
            return "" if given else "desk_reason_required"
        problem = admin_takeover.act(request, conversation)
        return problem and f"take_{problem}"


class OpenFilter(admin.SimpleListFilter):
    title = lazy_word("col_state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", word("filter_open")), ("closed", word("filter_closed"))]

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return rows
        return rows.filter(closed_at__isnull=self.value() == "open")


@admin.register(HandOver)
class HandOverAdmin(AuditAdmin):
    list_display = ("created_at", "customer", "why", "needs", "state", "trace")
    text_columns = ("why",)
    list_filter = (OpenFilter,)
    list_select_related = ("conversation__account__user", "run")
    ordering = ("-created_at",)

    @admin.display(description=lazy_word("col_customer"))
    def customer(self, row: HandOver) -> str:
        return _customer(row.conversation.account)

    @admin.display(description=lazy_word("col_reason"))
    def why(self, row: HandOver) -> str:
        return row.reason

    @admin.display(description=lazy_word("col_open_needs"))
    def needs(self, row: HandOver) -> str:
        return ", ".join(_need_name(need) for need in row.open_needs) or "–"

    @admin.display(description=lazy_word("col_state"))
    def state(self, row: HandOver) -> SafeString:
        closed = row.closed_at is not None
        return format_html(
            '<span class="tag tag-{}">{}</span>',
            "none" if closed else "warn",
            word("filter_closed") if closed else word("filter_open"),
        )

    @admin.display(description=lazy_word("col_run"))
    def trace(self, row: HandOver) -> SafeString:
        return _link(row.run, word("trace_title"))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row: HandOver = self.found(request, object_id)
        reading.note_read(request, row.conversation, "handover", now=timezone.now())
        sight = sight_of(request.user)
        return self.page(
            request,
            "admin/chat/handover/page.html",
            word("handed_page"),
            row=row,
            customer=_customer(row.conversation.account),
            reason=row.reason if sight.text else _HIDDEN,
            needs=[_need_name(need) for need in row.open_needs],
            evidence=row.evidence,
        )


def _need_name(need: Any) -> str:
    if isinstance(need, dict):
        return " ".join(
            str(need[key]) for key in ("need", "order", "why") if need.get(key)
        )
    return str(need)


@admin.register(Feedback)
class FeedbackAdmin(AuditAdmin):
    conversation_path = "message__conversation_id"
    list_display = ("updated_at", "thumb", "comment", "customer", "trace")
    text_columns = ("comment",)
    list_filter = ("helpful",)
    list_select_related = ("message__conversation__account__user", "message__run")
    list_display_links = None
    ordering = ("-updated_at",)

    @admin.display(description=lazy_word("col_helpful"), boolean=True)
    def thumb(self, row: Feedback) -> bool:
        return row.helpful

    @admin.display(description=lazy_word("col_customer"))
    def customer(self, row: Feedback) -> str:
        return _customer(row.message.conversation.account)

    @admin.display(description=lazy_word("col_run"))
    def trace(self, row: Feedback) -> SafeString | str:
        return _link(row.message.run, word("trace_title")) if row.message.run else "–"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        # A thumb has no page of its own: it is read beside its run.
        raise Http404
