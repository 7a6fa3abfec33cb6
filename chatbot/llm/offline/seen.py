"""What a run has observed so far, arranged for choosing the next move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chatbot.react.types import Observed, Refused, RunState, SentBack
from tools.contracts import Json, Observation, ObservationStatus, canonical_number

NOT_THERE = frozenset({ObservationStatus.NOT_FOUND, ObservationStatus.DENIED})
NO_ANSWER = frozenset(ObservationStatus) - NOT_THERE - {ObservationStatus.OK}


@dataclass(slots=True)
class Seen:
    """The observations of a run by tool and canonical number, the last of each.

    ``refused`` are the calls that code did not accept: they are not proposed again.
    ``sent_back`` counts the answers that did not pass.
    """

    by_call: dict[tuple[str, str], Observation] = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)
    sent_back: int = 0
    calls: int = 0

    @classmethod
    def of(cls, state: RunState) -> Seen:
        seen = cls()
        for event in state.events:
            match event:
                case Observed(observation=one):
                    seen.by_call[one.tool, _key(one.arguments)] = one
                    seen.calls += 1
                case Refused(tool=tool, arguments=arguments) if arguments is not None:
                    seen.refused.add((tool, _key(arguments)))
                case SentBack():
                    seen.sent_back += 1
                case _:
                    pass
        return seen

    def get(self, tool: str, argument: str = "") -> Observation | None:
        return self.by_call.get((tool, canonical_number(argument) or argument))

    def tried(self, tool: str, argument: str = "") -> bool:
        key = (tool, canonical_number(argument) or argument)
        return key in self.by_call or key in self.refused

    @property
    def failed(self) -> bool:
        """Whether a lookup brought nothing, which is no "no"."""
        return any(one.status in NO_ANSWER for one in self.by_call.values())

    @property
    def listed(self) -> Observation | None:
        return self.get("list_my_orders")

    @property
    def own_orders(self) -> tuple[Mapping[str, Json], ...]:
        """The customer's own orders as listed, newest first."""
        listed = self.listed
        if listed is None or listed.status is not ObservationStatus.OK:
            return ()
        found = [one for one in rows(listed.fields, "orders") if text(one, "order_id")]
        return tuple(
            sorted(found, key=lambda one: text(one, "placed_at") or "", reverse=True)
        )

    @property
    def help(self) -> Observation | None:
        """The search that found an article, else one that failed, else the last."""
        searches = [
            one for (tool, _), one in self.by_call.items() if tool == "search_help"
        ]
        last = searches[-1] if searches else None
        failed = next((one for one in searches if one.status in NO_ANSWER), last)
        return next((one for one in searches if has_article(one)), failed)


def has_article(search: Observation) -> bool:
    return bool(rows(search.fields, "articles"))


def _key(arguments: Mapping[str, Json]) -> str:
    value = next((one for one in arguments.values() if isinstance(one, str)), "")
    return canonical_number(value) or value


def rows(fields: Mapping[str, Json], name: str) -> tuple[Mapping[str, Json], ...]:
    value = fields.get(name)
    return tuple(_objects(value if isinstance(value, list) else ()))


def _objects(values: Sequence[Json]) -> Iterator[Mapping[str, Json]]:
    for value in values:
        if isinstance(value, dict):
            yield value


def text(fields: Mapping[str, Json], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def tracking_ids(order: Observation) -> tuple[str, ...]:
    """The tracking numbers of an order's parcels, as the shop writes them."""
    found = (text(one, "tracking_id") for one in rows(order.fields, "parcels"))
    return tuple(dict.fromkeys(number for number in found if number))
