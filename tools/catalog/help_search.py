"""Finding the articles that answer a question, in Chinese and English; often none.

Okapi BM25 (Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework") ranks
what passes two gates: the article holds most of what the question is about, or the
question holds one of the phrases that its author gave it. The help centre has a hundred
or two short articles: an index in memory is made in milliseconds and needs no server.
docs/decisions/0014-the-help-search-ranks-in-memory.md has the figures.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Count, Max

from tools.catalog.help_terms import is_chinese, plain, stem, terms_of
from tools.models import HelpArticle

_MAX_HITS = 3
_K1, _B = 1.2, 0.75
# A title says what an article is about: its words count so many times, those of the
# keywords as well.
_TITLE, _KEYWORDS = 4, 3
# The part of a question, by the weight of its terms, that an article must hold.
_MIN_SHARE = 0.5
# And the part that its title and keywords must hold, one word at least: those of the
# body alone ("points" of "pick-up points") say nothing of its subject.
_MIN_SUBJECT = 0.1
# A single English word opens an article only if it is at least so rare.
_MIN_WEIGHT = 1.2
# A phrase of the author's is worth so many times its terms.
_PHRASE = 2.0
# A further hit with less than this part of the best score is another subject.
_MIN_OF_BEST = 0.45


@dataclass(frozen=True, slots=True)
class Hit:
    slug: str
    title: str
    body: str
    language: str


@dataclass(frozen=True, slots=True)
class _Entry:
    hit: Hit
    terms: Mapping[str, int]
    subject: frozenset[str]
    phrases: Sequence[str]

    @property
    def length(self) -> int:
        return sum(self.terms.values())


@dataclass(frozen=True, slots=True)
class _Index:
    entries: Sequence[_Entry]
    weights: Mapping[str, float]
    mean_length: float

    def tells_apart(self, phrase: str, language: str) -> bool:
        """Whether a phrase may open an article by itself: "ship" is in every second."""
        terms = terms_of(phrase)
        if language == "zh" or len(terms) != 1:
            return True
        return self.weight(terms[0]) >= _MIN_WEIGHT

    def weight(self, term: str) -> float:
        """Of a term that no article has: it counts against every article."""
        return self.weights.get(term, 0.7 * math.log(1 + len(self.entries)))


def best_articles(query: str, language: str) -> Sequence[Hit]:
    """At most three, best first, in the question's language.

    ``language`` decides where the question has no letters of either.
    """
    if is_chinese(query):
        language = "zh"
    elif re.search("[A-Za-z]{2}", query):
        language = "en"
    index = _index(language, _version(language))
    wanted = Counter(terms_of(query))
    spoken = _spoken(query, language)
    scored = []
    for place, entry in enumerate(index.entries):
        phrases = [
            phrase
            for phrase in entry.phrases
            if phrase in spoken and index.tells_apart(phrase, language)
        ]
        if phrases or _holds_enough(wanted, entry, index):
            scored.append((_score(wanted, entry, index, phrases), -place))
    scored.sort(reverse=True)
    return [
        index.entries[-place].hit
        for score, place in scored[:_MAX_HITS]
        if score >= scored[0][0] * _MIN_OF_BEST
    ]


def _holds_enough(wanted: Iterable[str], entry: _Entry, index: _Index) -> bool:
    total = held = subject = 0.0
    for term in wanted:
        weight = index.weight(term)
        total += weight
        held += weight if term in entry.terms else 0.0
        subject += weight if term in entry.subject else 0.0
    return total > 0 and held / total >= _MIN_SHARE and subject / total >= _MIN_SUBJECT


def _score(
    wanted: Iterable[str], entry: _Entry, index: _Index, phrases: Iterable[str]
) -> float:
    score = 0.0
    for term in wanted:
        if count := entry.terms.get(term, 0):
            damped = count + _K1 * (1 - _B + _B * entry.length / index.mean_length)
            score += index.weight(term) * count * (_K1 + 1) / damped
    inside = {term for phrase in phrases for term in terms_of(phrase) or [phrase]}
    return score + _PHRASE * sum(index.weight(term) for term in inside)


def _spoken(text: str, language: str) -> str:
    """What phrases are looked for in: Chinese as it is, English by its stems."""
    if language == "zh":
        return plain(text)
    words = (stem(word) for word in re.findall("[a-z0-9]+", plain(text)))
    return f" {' '.join(words)} "


def _phrases(keywords: str, language: str) -> Sequence[str]:
    """The author's phrases: parted by commas in English, by spaces in Chinese."""
    parts = re.split(r"[,，、\s]+" if language == "zh" else "[,，]", keywords)
    return [
        _spoken(part, language)
        for part in parts
        # Common words alone are no phrase, but four such characters are ("几天能到").
        if terms_of(part) or (language == "zh" and len(part) >= 4)
    ]


def _version(language: str) -> tuple[int, str]:
    """Changes whenever an article of the language was edited, added or taken away."""
    state = HelpArticle.objects.filter(language=language, published=True).aggregate(
        count=Count("id"), latest=Max("updated_at")
    )
    return state["count"], str(state["latest"])


@lru_cache(maxsize=8)
def _index(language: str, version: tuple[int, str]) -> _Index:
    articles = HelpArticle.objects.filter(language=language, published=True)
    entries = [_entry(article) for article in articles.order_by("slug")]
    frequency = Counter(term for entry in entries for term in entry.terms)
    count = len(entries)
    weights = {
        term: math.log(1 + (count - holding + 0.5) / (holding + 0.5))
        for term, holding in frequency.items()
    }
    lengths = [entry.length for entry in entries]
    return _Index(entries, weights, sum(lengths) / max(1, count) or 1.0)


def _entry(article: HelpArticle) -> _Entry:
    counts = Counter(terms_of(article.body))
    for term in terms_of(article.title):
        counts[term] += _TITLE
    for term in terms_of(article.keywords):
        counts[term] += _KEYWORDS
    return _Entry(
        Hit(article.slug, article.title, article.body, article.language),
        counts,
        frozenset(terms_of(f"{article.title} {article.keywords}")),
        _phrases(article.keywords, article.language),
    )
