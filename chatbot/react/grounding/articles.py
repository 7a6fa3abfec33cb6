"""The help centre's texts that were observed: the only ground of a policy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from chatbot.react.facts import Fact
from chatbot.react.grounding.measures import in_one_spelling
from chatbot.understanding.needs import Language
from chatbot.understanding.text import narrow

_WORD = re.compile(r"\|[^|\s]{2,12}\||[a-z0-9]{2,}|[\u4e00-\u9fff]", re.I)
_COMMON = frozenset(
    [
        "the",
        "an",
        "and",
        "or",
        "of",
        "to",
        "in",
        "on",
        "for",
        "is",
        "are",
        "be",
        "your",
        "you",
        "it",
        "its",
        "with",
        "as",
        "at",
        "by",
        "this",
        "that",
        "we",
        "our",
        "can",
        "will",
        "have",
        "has",
        "from",
        "if",
        "not",
    ]
)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


class Articles:
    """What articles say, asked by words: a paraphrase of one shares most of its words,
    and every figure of it must stand in the article."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        texts = [_plain(fact.value) for fact in facts if isinstance(fact.value, str)]
        self.any = bool(texts)
        self._plain = _squeezed(" ".join(texts))
        self._tokens = frozenset(_tokens(" ".join(texts)))
        self._figures = frozenset(_FIGURE.findall(" ".join(texts)))
        self._payers = _payers(" ".join(texts))
        self._names = tuple(
            _squeezed(_plain(fact.value))
            for fact in facts
            if fact.name in ("title", "url") and isinstance(fact.value, str)
        )
        self.languages = frozenset(
            str(fact.value) for fact in facts if fact.name == "language"
        )

    def hold(self, text: str) -> bool:
        """Whether an article holds these very words."""
        wanted = _squeezed(_plain(text))
        return len(wanted) >= 2 and wanted in self._plain

    def tell(self, sentence: str) -> bool:
        """Whether a sentence says what the articles say, as far as words can tell."""
        return (
            self.any
            and self.share(sentence) >= 0.6
            and self._has_figures(sentence)
            and _payers(_plain(sentence)) <= self._payers
        )

    def share(self, text: str) -> float:
        """The part of the words of ``text`` that an article has, from 0 to 1."""
        tokens = list(_tokens(_plain(text)))
        if not self.any or not tokens:
            return 0.0
        return sum(token in self._tokens for token in tokens) / len(tokens)

    def quoted_in(self, text: str) -> bool:
        """Whether a title or link of an article stands in ``text``."""
        plain = _squeezed(_plain(text))
        return any(name in plain for name in self._names)

    def is_foreign_to(self, language: Language) -> bool:
        """Whether there are articles, and none in this language."""
        return bool(self.languages) and language not in self.languages

    def _has_figures(self, sentence: str) -> bool:
        return all(one in self._figures for one in _FIGURE.findall(_plain(sentence)))


_SENTENCE = re.compile(r"[^。！？!?\n]+?(?:[。！？!?\n]|\.(?=\s|$)|$)")
# Shorter ones may stand in an answer by chance, and mean an order there.
_SHORTEST_QUOTE = {"zh": 10, "en": 30}


def without_quotations(text: str, facts: Sequence[Fact]) -> str:
    """A plain ``text`` of which whole sentences of cited articles are blotted out.

    They are the shop's own words on its rules, whatever states, places and times they
    name: nothing in them is said of an order. An article is cited by its link.
    """
    links = {fact.path.rpartition(".")[0] for fact in facts if _is_link_in(text, fact)}
    for fact in facts:
        if fact.name != "excerpt" or fact.path.rpartition(".")[0] not in links:
            continue
        for stretch in _stretches(narrow(str(fact.value)), text):
            # The full stop stays: it parts what comes before from what comes after.
            text = text.replace(stretch, "□" * (len(stretch) - 1) + stretch[-1])
    # The words of a link ("/help/unpaid-order/") say nothing either.
    for fact in facts:
        if fact.name == "url":
            text = text.replace(str(fact.value), "□" * len(str(fact.value)))
    return text


def _is_link_in(text: str, fact: Fact) -> bool:
    return fact.name == "url" and str(fact.value) in text


def _stretches(article: str, text: str) -> Iterator[str]:
    """The stretches of whole sentences that stand in ``text`` as they do in the
    article, where they are long enough to be a quotation."""
    bounds = [match.span() for match in _SENTENCE.finditer(article)]
    place = 0
    while place < len(bounds):
        start = bounds[place][0]
        place, stretch = place + 1, ""
        for later in range(place, len(bounds) + 1):
            longer = article[start : bounds[later - 1][1]].strip()
            if longer not in text:
                break
            place, stretch = later, longer
        spoken = "zh" if any("\u4e00" <= one <= "\u9fff" for one in stretch) else "en"
        if len(stretch) >= _SHORTEST_QUOTE[spoken]:
            yield stretch


_PARTICLES = re.compile(r"[哦呢啦哈嘛呀~亲您的了都就也]|(?<=可)以|之(?=内|前|后)")
_FREE = re.compile(r"免运费|免邮费|免邮")


# Who bears a cost is one word among many, and turns the rule round.
_BUYER = r"(?:您自己|您本人|自己|您|买家|买方|顾客|客户)"
_SELLER = r"(?:我们|我方|卖家|商家|店铺|本店|平台)"
_BUYER_BEARS = re.compile(
    rf"{_BUYER}[^,，。;；]{{0,3}}(?:承担|负担|支付|出|付)"
    r"|\b(?:paid|borne|covered) by (?:you|the (?:buyer|customer))"
    r"|\b(?:you|buyer|customer)(?: will| must| have to| has to| need to)?"
    r" (?:pay|cover|bear)",
    re.IGNORECASE,
)
_SELLER_BEARS = re.compile(
    rf"{_SELLER}[^,，。;；]{{0,3}}(?:承担|负担|支付|出|付|报销|包)"
    r"|\b(?:paid|borne|covered) by (?:us|the (?:seller|shop|store))"
    r"|\b(?:we|seller|shop|store)(?: will| must)? (?:pay|cover|bear|reimburse)",
    re.IGNORECASE,
)


def _payers(text: str) -> frozenset[str]:
    """Who bears a cost, by this text."""
    sides = (("buyer", _BUYER_BEARS), ("seller", _SELLER_BEARS))
    return frozenset(side for side, pattern in sides if pattern.search(text))


_OWN_COST = re.compile(
    r"(?:由|要|需要?)?(?:您自己|您本人|自己|您)(?=来?(?:承担|负担|出|付))"
)


def _plain(text: str) -> str:
    return _OWN_COST.sub("由买家", in_one_spelling(narrow(text)))


def _squeezed(text: str) -> str:
    return _FREE.sub("包邮", re.sub(r"\s+", "", text).casefold())


def _tokens(text: str) -> Iterable[str]:
    previous = ""
    for match in _WORD.finditer(_PARTICLES.sub("", _FREE.sub("包邮", text))):
        word = match.group().casefold()
        if word.isascii():
            previous = ""
            if word not in _COMMON:
                yield word.rstrip("s")
            continue
        if previous:
            yield previous + word
        previous = word
