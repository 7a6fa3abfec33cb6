"""The rules of both languages: people mix them, so both are always read."""

from __future__ import annotations

from chatbot.understanding import lexicon_en, lexicon_zh
from chatbot.understanding.rules import Rule

RULES: tuple[Rule, ...] = (*lexicon_zh.RULES, *lexicon_en.RULES)


def rule_names(plain: str) -> frozenset[str]:
    """The names of the rules that a plain text fulfils."""
    return frozenset(rule.name for rule in RULES if rule.pattern.search(plain))
