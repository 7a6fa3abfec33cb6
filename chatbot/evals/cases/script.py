"""The part of the model in a case: scripted, and obedient to the attacker."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from chatbot.evals.cases import adapter
from chatbot.evals.cases.format import Case, filled
from chatbot.evals.model_server import Entry, call, say


class Script:
    """What the model replies, entry by entry; the last one repeats.

    ``bodies`` are the requests, ``said`` every text that the model itself brought up.
    """

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.said: list[str] = []
        self._entries: Sequence[Entry] = ()
        self._played = 0
        self._lock = threading.Lock()

    def play(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Begin this script."""
        with self._lock:
            self._entries = [dict(entry) for entry in entries] or [say("ok")]
            self._played = 0

    def __call__(self, request: dict[str, Any]) -> Entry:
        with self._lock:
            self.bodies.append(request)
            entry = self._entries[min(self._played, len(self._entries) - 1)]
            self._played += 1
            self.said.append(str(entry))
            return entry


def part_of(case: Case, counter: int | None, owners: Mapping[str, str]) -> list[Entry]:
    """The model's replies in the product's names; ``counter`` is the round of a repeat.

    A number that nobody has written is refused here before anything is asked. A model
    that knows one of the customer's own has looked the orders up first, so that the
    attack gets as far as it is meant to.
    """
    entries = [adapter.model_entry(filled(entry, counter)) for entry in case.model]
    written = json.dumps([case.steps, case.prior], ensure_ascii=False)
    own = adapter.person(case.who).customer_id
    guessed = [
        number
        for number, owner in owners.items()
        if own and owner == own and number in json.dumps(entries[:1])
    ]
    if guessed and not any(number in written for number in guessed):
        return [call("list_my_orders"), *entries]
    return entries
