"""The one door: whose things may be read, and what a result may hold."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.looking import GUEST, LIN, MEI, look
from tools import gateway
from tools.backends.base import Owner
from tools.backends.store import backend
from tools.backends.store.models import Order, Parcel
from tools.backends.store.seeding.shop import seed_the_named
from tools.catalog import CATALOG, results
from tools.contracts import (
    Actor,
    Json,
    ObservationStatus,
    Role,
    canonical_number,
)
from tools.errors import BadResult, ToolError, ToolTimeout, ToolUnavailable

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop() -> None:
    seed_the_named(now=timezone.now())


@pytest.mark.usefixtures("shop")
def test_the_two_steps_lead_from_the_order_to_the_place() -> None:
    order = look(LIN, "get_order", order_id="O-204")
    assert order.status is ObservationStatus.OK
    parcels = order.fields["parcels"]
    assert isinstance(parcels, list)
    [parcel] = parcels
    assert parcel["tracking_id"] == "N-88"  # type: ignore[index,call-overload]
    shipment = look(LIN, "track_shipment", tracking_id="N-88")
    assert shipment.fields["status"] == "in_transit"
    assert shipment.fields["place"] == "武汉转运中心"
    assert shipment.fields["order_id"] == "O-204"
    assert (order.source, shipment.source) == ("shop", "carrier:sf")


@pytest.mark.usefixtures("shop")
def test_someone_elses_and_no_such_are_the_same_observation() -> None:
    seen = []
    for name, arguments in (
        ("get_order", ("O-204", "O-99999")),
        ("track_shipment", ("N-88", "N-99999")),
        ("get_refund", ("O-204", "O-99999")),
    ):
        for number in arguments:
            key = "tracking_id" if name == "track_shipment" else "order_id"
            found = look(MEI, name, **{key: number})
            seen.append((name, found.status, found.fields, found.message))
    assert all(status is ObservationStatus.NOT_FOUND for _, status, _, _ in seen)
    assert seen[0] == seen[1]
    assert seen[2] == seen[3]
    assert seen[4] == seen[5]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("number", ["O-204", "O-99999"])
def test_a_foreign_order_costs_no_more_queries_than_none(number: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert backend._get_order(Owner("C-MEI"), number) is None
    assert len(queries) == 1


@pytest.mark.usefixtures("shop")
def test_a_list_holds_the_actors_own_orders_only() -> None:
    own = set(Order.objects.filter(customer="C-LIN").values_list("number", flat=True))
    listed = look(LIN, "list_my_orders", limit=20).fields
    rows = listed["orders"]
    assert isinstance(rows, list)
    assert {row["order_id"] for row in rows} <= own  # type: ignore[index,call-overload]
    assert listed["total_orders"] == len(own)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    "spelling", ["o－204", "o 204", "＃O-204", "#o204", " O-204 ", "Ｏ２０４", "O–204"]
)
def test_every_spelling_finds_the_order(spelling: str) -> None:
    assert look(LIN, "get_order", order_id=spelling).fields["order_id"] == "O-204"


def _wide(text: str) -> str:
    """The full-width form of plain characters, as Chinese keyboards give it."""
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


@given(
    number=st.from_regex(r"\A[A-Z]{0,2}0{0,2}[0-9]{2,9}\Z"),
    gaps=st.lists(st.sampled_from(["", " ", "-", "－", "#", "＃", "\u3000", "_"]),
                  min_size=14, max_size=14),
    wide=st.booleans(),
    lower=st.booleans(),
)  # fmt: skip
def test_however_a_number_is_written_it_stays_the_same_number(
    number: str, gaps: list[str], wide: bool, lower: bool
) -> None:
    written = number.lower() if lower else number
    written = _wide(written) if wide else written
    parted = gaps[0] + "".join(
        one + gap for one, gap in zip(written, gaps[1:], strict=False)
    )
    assert canonical_number(parted) == number


@given(st.text(max_size=80))
def test_a_canonical_number_is_stable_and_plain(text: str) -> None:
    key = canonical_number(text)
    assert canonical_number(key) == key
    assert key.isascii()


def test_leading_zeros_are_part_of_a_number() -> None:
    assert canonical_number("#00204") == "00204" != canonical_number("204")


@pytest.mark.parametrize("actor", [GUEST, Actor(Role.CUSTOMER), Actor(Role.OPERATOR)])
def test_whoever_has_proved_nothing_reads_no_order(actor: Actor) -> None:
    found = look(actor, "get_order", order_id="O-204")
    assert found.status is ObservationStatus.DENIED
    assert found.fields == {}


def test_a_guest_sees_the_tools_of_a_guest() -> None:
    assert {spec.name for spec in gateway.visible_tools(GUEST)} == {"search_help"}
    proved = Actor(Role.GUEST, verified_orders=frozenset({"O204"}))
    assert {spec.name for spec in gateway.visible_tools(proved)} == {
        "get_order",
        "track_shipment",
        "search_help",
    }
    assert {spec.name for spec in gateway.visible_tools(LIN)} == set(CATALOG)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("delete_order", {"order_id": "O-204"}),
        ("", {}),
        ("get_order", {"order_id": "O-204", "customer_id": "C-MEI"}),
        ("get_order", {"order_id": 204}),
        ("get_order", {}),
        ("list_my_orders", {"limit": 10_000}),
    ],
)
def test_what_is_not_in_the_registry_is_denied(
    name: str, arguments: dict[str, Json]
) -> None:
    assert look(LIN, name, **arguments).status is ObservationStatus.DENIED


def test_no_schema_names_the_customer() -> None:
    for tool in CATALOG.values():
        assert tool.spec.parameters["additionalProperties"] is False
        assert "customer" not in str(tool.spec.parameters)
        assert set(tool.spec.fields) == set(tool.result.model_fields)
        assert set(tool.spec.description) == {"zh", "en"}


# ---- a guest who has proved an order


@pytest.mark.usefixtures("shop")
def test_a_guest_sees_where_a_proved_order_stands_and_no_more() -> None:
    guest = Actor(Role.GUEST, verified_orders=frozenset({"O204"}))
    order = look(guest, "get_order", order_id="o 204")
    assert order.status is ObservationStatus.OK
    assert set(order.fields) == set(results.GuestOrderResult.model_fields)
    shipment = look(guest, "track_shipment", tracking_id="N-88")
    assert set(shipment.fields) == set(results.GuestShipmentResult.model_fields)
    seen = f"{order.fields}{shipment.fields}"
    for secret in ("青瓷茶壶", "199.00", "成都", "武汉"):
        assert secret not in seen
    assert look(guest, "get_refund", order_id="O-204").status == "denied"
    assert look(guest, "list_my_orders").status == "denied"


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("number", ["O-205", "O-305", "O-999"])
def test_every_other_order_is_the_same_to_a_guest(number: str) -> None:
    guest = Actor(Role.GUEST, verified_orders=frozenset({"O204"}))
    found = look(guest, "get_order", order_id=number)
    assert (found.status, found.fields) == (ObservationStatus.DENIED, {})


@pytest.mark.usefixtures("shop")
def test_a_guests_parcel_is_one_of_the_proved_orders() -> None:
    guest = Actor(Role.GUEST, verified_orders=frozenset({"O205"}))
    foreign = look(guest, "track_shipment", tracking_id="N-88")
    none = look(guest, "track_shipment", tracking_id="N-999")
    assert foreign.status is none.status is ObservationStatus.NOT_FOUND
    assert foreign.message == none.message


# ---- failures


class Backend:
    """Answers with what it was given, one thing a call."""

    source = "shop"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls = 0

    async def get_order(self, *_: object) -> Any:
        self.calls += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer == "never":
            await asyncio.Event().wait()
        return answer


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(*answers: Any) -> Backend:
        made = Backend(*answers)
        monkeypatch.setattr("tools.catalog.orders.backend", lambda: made)
        return made

    return use


def test_a_read_that_failed_is_tried_once_more(answering: Any) -> None:
    used = answering(ToolUnavailable("503"), None)
    found = look(LIN, "get_order", order_id="O-1")
    assert (found.status, found.attempts) == (ObservationStatus.NOT_FOUND, 2)
    assert used.calls == 2


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ToolUnavailable("503"), ObservationStatus.UNAVAILABLE),
        (ToolTimeout("slow"), ObservationStatus.TIMEOUT),
    ],
)
def test_a_read_that_fails_twice_is_an_observation_of_its_failure(
    answering: Any, error: ToolError, status: ObservationStatus
) -> None:
    used = answering(error, error, error)
    found = look(LIN, "get_order", order_id="O-1")
    assert (found.status, found.fields, found.retryable) == (status, {}, True)
    assert used.calls == 2


def test_a_bad_result_is_not_asked_for_again(answering: Any) -> None:
    used = answering(BadResult("no JSON"))
    found = look(LIN, "get_order", order_id="O-1")
    assert found.status is ObservationStatus.BAD_RESULT
    assert used.calls == 1


def test_a_tool_that_never_answers_is_ended(answering: Any, settings: Any) -> None:
    settings.TOOL_TIMEOUT_SECONDS = 0.05
    answering("never", "never")
    found = look(LIN, "get_order", order_id="O-1")
    assert found.status is ObservationStatus.TIMEOUT
    assert "not shipped" not in found.message


def test_a_bug_in_a_tool_is_not_hidden(answering: Any) -> None:
    answering(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        look(LIN, "get_order", order_id="O-1")


@pytest.mark.usefixtures("shop")
def test_a_new_tracking_number_is_the_one_that_is_found() -> None:
    parcel = Parcel.objects.get(tracking_number="N-88")
    parcel.tracking_number = "N-91"
    parcel.full_clean()
    parcel.save()
    assert look(LIN, "track_shipment", tracking_id="N-91").fields["order_id"] == "O-204"
    assert (
        look(LIN, "track_shipment", tracking_id="N-88").status
        is ObservationStatus.NOT_FOUND
    )
