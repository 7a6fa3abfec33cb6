"""Tokens where the provider counts none."""

from __future__ import annotations

import re

from chatbot.react.types import Usage

_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]")


def estimated_tokens(text: str) -> int:
    """About one token a Chinese character, one for four others; never zero."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide) // 4 + 1


def estimated_usage(prompt: str, completion: str, reasoning: str = "") -> Usage:
    """Hidden ``reasoning`` is paid for like any other text."""
    return Usage(
        estimated_tokens(prompt),
        estimated_tokens(completion + reasoning),
        estimated=True,
    )
