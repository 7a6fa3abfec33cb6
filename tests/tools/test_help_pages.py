"""The help centre's pages, which answers link to: for everyone, in both languages."""

from __future__ import annotations

import pytest
from django.test import Client

from tools.help_seed import seed_help
from tools.models import HelpArticle

pytestmark = pytest.mark.django_db
HOSTILE = '<script>alert(1)</script>{% include "x" %}{{ request }}<img src=x onerror=a>'


@pytest.fixture(autouse=True)
def _articles(db: None) -> None:
    seed_help()


@pytest.mark.parametrize(
    ("accepts", "title"), [("en", "Shipping fees"), ("zh-CN,zh;q=0.9", "运费")]
)
def test_an_article_is_shown_in_the_visitors_language(
    client: Client, accepts: str, title: str
) -> None:
    page = client.get("/help/shipping-fees/", headers={"accept-language": accepts})
    assert page.status_code == 200
    assert f"<h1>{title}</h1>" in page.content.decode()


def test_an_article_in_one_language_is_shown_to_all(client: Client) -> None:
    HelpArticle.objects.filter(slug="customs", language="zh").delete()
    page = client.get("/help/customs/", headers={"accept-language": "zh-CN"})
    assert "Customs, duties" in page.content.decode()


def test_every_article_has_a_page_and_stands_in_the_list(client: Client) -> None:
    listing = client.get("/help/", headers={"accept-language": "en"}).content.decode()
    for article in HelpArticle.objects.filter(language="en"):
        assert f'href="{article.get_absolute_url()}"' in listing
        assert client.get(article.get_absolute_url()).status_code == 200


@pytest.mark.parametrize("slug", ["nothing-here", "..", "x" * 200])
def test_no_such_article_is_a_404(client: Client, slug: str) -> None:
    assert client.get(f"/help/{slug}/").status_code == 404


def test_an_article_taken_back_has_no_page(client: Client) -> None:
    HelpArticle.objects.filter(slug="warranty").update(published=False)
    assert client.get("/help/warranty/").status_code == 404
    assert "/help/warranty/" not in client.get("/help/").content.decode()


def test_what_an_editor_writes_stays_text(client: Client) -> None:
    HelpArticle.objects.filter(slug="warranty").update(title=HOSTILE, body=HOSTILE)
    for url in ("/help/warranty/", "/help/"):
        text = client.get(url).content.decode()
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "{{ request }}" in text
