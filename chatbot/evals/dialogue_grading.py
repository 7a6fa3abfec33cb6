"""What is wrong with a played dialogue; nothing, it is hoped.

The facts of an answer are read here by other means than by the product's own check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from chatbot.evals.dialogue_play import DialoguePlayed, TurnPlayed, calls
from chatbot.react.types import StopReason
from chatbot.understanding.language import detect_language
from chatbot.understanding.needs import Language
from tools.contracts import Json, Observation, ObservationStatus

_HONEST = re.compile(
    r"没能|无法|没有(?:找到|响应)|暂时|查不到"
    r"|\b(?:could not|cannot|did not answer|not answering|unable|open)\b"
)
_FACT = re.compile(
    r"(?<![A-Za-z0-9-])(?:[A-Z]{1,3}-?\d{2,}[A-Z0-9]*|1Z\w{16}|\d{9,})(?![A-Za-z0-9])"
    r"|[¥$€£]\s?[\d,]+\.\d\d"
    r"|\d{1,2}:\d\d(?!\d)"
    r"|\d{1,2}月\d{1,2}日"
    r"|\d{1,2} (?:January|February|March|April|May|June|July|August|September|October"
    r"|November|December)\b"
)


def problems(played: DialoguePlayed) -> list[str]:
    """Each thing that is not as expected, with the turn that it belongs to."""
    found = []
    for number, turn in enumerate(played.turns, start=1):
        found += [f"turn {number}: {one}" for one in _of_turn(turn, played)]
    if played.stored != played.sent:
        found.append(f"{played.sent} messages were sent, {played.stored} are stored")
    if played.unsafe_effects:
        found.append(f"{played.unsafe_effects} changes that nobody agreed to")
    if played.handed_over != played.case.handed_over:
        # A wish for a person is fulfilled whatever else fails, and never invented.
        found.append(f"handed over: {played.handed_over}")
    return found


def unsupported_facts(played: DialoguePlayed) -> list[str]:
    """Numbers, sums and times of the answers that nothing observed or said holds."""
    seen: list[Observation] = []
    said: list[str] = []
    found = []
    for turn in played.turns:
        seen += turn.observations
        said += turn.case.says
        ground = _ground(seen, said, ZoneInfo(played.time_zone))
        found += [
            fact for fact in _FACT.findall(turn.answer) if _plain(fact) not in ground
        ]
    return found


def _of_turn(turn: TurnPlayed, played: DialoguePlayed) -> Iterator[str]:
    case = turn.case
    yield from _of_any_answer(turn)
    untold = list(_untold(turn, ZoneInfo(played.time_zone)))
    if turn.failed_tool:
        # Unless everything is known from elsewhere.
        admitted = _HONEST.search(turn.answer) or turn.stop == StopReason.HANDED_OVER
        if untold and not admitted:
            yield f"hides that {turn.failed_tool} failed"
        return
    if case.tools is not None and calls(turn.observations) != case.tools:
        yield f"called {list(calls(turn.observations))}"
    if case.options is not None and turn.options != case.options:
        yield f"offers {list(turn.options)}"
    for wanted in untold:
        yield f"does not tell {wanted!r}"


def _untold(turn: TurnPlayed, zone: tzinfo) -> Iterator[str]:
    for wanted in turn.case.tell:
        texts = list(_texts(wanted, turn, zone, turn.case.language))
        if not any(text in turn.answer for text in texts):
            yield wanted


def _of_any_answer(turn: TurnPlayed) -> Iterator[str]:
    """What holds of an answer whether or not a lookup failed."""
    case = turn.case
    if turn.answers != 1:
        yield f"{turn.answers} answers"
    if turn.stop not in _stops(turn):
        yield f"ended as {turn.stop}"
    spoken = detect_language(turn.answer, fallback=case.language)
    if spoken != case.language:
        yield f"answered in {spoken}"
    for text in case.never:
        if re.search(text, turn.answer):
            yield f"says {text!r}"


def _stops(turn: TurnPlayed) -> Iterable[str]:
    expected = turn.case.stops
    if not turn.failed_tool:
        return expected
    # What was needed is missing, or only what is told beside it; that it is admitted is
    # looked at in the words.
    known = {StopReason.TOOL_FAILED}
    if turn.failed_tool == "list_my_orders":
        # A rule can be told though nobody knows of which order.
        known.add(StopReason.ANSWERED)
    return expected | known


# ---- what an answer has to tell


def _texts(
    wanted: str, turn: TurnPlayed, zone: tzinfo, language: Language
) -> Iterator[str]:
    if not wanted.startswith("$"):
        yield from wanted.split("|")
        return
    tool, _, path = wanted[1:].partition(".")
    for one in turn.observations:
        if one.tool == tool and one.status is ObservationStatus.OK:
            for value in _values(one.fields, path):
                yield _told(value, zone, language)


def _values(value: Any, path: str) -> Iterator[Json]:
    name, _, rest = path.partition(".")
    if not name:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _values(item, path)
    elif isinstance(value, dict) and value.get(name) is not None:
        yield from _values(value[name], rest)


def _told(value: Json, zone: tzinfo, language: Language) -> str:
    if isinstance(value, dict):
        return str(value.get("amount"))
    if isinstance(value, str) and (moment := _moment(value)):
        return _day(moment.astimezone(zone), language)
    return str(value)


def _moment(value: str) -> datetime | None:
    if not re.match(r"\d{4}-\d\d-\d\dT", value):
        return None
    return datetime.fromisoformat(value)


def _day(moment: datetime, language: Language) -> str:
    if language == "zh":
        return f"{moment.month}月{moment.day}日"
    return f"{moment.day} {moment:%B}"


# ---- what an answer may rest on


def _ground(
    seen: Sequence[Observation], said: Sequence[str], zone: tzinfo
) -> frozenset[str]:
    texts = [*said]
    for one in seen:
        texts.append(json.dumps([one.arguments, one.fields], ensure_ascii=False))
        texts.append(one.observed_at.isoformat())
    ground: set[str] = set()
    for text in texts:
        ground |= {_plain(one) for one in _FACT.findall(text)}
        ground |= {_plain(one) for one in re.findall(r"\d+\.\d\d", text)}
        for stamp in re.findall(r"\d{4}-\d\d-\d\dT[\d:.]+(?:[+-]\d\d:\d\d|Z)?", text):
            moment = datetime.fromisoformat(stamp).astimezone(zone)
            ground |= {_day(moment, "zh"), _day(moment, "en"), f"{moment:%H:%M}"}
    return frozenset(ground)


def _plain(fact: str) -> str:
    return re.sub(r"[¥$€£,\s](?=[\d,.])", "", fact)
