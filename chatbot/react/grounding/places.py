"""Places that an answer names, and whether an observation names the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chatbot.react.grounding.gazetteer import ALIASES, CHINESE, LATIN
from chatbot.react.grounding.lexicon import word_list


@dataclass(frozen=True, slots=True)
class PlaceMention:
    start: int
    end: int
    text: str


_FACILITY = (
    r"(?:sort(?:ing|ation)?|distribution|delivery|transit|fulfil?ment|logistics|transfer"
    r"|processing|regional|parcel|mail|collection|international|local|main|central|air)?\s?"
    r"(?:hub|centre|center|facility|depot|warehouse|station|airport|branch|office|port"
    r"|terminal|outlet|point)"
)
_NAME = (
    r"[A-Z][\w'’.-]{1,24}"
    r"(?:\s(?:[A-Z][\w'’.-]{0,24}|(?:de|la|of|the|du|am|upon|del)\b)){0,3}"
)
_PATTERNS = (
    re.compile(
        rf"\b(?:at|in|from|to|near|reached|left|through|via|into|towards?|outside)\s"
        rf"(?:the\s|our\s|a\s)?(?P<p>{_NAME})(?:'s)?\s(?i:{_FACILITY})\b"
    ),
    re.compile(
        r"\b(?i:now|currently|presently|right now|located|is|are|was|arrived|moving"
        r"|already|still|sitting|waiting|been|departed|left|reached|last seen|scanned)"
        rf"\s(?i:in|at|near|from|outside)\s(?i:the\s)?(?P<p>{_NAME})"
    ),
    re.compile(rf"(?:目前在|现在在|位于|抵达|到达|已到|到了|停留在)\s?(?P<p>{_NAME})"),
    re.compile(rf"\b(?i:departed|left|reached)\s(?P<p>{_NAME})"),
    re.compile(
        r"(?:抵达|到达|已到|到了|位于|停留在|目前在|现在在|正在|已经在|在|发往|离开|从|经过|运往|送往|运到|送到)"
        r"(?P<p>[\u4e00-\u9fff]{2,8}?)"
        r"(?:市|省|区|县)?(?:分拣中心|分拨中心|转运中心|集散中心|中转站|中转场|营业部|营业点|网点|驿站|仓库|机场|处理中心|集散点|站点)"
    ),
)  # fmt: skip
_NO_PLACE = word_list(r"""
    (?:transit|the|our|your|this|that|it|its|order|orders|parcel|package|delivery|monday
        |tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april
        |may|june|july|august|september|october|november|december|i|we|you|good|here
        |there|today|tomorrow|checked|shipped|delivered|paid|packed|unpaid|pending
        |cancelled|in|out|stock|as|utc|gmt|cny|usd)\b
    [ONW]-?\s?\d
""")
_NO_PLACE_ZH = re.compile(
    r"等|还|该|此|当地|本地|您|最近|附近|同城|上一|下一|我们|目的地|始发"
)
_SUFFIX = re.compile(
    r"(?:特别行政区|自治区|自治州|地区|市|省|州|区|县|hub|city)$", re.I
)
_HAN_PLACE = re.compile("|".join(sorted(CHINESE, key=len, reverse=True)))
_LATIN_PLACE = re.compile(
    r"(?<![A-Za-z])(?:"
    + "|".join(sorted(map(re.escape, LATIN), key=len, reverse=True))
    + r")(?![A-Za-z])"
)


def find_places(text: str, observed: Iterable[str] = ()) -> tuple[PlaceMention, ...]:
    """The places that ``text`` names; ``observed`` are known by their very letters."""
    named = [*_mentions(text), *_literal(text, observed)]
    found = sorted(named, key=lambda one: (one.start, -one.end))
    kept: list[PlaceMention] = []
    for mention in found:
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return tuple(kept)


def _literal(text: str, observed: Iterable[str]) -> Iterator[PlaceMention]:
    for place in observed:
        start = text.find(place) if len(place) > 2 else -1
        while start >= 0:
            yield PlaceMention(start, start + len(place), place)
            start = text.find(place, start + len(place))


def _mentions(text: str) -> Iterator[PlaceMention]:
    for pattern in (_HAN_PLACE, _LATIN_PLACE):
        for match in pattern.finditer(text):
            yield PlaceMention(match.start(), match.end(), match.group())
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            name = match["p"].rstrip(".,'’-")
            if _NO_PLACE.match(name) or _NO_PLACE_ZH.search(name):
                continue
            yield PlaceMention(match.start("p"), match.start("p") + len(name), name)


def same_place(mentioned: str, observed: str) -> bool:
    """Whether two texts name one place, also in two languages or without a suffix."""
    here, there = forms(mentioned), forms(observed)
    return bool(here & there) or any(
        _holds(long, short)
        for one in here
        for other in there
        for long, short in ((one, other), (other, one))
    )


def _holds(long: str, short: str) -> bool:
    if len(short) < 2:
        return False
    if short.isascii():
        return re.search(rf"\b{re.escape(short)}\b", long) is not None
    return short in long


def forms(place: str) -> frozenset[str]:
    """The spellings of a place: folded, without a suffix, and in the other language."""
    plain = " ".join(place.casefold().replace("’", "'").split())
    bare = _SUFFIX.sub("", plain).strip() or plain
    spellings = {plain, bare}
    for match in (*_HAN_PLACE.finditer(plain), *_LATIN_FOLDED.finditer(plain)):
        spellings.add(match.group())
        if other := ALIASES.get(match.group()):
            spellings.add(other)
    return frozenset(spellings)


_LATIN_FOLDED = re.compile(
    r"\b(?:"
    + "|".join(sorted((re.escape(n.casefold()) for n in LATIN), key=len, reverse=True))
    + r")\b"
)
