"""What the tools themselves keep."""

from __future__ import annotations

from django.db import models
from django.urls import reverse

from tools.actions.models import ActionPolicy, ActionRequest, Approval

__all__ = ["ActionPolicy", "ActionRequest", "Approval", "HelpArticle"]


class HelpArticle(models.Model):
    """One article of the help centre in one language; customers read it at its page.

    The two languages of a subject share their ``slug``.
    """

    slug = models.SlugField(max_length=80)
    language = models.CharField(
        max_length=2, choices=[("zh", "中文"), ("en", "English")]
    )
    title = models.CharField(max_length=120)
    body = models.TextField(help_text="Plain text; a blank line parts paragraphs.")
    keywords = models.CharField(
        max_length=300,
        blank=True,
        default="",
        help_text="Other words that customers use for this, for the search only.",
    )
    published = models.BooleanField(default=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["slug", "language"], name="help_article_once_per_language"
            )
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("help_article", args=[self.slug])
