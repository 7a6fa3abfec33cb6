"""`{% load waybill %}`: words of the page's language, and icons."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chatbot.chat.models import Run
from chatbot.chat.words import ending_word, page_language, word

register = template.Library()


@register.simple_tag
def say(key: str, **slots: str) -> str:
    """A text of the page; the template engine escapes it."""
    return word(key, **slots)


@register.simple_tag
def ending(run: Run) -> str:
    """How the run ended, or what it does now, as staff read it."""
    return ending_word(run.ending)


@register.simple_tag
def page_lang() -> str:
    return "zh-Hans" if page_language() == "zh" else "en"


@register.simple_tag
def icon(name: str, css: str = "icon") -> SafeString:
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}#{}"></use></svg>',
        css,
        static("icons.svg"),
        name,
    )


@register.simple_tag
def event_name(kind: str) -> str:
    """What a stored event is called; a kind of a newer version goes by its own name."""
    try:
        return word(f"event_{kind}")
    except KeyError:
        return kind


@register.simple_tag
def speaker_name(speaker: str) -> str:
    return word(f"speaker_{speaker}")
