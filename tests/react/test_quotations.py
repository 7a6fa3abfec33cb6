"""An article's own words say nothing of an order, whatever states they name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatbot.assistant.proofs import PROOFS
from chatbot.react.coverage import answer_covers_question
from chatbot.react.types import Background, Coverage
from chatbot.react.wording import Page
from chatbot.understanding.needs import Language, Need, read_question
from tests.react.world import order, seen, shipment
from tools.contracts import Json, Observation
from tools.help_seed import FOLDER, articles_in

ARTICLES = [
    (path.stem, article.language, article.title, " ".join(article.body.split()))
    for path in sorted(FOLDER.glob("*.md"))
    for article in articles_in(path.stem, path.read_text("utf-8"))
]


def _search(slug: str, language: str, title: str, body: str) -> Observation:
    found: dict[str, Json] = {
        "slug": slug,
        "title": title,
        "excerpt": body,
        "url": f"/help/{slug}/",
        "language": language,
    }
    return seen("search_help", {"query": "?"}, {"articles": [found]}, number=9)


def _check(answer: str, found: list[Observation], language: Language) -> Coverage:
    question = read_question("O-204?", language=language)
    return answer_covers_question(
        answer,
        question=replace(question, needs=(Need.ORDER_STATUS, Need.POLICY)),
        observations=found,
        proofs=PROOFS,
        background=Background(language=language, time_zone="Asia/Shanghai"),
    )


@pytest.mark.parametrize("article", ARTICLES, ids=lambda one: f"{one[0]}-{one[1]}")
def test_every_article_may_be_quoted_beside_an_order(
    article: tuple[str, Language, str, str],
) -> None:
    language = article[1]
    found = [order(), shipment(number=2), _search(*article)]
    page = Page(found, language, "Asia/Shanghai")
    page.say(page.words.order(page.record("O-204"), page.now), "obs-1")
    page.as_of()
    page.new_paragraph()
    page.quote(found[-1])
    coverage = _check(page.text(), found, language)
    assert coverage.passed, (coverage.unsupported, coverage.unanswered)


@pytest.mark.parametrize(
    "said",
    [
        "Order O-204 has shipped. The parcel was delivered. Read more: /help/rules/",
        "Order O-204 has shipped and was delivered. Parcels are delivered within ten "
        "days of payment. Read more: /help/rules/",
        "Order O-204 was delivered: parcels are delivered within ten days of payment.",
    ],
)
def test_an_article_proves_nothing_of_an_order(said: str) -> None:
    body = "The parcel was delivered. Parcels are delivered within ten days of payment."
    found = [order(), _search("rules", "en", "Our rules", body)]
    refused = _check(said, found, "en").unsupported
    assert any(claim.kind == "status" for claim in refused)
