from __future__ import annotations

from django.urls import path

from tools import views

urlpatterns = [
    path("", views.help_index, name="help_index"),
    path("<slug:slug>/", views.help_article, name="help_article"),
]
