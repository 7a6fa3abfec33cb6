"""What a tool returned, as a model is shown it: data, fenced and short."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import orjson

from chatbot.llm.words import words_for
from chatbot.understanding.needs import Language
from tools.contracts import Json, Observation, ObservationStatus

# Text for people: worth its tokens once, but no fact that an answer may need later.
_NO_FACTS = frozenset(
    {"note", "text", "excerpt", "summary", "last_event", "events", "tracking_url"}
)
# Rows of each list and characters of each text, tried in turn until it fits.
_SIZES = ((50, 2000), (20, 500), (10, 200), (5, 100), (3, 60), (1, 30), (0, 0))


def observation_text(
    observation: Observation,
    *,
    language: Language,
    time_zone: str,
    max_bytes: int,
    facts_only: bool = False,
) -> str:
    """The result of a call in at most ``max_bytes`` of data, and one line around it.

    The data is one line of JSON: whatever a shop or a carrier wrote cannot end it.
    Times are in the customer's zone. The time of the observation is left out on
    purpose: small models take it for a time of arrival.
    """
    words = words_for(language)
    if observation.status is not ObservationStatus.OK:
        return words.statuses[observation.status]
    fields = _local(observation.fields, _zone(time_zone))
    if facts_only:
        fields = _facts(fields)
    for rows, characters in _SIZES:
        data = orjson.dumps(_cut(fields, rows, characters), option=orjson.OPT_SORT_KEYS)
        if len(data) <= max_bytes:
            break
    else:
        data = b"{}"
    return f"{words.data.format(observation.source)}\n{data.decode()}"


def _cut(value: Json, rows: int, characters: int) -> Json:
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[:characters]}…"
    if isinstance(value, list):
        return [_cut(child, rows, characters) for child in value[:rows]]
    if isinstance(value, dict):
        return {key: _cut(child, rows, characters) for key, child in value.items()}
    return value


def _facts(value: Json) -> Json:
    if isinstance(value, list):
        return [_facts(child) for child in value]
    if isinstance(value, dict):
        return {
            key: _facts(child)
            for key, child in value.items()
            if key not in _NO_FACTS and child is not None
        }
    return value


def _local(value: object, zone: ZoneInfo, key: str = "") -> Json:
    if isinstance(value, Mapping):
        return {name: _local(child, zone, name) for name, child in value.items()}
    if isinstance(value, list):
        return [_local(child, zone, key) for child in value]
    if isinstance(value, str) and (key == "at" or key.endswith("_at")):
        return _local_time(value, zone)
    return value if isinstance(value, str | int | float | bool) else None


def _local_time(value: str, zone: ZoneInfo) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return value
    if moment.tzinfo is None:
        return value
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M")


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
