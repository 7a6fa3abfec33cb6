"""A conversation as plain text, for the customer to keep."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Any

from django.utils import timezone

from chatbot.chat import services
from chatbot.chat.models import Conversation, Message
from chatbot.chat.words import all_words
from chatbot.understanding.kinds import Language


def transcript_text(
    conversation: Conversation, *, language: Language, zone: tzinfo
) -> str:
    words = all_words(language)["page"]
    lines = [words["transcript_title"], ""]
    for message in services.transcript(conversation):
        lines += _lines(message, words, zone)
    return "\n".join(lines)


def _lines(message: Message, words: dict[str, str], zone: tzinfo) -> Iterator[str]:
    moment = _moment(message.created_at, zone)
    yield f"[{moment}] {words[f'speaker_{message.speaker}']}"
    yield message.text
    for proof in message.extras.get("evidence", ()):
        yield f"  {words['facts_from']} {_source(proof, zone)}"
    yield ""


def _source(proof: dict[str, Any], zone: tzinfo) -> str:
    facts = ", ".join(str(fact.get("text", "")) for fact in proof.get("facts", ()))
    observed = datetime.fromisoformat(proof["observed_at"])
    return f"{proof.get('source', '')} ({_moment(observed, zone)}): {facts}"


def _moment(moment: datetime, zone: tzinfo) -> str:
    return timezone.localtime(moment, zone).strftime("%Y-%m-%d %H:%M:%S %Z")
