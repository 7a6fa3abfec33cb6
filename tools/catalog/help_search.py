"""Finding the article that answers a question, in Chinese and English.

Okapi BM25 (Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework") over
words cut to their stems and over pairs of Chinese characters. The help centre has some
hundred short articles: an index in memory is built in milliseconds and needs no server.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Count, Max

from tools.models import HelpArticle

_MAX_HITS = 3
_EXCERPT = 600
_K1, _B = 1.2, 0.75
# A title says what an article is about; its words count this many times.
_TITLE_WEIGHT, _KEYWORD_WEIGHT = 4, 3
# How much of the question, by the weight of its words, an article must hold.
_MIN_SHARE = 0.34

_STOP_TEXT = """
a an and any are as at be been by can could did do does for from get had has have how i
if in is it its me my of on or our please s shall should so t than that the their them
there these they this to up us was we were what when where which who why will with would
you your about much many long tell know want need hi hello
"""
# Pairs of characters that are in every question and tell no subject from another.
_STOP_ZH_TEXT = """
怎么 么办 什么 么时 时候 可以 以吗 请问 问一 一下 我的 的吗 多久 多少
你们 们的 吗我 是不 不是 有没 没有 能不 不能 我想 想要 要多 如何
何时 哪里 咨询 询问 知道 需要 这个 那个 了吗
"""
_STOP = frozenset(_STOP_TEXT.split())
_STOP_ZH = frozenset(_STOP_ZH_TEXT.split())
_TOKEN = re.compile(r"[a-z0-9]+|[㐀-鿿]+")
_SUFFIX = re.compile(r"(?:ations?|ings?|ments?|ers?|ies|ed|es|s|y)$")


@dataclass(frozen=True, slots=True)
class Hit:
    slug: str
    title: str
    excerpt: str
    language: str


@dataclass(frozen=True, slots=True)
class _Index:
    hits: Sequence[Hit]
    terms: Sequence[Mapping[str, int]]
    weights: Mapping[str, float]
    mean_length: float


def best_articles(query: str, language: str) -> Sequence[Hit]:
    """The articles that hold enough of the question, best first; often none.

    The question's own language decides; ``language`` does where it has no letters.
    """
    wanted = Counter(terms_of(query))
    spoken = _language_of(query) or language
    index = _index(spoken, _version(spoken))
    total = sum(index.weights.get(term, _unknown(index)) for term in wanted)
    if not total:
        return ()
    scored = []
    for number, counts in enumerate(index.terms):
        held = sum(index.weights[term] for term in wanted if term in counts)
        if held / total >= _MIN_SHARE:
            scored.append((_score(wanted, counts, index), -number))
    scored.sort(reverse=True)
    return [index.hits[-number] for _, number in scored[:_MAX_HITS]]


def terms_of(text: str) -> list[str]:
    """Stems of words, and pairs of neighbouring Chinese characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    terms: list[str] = []
    for token in _TOKEN.findall(plain):
        if token[0].isascii():
            if token not in _STOP:
                terms.append(_stem(token))
        else:
            pairs = (token[i : i + 2] for i in range(len(token) - 1))
            terms += [pair for pair in pairs if pair not in _STOP_ZH]
    return terms


def _stem(word: str) -> str:
    # Cancel, cancelled and cancellation meet; a real stemmer does no better here.
    stem = _SUFFIX.sub("", word) if len(word) > 4 else word
    return re.sub(r"(.)\1$", r"\1", stem) if len(stem) > 3 else stem


def _language_of(text: str) -> str | None:
    if re.search(r"[㐀-鿿]", text):
        return "zh"
    return "en" if re.search(r"[A-Za-z]", text) else None


def _unknown(index: _Index) -> float:
    """The weight of a word that no article has: it counts against every article."""
    return math.log(1 + len(index.hits) * 2)


def _score(wanted: Counter[str], counts: Mapping[str, int], index: _Index) -> float:
    length = sum(counts.values())
    score = 0.0
    for term in wanted:
        if count := counts.get(term, 0):
            damped = count + _K1 * (1 - _B + _B * length / index.mean_length)
            score += index.weights[term] * count * (_K1 + 1) / damped
    return score


def _version(language: str) -> tuple[int, str]:
    """Changes whenever an article of the language was edited, added or taken away."""
    state = HelpArticle.objects.filter(language=language, published=True).aggregate(
        count=Count("id"), latest=Max("updated_at")
    )
    return state["count"], str(state["latest"])


@lru_cache(maxsize=8)
def _index(language: str, version: tuple[int, str]) -> _Index:
    hits: list[Hit] = []
    terms: list[Mapping[str, int]] = []
    articles = HelpArticle.objects.filter(language=language, published=True)
    for article in articles.order_by("slug"):
        excerpt = " ".join(article.body.split())[:_EXCERPT]
        hits.append(Hit(article.slug, article.title, excerpt, language))
        counts = Counter(terms_of(article.body))
        for term in terms_of(article.title):
            counts[term] += _TITLE_WEIGHT
        for term in terms_of(article.keywords):
            counts[term] += _KEYWORD_WEIGHT
        terms.append(counts)
    frequency = Counter(term for counts in terms for term in counts)
    weights = {
        term: math.log(1 + (len(terms) - count + 0.5) / (count + 0.5))
        for term, count in frequency.items()
    }
    lengths = [sum(counts.values()) for counts in terms]
    return _Index(hits, terms, weights, sum(lengths) / max(1, len(lengths)) or 1.0)
