"""Logging in, for customers and staff: too many failed attempts are refused."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.utils import timezone

from chatbot.accounts.throttle import Attempt
from chatbot.chat import guests
from chatbot.chat.words import word

_LOCKED = "too_many_attempts"


class LogInForm(AuthenticationForm):
    """Says the same of a right and of a wrong password while it refuses."""

    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username")
        if username is None or not self.cleaned_data.get("password"):
            return super().clean()
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        attempt = Attempt(username, address, now=timezone.now())
        if not attempt.begin():
            minutes = -(-settings.LOGIN_WINDOW_SECONDS // 60)
            raise ValidationError(
                word("login_locked", minutes=f"{minutes:g}"), code=_LOCKED
            )
        cleaned = super().clean()
        attempt.succeed()
        return cleaned

    @property
    def is_locked(self) -> bool:
        return self.has_error("__all__", _LOCKED)


class StaffLogInForm(LogInForm, AdminAuthenticationForm):
    """The admin's form, which lets in nobody but staff."""


class LogInView(LoginView):
    authentication_form = LogInForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        is_guest = guests.account_of(self.request.session) is not None
        return super().get_context_data(
            guests=settings.GUEST_CHAT, is_guest=is_guest, **kwargs
        )

    def form_valid(self, form: Any) -> HttpResponse:
        # Whoever signs in is no visitor any more: their conversation stays behind.
        self.request.session.pop(guests.SESSION_KEY, None)
        return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        if form.is_locked:
            response.status_code = 429
            response["Retry-After"] = f"{settings.LOGIN_WINDOW_SECONDS:.0f}"
        return response
