"""What is written with the end of a run: answer, proof, and who has to look at it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from django.conf import settings

from chatbot.chat.budget import cost_of
from chatbot.chat.leases import Claim
from chatbot.chat.models import HandOver, Message, RunPhase, Speaker
from chatbot.chat.stored import NUMBER_KINDS
from chatbot.react import state as known
from chatbot.react.facts import facts_of
from chatbot.react.types import (
    Acted,
    Coverage,
    HandOverMode,
    LoopEvent,
    ModelFailed,
    Refused,
    RunState,
    SentBack,
    SlotState,
    Started,
    Stopped,
    Usage,
)
from chatbot.understanding.needs import Question
from tools.contracts import Json, Observation, ObservationStatus, canonical_number
from tools.redaction import redact

JsonObject: TypeAlias = dict[str, Any]

_MAX_LINKS = 4


# ---- the answer and its proof


def answer_row(claim: Claim, stopped: Stopped, state: RunState) -> Message:
    """The unsaved message that the customer reads."""
    evidence = evidence_of(stopped.coverage, known.observations(state))
    form = {"guest": _form(stopped, state)} if stopped.form else {}
    return Message(
        run_id=claim.run_id,
        conversation_id=claim.conversation_id,
        speaker=Speaker.ASSISTANT,
        text=stopped.answer,
        extras={
            "evidence": evidence,
            "options": list(stopped.options),
            "links": links_of(evidence, known.observations(state)),
            "reason": stopped.reason,
            "hand_over": stopped.hand_over,
            "can_retry": stopped.can_retry,
            **form,
        },
        created_at=stopped.at,
    )


def _form(stopped: Stopped, state: RunState) -> JsonObject:
    """What a visitor may fill in, begun with the number that they wrote."""
    numbers = known.question_of(state).order_numbers
    return {"form": stopped.form, "order": numbers[0] if numbers else ""}


def evidence_of(
    coverage: Coverage, observations: Sequence[Observation]
) -> list[JsonObject]:
    """Each observation that the answer rests on, with the facts that it proves."""
    by_id = {observation.id: observation for observation in observations}
    facts: dict[str, dict[str, JsonObject]] = {}
    for claim in coverage.claims:
        if claim.observation_id in by_id and claim.path:
            value = _value_of(by_id[claim.observation_id], claim.path)
            fact = {"path": claim.path, "value": value, "text": claim.text}
            facts.setdefault(claim.observation_id, {}).setdefault(claim.path, fact)
    for slot in coverage.slots:
        # What no words of the answer name may still be what it rests on.
        if slot.state is SlotState.FILLED and slot.observation_id in by_id:
            seen = facts.setdefault(slot.observation_id, {})
            if not seen and slot.path:
                text = slot.value if isinstance(slot.value, str) else ""
                seen[slot.path] = {
                    "path": slot.path,
                    "value": slot.value,
                    "text": text,
                }
    return [
        {
            "observation": observation.id,
            "tool": observation.tool,
            "source": observation.source,
            "observed_at": observation.observed_at.isoformat(),
            "facts": list(facts[observation.id].values()),
        }
        for observation in observations
        if observation.id in facts
    ]


_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def value_at(fields: Any, path: str) -> Json:
    """What stands at a path such as ``parcels[0].status``; None where nothing does."""
    value = fields
    for name, index in _STEP.findall(path):
        try:
            value = value[int(index)] if index else value[name]
        except (KeyError, IndexError, TypeError):
            return None
    return value if isinstance(value, str | int | float | bool | dict) else None


# ---- links beside the answer


def links_of(
    evidence: Sequence[JsonObject], observations: Sequence[Observation]
) -> list[JsonObject]:
    """The help pages and carriers' pages behind an answer; no other address ever."""
    cited = {one["observation"]: one["facts"] for one in evidence}
    links: dict[str, str] = {}
    for observation in observations:
        if observation.id not in cited:
            continue
        paths = [fact["path"] for fact in cited[observation.id]]
        for text, url in _addresses(observation, paths):
            if is_safe_link(url):
                links.setdefault(url, text)
    shown = list(links.items())[:_MAX_LINKS]
    return [{"text": text, "url": url} for url, text in shown]


