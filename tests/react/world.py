"""Observations as tests need them, and one line to check an answer against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from chatbot.assistant.proofs import PROOFS
from chatbot.react.coverage import answer_covers_question
from chatbot.react.types import Background, Coverage
from chatbot.understanding.needs import Language, Need, read_question
from tools.contracts import Json, Observation, ObservationStatus

NOW = datetime(2026, 12, 1, 9, 32, tzinfo=UTC)
ZONES: Mapping[Language, str] = {"en": "Europe/Paris", "zh": "Asia/Shanghai"}


def seen(
    tool: str,
    arguments: Mapping[str, Json],
    fields: Mapping[str, Json] | None = None,
    status: ObservationStatus = ObservationStatus.OK,
    *,
    number: int = 1,
    source: str = "shop",
) -> Observation:
    return Observation(
        id=f"obs-{number}",
        call_id=f"call-{number}",
        tool=tool,
        arguments=arguments,
        status=status,
        fields=fields or {},
        observed_at=NOW,
        source=source,
    )


def order(
    order_id: str = "O-204",
    status: str = "shipped",
    tracking: Sequence[str | None] = ("N-88",),
    *,
    number: int = 1,
    **fields: Json,
) -> Observation:
    parcels: list[Json] = [
        {"tracking_id": one, "carrier": "ups", "status": "in_transit"}
        for one in tracking
    ]
    declared: dict[str, Json] = {
        "order_id": order_id,
        "status": status,
        "placed_at": "2026-11-27T02:10:00+00:00",
        "paid_at": "2026-11-27T02:15:00+00:00",
        "shipped_at": "2026-11-28T08:00:00+00:00" if parcels else None,
        "delivered_at": None,
        "cancelled_at": None,
        "total": {"amount": "199.00", "currency": "CNY"},
        "items": list[Json](),
        "parcels": parcels,
        "ship_to": "Paris",
        "note": None,
    }
    return seen("get_order", {"order_id": order_id}, declared | fields, number=number)


def shipment(
    tracking_id: str = "N-88",
    order_id: str = "O-204",
    status: str = "in_transit",
    place: str | None = "Lyon hub",
    *,
    number: int = 2,
    **fields: Json,
) -> Observation:
    return seen(
        "track_shipment",
        {"tracking_id": tracking_id},
        {
            "tracking_id": tracking_id,
            "order_id": order_id,
            "carrier": "ups",
            "carrier_name": "UPS",
            "status": status,
            "place": place,
            "last_event_at": "2026-11-30T22:15:00+00:00",
            "last_event": "Arrived at hub",
            "estimated_delivery_at": None,
            "delivered_at": None,
            "events": [],
            "tracking_url": None,
        }
        | fields,
        number=number,
        source="carrier:ups",
    )


def failed(
    tool: str, name: str, value: str, status: ObservationStatus, *, number: int = 1
) -> Observation:
    return seen(tool, {name: value}, status=status, number=number)


def cover(
    question: str,
    answer: str,
    *observations: Observation,
    needs: Sequence[Need] = (),
    language: Language | None = None,
    secrets: Sequence[str] = (),
    earlier: Sequence[str] = (),
    zone: str | None = None,
) -> Coverage:
    asked = read_question(question, language=language)
    if needs:
        asked = replace(asked, needs=tuple(needs), out_of_scope=False)
    return answer_covers_question(
        answer,
        question=asked,
        observations=observations,
        proofs=PROOFS,
        background=Background(
            language=asked.language,
            time_zone=zone or ZONES[asked.language],
            earlier_questions=tuple(read_question(one) for one in earlier),
        ),
        secrets=secrets,
    )


def kinds(coverage: Coverage) -> set[str]:
    return {claim.kind for claim in coverage.unsupported}


def whys(coverage: Coverage) -> set[str]:
    return {claim.why for claim in coverage.unsupported}
