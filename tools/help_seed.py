"""The help centre's first articles: one file of tools/help_articles has both languages.

keywords.en: words, that, customers, use
keywords.zh: 客户 会用的 词
# English title

English text.

# 中文标题

中文正文。
"""

from __future__ import annotations

import re
from pathlib import Path

from tools.models import HelpArticle

FOLDER = Path(__file__).with_name("help_articles")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def seed_help() -> int:
    """Add what is missing; how many articles that was. Edited ones stay as they are."""
    there = set(HelpArticle.objects.values_list("slug", "language"))
    missing = [
        article
        for path in sorted(FOLDER.glob("*.md"))
        for article in articles_in(path.stem, path.read_text("utf-8"))
        if (article.slug, article.language) not in there
    ]
    HelpArticle.objects.bulk_create(missing)
    return len(missing)


def articles_in(slug: str, text: str) -> list[HelpArticle]:
    """The English and the Chinese article of one file."""
    head, *parts = _TITLE.split(text)
    if len(parts) != 4:
        raise ValueError(f"{slug}: two titles are needed, an English and a Chinese one")
    keywords = dict(re.findall(r"^keywords\.(en|zh): *(.*)$", head, re.MULTILINE))
    return [
        HelpArticle(
            slug=slug,
            language=language,
            title=title.strip(),
            body=body.strip(),
            keywords=keywords.get(language, ""),
        )
        for language, title, body in zip(
            ("en", "zh"), parts[0::2], parts[1::2], strict=True
        )
    ]
