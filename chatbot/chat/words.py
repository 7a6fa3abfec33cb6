"""What the pages say: one list per language, for the server and the browser.

JSON instead of gettext catalogues: the page's script needs the same words, and a bare
machine has no msgfmt.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.functional import lazy
from django.utils.translation import get_language

from chatbot.understanding.kinds import Language

WORD_LISTS = Path(__file__).parent / "word_lists"


def page_language() -> Language:
    """The language of the page that is being made: the visitor's choice or browser."""
    return "zh" if (get_language() or "").startswith("zh") else "en"


@cache
def all_words(language: Language) -> dict[str, Any]:
    words: dict[str, Any] = json.loads(
        (WORD_LISTS / f"{language}.json").read_text("utf-8")
    )
    return words


def word(key: str, **slots: str) -> str:
    """The page text called ``key``; a missing key is an error, never an empty place."""
    text: str = all_words(page_language())["page"][key]
    return text.format(**slots) if slots else text


def ending_word(code: str) -> str:
    """How staff read a stop reason, or the phase of a run that goes on."""
    return word(f"ended_{code}")


# For what is named when the code is loaded: a list's columns, a filter's title.
lazy_word = lazy(word, str)


def live_words() -> str:
    """What the chat page's script says, as JSON."""
    return json.dumps(all_words(page_language())["live"], ensure_ascii=False)
