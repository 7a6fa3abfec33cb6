from __future__ import annotations

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

from chatbot.security import REPORT_PATH, csp_report

urlpatterns = [
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path(REPORT_PATH.lstrip("/"), csp_report, name="csp-report"),
]
if find_spec("chatbot.chat.services"):
    urlpatterns.append(path("", include("chatbot.chat.urls")))
