"""How the audit lists stay fast: filters on the run's own columns, a bounded count."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any, TypeAlias
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import F, Q, QuerySet
from django.db.models.lookups import GreaterThanOrEqual, LessThan
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import cached_property

from chatbot.chat.models import Account, Run
from chatbot.chat.words import ending_word, lazy_word, word
from chatbot.react.types import StopReason
from tools.contracts import ObservationStatus, canonical_number

Choices: TypeAlias = list[tuple[str, str]]

_RECENT = 500  # runs from which a filter takes the names it offers


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts no further than ``MOST`` rows: counting a million takes seconds."""

    MOST = 2_000

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[: self.MOST].count())

    @property
    def cut(self) -> bool:
        """Whether there may be more rows than these pages show."""
        return self.count >= self.MOST


class StopFilter(admin.SimpleListFilter):
    title = lazy_word("col_stop_reason")
    parameter_name = "stop_reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(reason, ending_word(reason)) for reason in StopReason]

    def queryset(self, request: HttpRequest, rows: QuerySet[Run]) -> QuerySet[Run]:
        reason = self.value()
        return rows.filter(stop_reason=reason) if reason else rows


class ToolFilter(admin.SimpleListFilter):
    title = lazy_word("col_tool")
    parameter_name = "tool"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return _names(_recent("tools"))

    def queryset(self, request: HttpRequest, rows: QuerySet[Run]) -> QuerySet[Run]:
        name = self.value()
        return rows.filter(tools__contains=name) if name else rows


class ToolErrorFilter(admin.SimpleListFilter):
    title = lazy_word("col_tool_error")
    parameter_name = "tool_error"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        problems = [status for status in ObservationStatus if status != "ok"]
        return [("any", word("filter_any")), *((name, name) for name in problems)]

    def queryset(self, request: HttpRequest, rows: QuerySet[Run]) -> QuerySet[Run]:
        match self.value():
            case None:
                return rows
            case "any":
                return rows.exclude(tool_errors="")
            case status:
                return rows.filter(tool_errors__contains=status)


class ModelFilter(admin.SimpleListFilter):
    title = lazy_word("col_model")
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        recent = Run.objects.order_by("-created_at").values_list("model", flat=True)
        return [(name, name) for name in sorted({*recent[:_RECENT]}) if name]

    def queryset(self, request: HttpRequest, rows: QuerySet[Run]) -> QuerySet[Run]:
        return rows.filter(model=self.value()) if self.value() else rows


class DayFilter(admin.SimpleListFilter):
    """Today, yesterday, the last days; or any day as ``?day=2026-12-01``."""

    title = lazy_word("col_day")
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        names = ["today", "yesterday", "week", "month"]
        return [(name, word(f"filter_{name}")) for name in names]

    def queryset(self, request: HttpRequest, rows: QuerySet[Run]) -> QuerySet[Run]:
        span = _days(self.value() or "", timezone.localdate())
        if span is None:
            return rows
        first, last = (_midnight(day) for day in span)
        return rows.filter(created_at__gte=first, created_at__lt=last)


class DurationFilter(admin.SimpleListFilter):
    title = lazy_word("col_duration")
    parameter_name = "seconds"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [
            ("0-2", "< 2 s"),
            ("2-10", "2–10 s"),
            ("10-30", "10–30 s"),
            ("30-", "> 30 s"),
        ]

    def queryset(self, request: HttpRequest, rows: QuerySet[Run]) -> QuerySet[Run]:
        low, high = _bounds(self.value() or "")
        if low:
            rows = rows.filter(duration_ms__gte=low * 1000)
        return rows.filter(duration_ms__lt=high * 1000) if high else rows


class TokenFilter(admin.SimpleListFilter):
    title = lazy_word("col_tokens")
    parameter_name = "tokens"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [
            ("0-1000", "< 1,000"),
            ("1000-10000", "1,000–10,000"),
            ("10000-30000", "10,000–30,000"),
            ("30000-", "> 30,000"),
        ]

    def queryset(self, request: HttpRequest, rows: QuerySet[Run]) -> QuerySet[Run]:
        low, high = _bounds(self.value() or "")
        used = F("prompt_tokens") + F("completion_tokens")
        if low:
            rows = rows.filter(GreaterThanOrEqual(used, low))
        return rows.filter(LessThan(used, high)) if high else rows


def search_runs(rows: QuerySet[Run], term: str) -> QuerySet[Run]:
    """Runs of an order or tracking number, a customer, a conversation, or one run."""
    term = term.strip()
    if not term:
        return rows
    try:
        wanted = UUID(term)
    except ValueError:
        pass
    else:
        return rows.filter(Q(conversation_id=wanted) | Q(pk=wanted))
    found = Q(conversation__account__in=list(find_accounts(term)))
    if number := canonical_number(term):
        found |= Q(numbers__contains=number)
    return rows.filter(found)


def find_accounts(term: str) -> Iterable[int]:
    """The accounts that a name, log-in or customer number means; at most 50."""
    by_name = Q(user__username__iexact=term) | Q(customer_id__iexact=term)
    by_name |= Q(user__first_name__iexact=term) | Q(user__last_name__iexact=term)
    return Account.objects.filter(by_name).values_list("pk", flat=True)[:50]


def _recent(column: str) -> Iterable[str]:
    return Run.objects.order_by("-created_at").values_list(column, flat=True)[:_RECENT]


def _names(lines: Iterable[str]) -> Choices:
    names = {name for line in lines for name in line.split()}
    return [(name, name) for name in sorted(names)]


def _days(value: str, today: date) -> tuple[date, date] | None:
    """First day and the day after the last one."""
    tomorrow = today + timedelta(days=1)
    back = {"today": 0, "week": 6, "month": 29}
    if value == "yesterday":
        return today - timedelta(days=1), today
    if value in back:
        return today - timedelta(days=back[value]), tomorrow
    try:
        day = date.fromisoformat(value)
        return day, day + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime(day.year, day.month, day.day))  # noqa: DTZ001


def _bounds(value: str) -> tuple[int, int]:
    low, _, high = value.partition("-")
    return (
        int(low) if low.isdecimal() and low.isascii() else 0,
        int(high) if high.isdecimal() and high.isascii() else 0,
    )
