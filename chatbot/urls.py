from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from chatbot.security import REPORT_PATH, csp_report

urlpatterns = [
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path(REPORT_PATH.lstrip("/"), csp_report, name="csp-report"),
    path("hooks/", include("chatbot.workflow.urls")),
    path("help/", include("tools.urls")),
    path("", include("chatbot.chat.urls")),
]
