"""A shop behind HTTP: the contract of every backend, and every kind of bad line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from typing import Any, TypeVar

import pytest

from tests.servers.shop_server import KEY, ShopServer
from tests.tools.backend_contract import LIN, BackendContract, ContactContract
from tools.backends.base import Money
from tools.backends.changes import Terms
from tools.backends.contacts import ContactBook
from tools.backends.http_api import HttpShop
from tools.contracts import ActionKind
from tools.errors import BadResult, ToolTimeout, ToolUnavailable

T = TypeVar("T")


def order(number: str, status: str, placed: str, *parcels: Any) -> dict[str, Any]:
    return {
        "order_id": number,
        "status": status,
        "placed_at": placed,
        "paid_at": placed,
        "shipped_at": placed if parcels else None,
        "total": {"minor": 19900, "currency": "CNY"},
        "items": [
            {
                "title": "Teapot",
                "quantity": 1,
                "price": {"minor": 19900, "currency": "CNY"},
                "options": {"colour": "jade"},
            }
        ],
        "parcels": parcels,
    }


def parcel(number: str | None) -> dict[str, Any]:
    return {
        "tracking_id": number,
        "carrier": "sf",
        "status": "in_transit",
        "shipped_at": "2026-11-29T10:00:00+08:00",
        "items": ["Teapot"],
    }


SHOP: dict[str, Any] = {
    "owners": {
        "O-204": "C-LIN",
        "O-205": "C-LIN",
        "O-305": "C-MEI",
        "O-311": "C-MEI",
    },
    "contacts": {
        "O-204": {"email": "lin@example.com", "phone": "+86 138 0000 1204"},
        "O-305": {"email": "", "phone": "13900001305"},
    },
    "orders": [
        order("O-204", "shipped", "2026-11-28T10:00:00+08:00", parcel("N-88")),
        order("O-205", "paid", "2026-11-30T10:00:00+08:00"),
        order("O-305", "paid", "2026-11-27T10:00:00+08:00"),
        order("O-311", "shipped", "2026-11-26T10:00:00+08:00", parcel(None)),
    ],
    "shipments": [
        {
            "tracking_id": "N-88",
            "order_id": "O-204",
            "carrier": "sf",
            "carrier_name": "SF Express",
            "carrier_name_zh": "顺丰速运",
            "status": "in_transit",
            "events": [
                {
                    "at": "2026-12-01T03:00:00+08:00",
                    "status": "in_transit",
                    "place": "Wuhan",
                    "text": "Arrived",
                },
                {
                    "at": "2026-11-29T20:00:00+08:00",
                    "status": "picked_up",
                    "place": "Hangzhou",
                    "text": "Picked up",
                },
            ],
        }
    ],
}


@pytest.fixture
def server(settings: Any) -> Iterator[ShopServer]:
    with ShopServer(SHOP) as running:
        settings.SHOP_API_URL = running.url
        settings.SHOP_API_KEY = KEY
        yield running


class TestHttpShop(BackendContract):
    @pytest.fixture
    def backend(self, server: ShopServer) -> HttpShop:
        return HttpShop()


class TestHttpContacts(ContactContract):
    @pytest.fixture
    def book(self, server: ShopServer) -> ContactBook:
        return HttpShop()


def run(work: Awaitable[T]) -> T:
    async def inner() -> T:
        return await work

    return asyncio.run(inner())


AGREED = Terms(direction="refund", amount=Money(1990, "CNY"))


def change(key: str = "k", agreed: Terms | None = None) -> Any:
    return HttpShop().execute(
        "C-LIN",
        ActionKind.CANCEL_ORDER,
        {"order_id": "O-205"},
        key=key,
        agreed=agreed or AGREED,
    )


def test_a_change_is_done_once_under_its_key(server: ShopServer) -> None:
    first, again = run(change()), run(change())
    assert (first.succeeded, first.repeated) == (True, False)
    assert (again.succeeded, again.repeated) == (True, True)
    assert server.effects == {"k": 1}


def test_what_would_by_now_do_something_else_is_refused(server: ShopServer) -> None:
    more = Terms(direction="refund", amount=Money(2990, "CNY"))
    result = run(change(agreed=more))
    assert (result.succeeded, result.reason) == (False, "stale_approval")
    assert server.effects == {}


def test_a_lost_answer_is_found_by_its_key(server: ShopServer) -> None:
    server.faults = {1: "after"}
    with pytest.raises(ToolUnavailable):
        run(change())
    found = run(HttpShop().lookup("k"))
    assert found is not None
    assert (found.succeeded, found.repeated) == (True, True)
    assert run(HttpShop().lookup("another")) is None


def test_a_slow_shop_is_not_waited_for_and_may_have_done_it(
    server: ShopServer, settings: Any
) -> None:
    settings.TOOL_TIMEOUT_SECONDS = 0.2
    server.faults, server.slow_seconds = {1: "slow"}, 0.6
    with pytest.raises(ToolTimeout):
        run(change())


@pytest.mark.parametrize(
    ("fault", "error"),
    [("before", ToolUnavailable), ("garbage", BadResult)],
)
def test_each_bad_answer_is_its_own_failure(
    server: ShopServer, fault: str, error: type[Exception]
) -> None:
    server.faults = {1: fault}
    with pytest.raises(error):
        run(change())


def test_a_shop_that_is_down_is_unavailable_not_empty(server: ShopServer) -> None:
    server.down = True
    for read in (
        HttpShop().get_order(LIN, "O-204"),
        HttpShop().track(LIN, "N-88"),
        HttpShop().refunds(LIN, "O-204"),
        HttpShop().list_orders(LIN, status=None, limit=5),
    ):
        with pytest.raises(ToolUnavailable):
            run(read)


def test_a_wrong_key_is_a_failure_and_no_secret_is_told(
    server: ShopServer, settings: Any
) -> None:
    settings.SHOP_API_KEY = "CANARY-KEY"
    with pytest.raises(BadResult) as failed:
        run(HttpShop().get_order(LIN, "O-204"))
    assert "CANARY" not in str(failed.value)


def test_a_shop_that_answers_with_another_order_is_not_believed(
    server: ShopServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = [order("O-999", "paid", "2026-11-30T10:00:00+08:00")]
    monkeypatch.setattr(
        "tests.servers.shop_server.canonical_number", lambda text: "SAME"
    )
    monkeypatch.setattr(server, "orders_of", lambda *_: other)
    with pytest.raises(BadResult):
        run(HttpShop().get_order(LIN, "O-204"))


@pytest.mark.parametrize(
    "number", ["../../secrets", "O-204/refunds", "?limit=1", "a b#c", "%2e%2e9"]
)
def test_a_number_never_becomes_another_address(
    server: ShopServer, number: str
) -> None:
    run(HttpShop().get_order(LIN, number))
    for path in server.requests:
        assert path.startswith("/v1/customers/C-LIN/orders/")
        assert path.count("/") == 5
        assert not {"?", "#"} & set(path)


def test_a_preview_says_what_would_happen_and_does_nothing(server: ShopServer) -> None:
    arguments = {"order_id": "O-205"}
    kind = ActionKind.CANCEL_ORDER
    found = run(HttpShop().preview("C-LIN", kind, arguments))
    assert (found.eligible, found.subject, found.arguments) == (True, "O205", arguments)
    assert found.amount is not None
    foreign = run(HttpShop().preview("C-MEI", kind, arguments))
    assert (foreign.eligible, foreign.reason) == (False, "not_found")
    assert not server.effects
