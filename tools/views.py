"""The help centre's public pages, in the page's language."""

from __future__ import annotations

import re

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language

from tools.models import HelpArticle


def help_index(request: HttpRequest) -> HttpResponse:
    articles = HelpArticle.objects.filter(published=True, language=_language())
    return render(request, "help/index.html", {"articles": articles.order_by("title")})


def help_article(request: HttpRequest, slug: str) -> HttpResponse:
    """The article in the page's language; in the other one where only that is there."""
    found = {
        article.language: article
        for article in HelpArticle.objects.filter(slug=slug, published=True)
    }
    if not found:
        raise Http404
    article = found.get(_language()) or next(iter(found.values()))
    paragraphs = [part for part in re.split(r"\n\s*\n", article.body) if part.strip()]
    return render(
        request,
        "help/article.html",
        {"article": article, "paragraphs": paragraphs},
    )


def _language() -> str:
    return "zh" if (get_language() or "").startswith("zh") else "en"
