from __future__ import annotations

from django.contrib import admin

from tools.models import HelpArticle


@admin.register(HelpArticle)
class HelpArticleAdmin(admin.ModelAdmin[HelpArticle]):
    list_display = ("title", "slug", "language", "published", "updated_at")
    list_filter = ("language", "published")
    search_fields = ("title", "body", "slug")
