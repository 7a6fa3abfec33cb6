"""Which need is asked of which order, where one message names several of both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chatbot.understanding.kinds import Ask, Need
from chatbot.understanding.lexicon import rule_names
from chatbot.understanding.references import find_numbers
from chatbot.understanding.text import plain_text
from tools.contracts import canonical_number

_BREAK = re.compile(
    r"[,，;；。!！?？\n]|\.(?=\s|$)|\b(?:and|but|also|plus|then)\b|以及|还有|另外|然后|同时",
    re.IGNORECASE,
)
_NEED_OF_RULE = {"refund": Need.REFUND_STATUS}
# Of no order in particular.
_OF_ALL = frozenset({Need.NONE, Need.HUMAN, Need.POLICY, Need.INVOICE})


def asks_of(text: str, needs: Sequence[Need], orders: Sequence[str]) -> tuple[Ask, ...]:
    """One ``Ask`` an order, as the clauses of the text part them; empty where they do
    not, and everything is asked of every order.

    Nothing is left out: each need is asked of some order, each order is asked about.
    """
    wanted = [need for need in needs if need not in _OF_ALL]
    if len(orders) < 2 or len(wanted) < 2:
        return ()
    found: dict[str, set[Need]] = {canonical_number(one): set() for one in orders}
    current: tuple[str, ...] = ()
    early: set[Need] = set()
    for named, asked in _clauses(text, wanted):
        if named and not asked and not early:
            return ()
        current = named or current
        if not current:
            early |= asked
            continue
        for order in current:
            found.setdefault(order, set()).update(asked | early)
        early = set()
    told = set().union(*found.values())
    if told != set(wanted) or not all(found.values()):
        return ()
    if all(one == told for one in found.values()):
        return ()
    shared = [need for need in needs if need in _OF_ALL]
    return tuple(
        Ask(order, tuple(n for n in needs if n in found[key] or n in shared))
        for order in orders
        if (key := canonical_number(order))
    )


def _clauses(
    text: str, wanted: Sequence[Need]
) -> Iterator[tuple[tuple[str, ...], set[Need]]]:
    for part in _BREAK.split(text[:2000]):
        orders = tuple(canonical_number(one) for one in find_numbers(part).orders)
        rules = rule_names(plain_text(part))
        needs = {
            need
            for need in wanted
            if any(_NEED_OF_RULE.get(rule, rule) == need for rule in rules)
        }
        if orders or needs:
            yield orders, needs
