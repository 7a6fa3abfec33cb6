"""The admin site, of which signed-in customers see nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import reverse

View = Callable[..., HttpResponseBase]


class StaffSite(AdminSite):
    """Staff's pages. To anybody else who is signed in they are not there.

    The front page still offers the log-in, for those who have another account.
    """

    def admin_view(self, view: View, cacheable: bool = False) -> View:  # type: ignore[override]
        shown = super().admin_view(view, cacheable)

        @wraps(shown)
        def for_staff(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            front = reverse("admin:index", current_app=self.name)
            stranger = request.user.is_authenticated and not self.has_permission(
                request
            )
            # As everywhere else: what is not yours looks like what is not there.
            if stranger and request.path != front:
                raise Http404
            return shown(request, *args, **kwargs)

        return for_staff


class StaffSiteConfig(AdminConfig):
    default_site = "chatbot.staff_site.StaffSite"