def _addresses(
    observation: Observation, cited: Iterable[str]
) -> Iterator[tuple[str, str]]:
    fields = observation.fields
    url = fields.get("tracking_url")
    if isinstance(url, str):
        yield str(fields.get("carrier_name") or fields.get("tracking_id") or url), url
    articles = fields.get("articles")
    if isinstance(articles, list):
        named = [path for path in cited if path.startswith("articles[")]
        for index, article in enumerate(articles):
            used = any(path.startswith(f"articles[{index}]") for path in named)
            if isinstance(article, dict) and (used or not named):
                yield str(article.get("title", "")), str(article.get("url", ""))


def is_safe_link(url: str) -> bool:
    """Whether a page may link there: this site, or a carrier that settings allow."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if not parts.scheme and not parts.netloc:
        # A browser reads a backslash as a slash: "/\evil.example" is another site.
        return url.startswith("/") and not url.startswith(("//", "/\\"))
    return parts.scheme == "https" and parts.hostname in settings.TRACKING_LINK_HOSTS


# ---- the run's own row, for the lists of the audit


@dataclass(frozen=True, slots=True)
class Tally:
    """What a run's events add up to."""

    usage: Usage
    tools: Sequence[str]
    tool_errors: Sequence[str]
    numbers: Sequence[str]


def tally(state: RunState) -> Tally:
    observations = known.observations(state)
    tools = dict.fromkeys(observation.tool for observation in observations)
    errors = dict.fromkeys(
        f"{observation.tool}:{observation.status}"
        for observation in observations
        if observation.status is not ObservationStatus.OK
    )
    return Tally(_usage(state), list(tools), list(errors), numbers_of(state))


def _value_of(observation: Observation, path: str) -> Json:
    # When it was looked up is a fact of the look, not one of its fields.
    if path == "observed_at":
        return observation.observed_at.isoformat()
    return value_at(observation.fields, path)


def numbers_of(state: RunState) -> Sequence[str]:
    """Canonical numbers of orders, parcels and refunds that were asked for or seen."""
    asked = known.numbers_in(state.question) if state.question else ()
    seen = (
        str(fact.value)
        for observation in known.observations(state)
        for fact in facts_of(observation)
        if fact.kind in NUMBER_KINDS
    )
    return list(dict.fromkeys(map(canonical_number, (*asked, *seen))))


def usage_of(event: LoopEvent) -> Usage:
    """What the model call behind this event used; nothing where there was none."""
    if isinstance(event, Acted | Refused | SentBack | ModelFailed | Stopped):
        return event.usage
    return Usage()


def _usage(state: RunState) -> Usage:
    return sum(map(usage_of, state.events), Usage())


def start_columns(started: Started) -> JsonObject:
    """The columns of a run that are known once its question is read."""
    return {
        "model": started.model[:120],
        "started_at": started.at,
        **question_columns(started.question),
    }


def question_columns(question: Question) -> JsonObject:
    return {
        "language": question.language,
        "question": redact(question.text)[:200],
        "needs": list(question.needs),
    }


def end_columns(state: RunState, stopped: Stopped, *, model: str) -> JsonObject:
    total = tally(state)
    return {
        "phase": RunPhase.STOPPED,
        "stop_reason": stopped.reason,
        "steps_used": stopped.step,
        "prompt_tokens": total.usage.prompt_tokens,
        "completion_tokens": total.usage.completion_tokens,
        "tokens_estimated": total.usage.estimated,
        "cost": cost_of(model, total.usage).money,
        "tools": " ".join(total.tools)[:200],
        "tool_errors": " ".join(total.tool_errors)[:200],
        "numbers": " ".join(total.numbers),
        "hand_over": stopped.hand_over,
        "lease_until": None,
        "stopped_at": stopped.at,
    }


# ---- the hand-over


def hand_over_row(claim: Claim, stopped: Stopped, state: RunState) -> HandOver | None:
    """The unsaved request that a person looks; None where none was made."""
    if stopped.hand_over is not HandOverMode.MADE:
        return None
    return HandOver(
        run_id=claim.run_id,
        conversation_id=claim.conversation_id,
        reason=redact(stopped.hand_over_reason)[:400],
        open_needs=[
            {"need": slot.need, "order": slot.order, "why": slot.why}
            for slot in stopped.coverage.slots
            if slot.state is not SlotState.FILLED
        ],
        evidence=evidence_of(stopped.coverage, known.observations(state)),
        created_at=stopped.at,
    )
