"""A change from the words to the message while everything that works on it is killed.

PostgreSQL, Redis, a web process and a worker; the shop is somebody else's server with a
ledger of its own, which says in the end what was really done.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.journeys.conftest import UNHURRIED, Visitor
from tests.journeys.pages import Visit
from tests.servers.shop_server import KEY, ShopServer
from tests.servers.stack import Stack

SECONDS = 60
NUMBERS = ("O-205", "O-208")
# As an operator does it in the admin: a cancellation needs a person of the staff.
STAFF_AGREE = """
from django.contrib.auth.models import User
from django.utils import timezone
from tools.actions.policy import change_policy
from tools.contracts import ActionKind
change_policy(
    ActionKind.CANCEL_ORDER, by=User.objects.get(username="olga"),
    now=timezone.now(), approver="staff",
)
"""


def paid(number: str) -> dict[str, object]:
    return {
        "order_id": number,
        "status": "paid",
        "placed_at": "2026-11-30T10:00:00+08:00",
        "total": {"minor": 1990, "currency": "CNY"},
        "shipping_fee": {"minor": 0, "currency": "CNY"},
        "items": [],
        "parcels": [],
        "ship_to": "Hangzhou",
    }


@pytest.fixture(scope="module")
def shop() -> Iterator[ShopServer]:
    owners = dict.fromkeys(NUMBERS, "C-LIN")
    orders = [paid(number) for number in NUMBERS]
    with ShopServer({"owners": owners, "orders": orders, "shipments": []}) as running:
        running.slow_seconds = 3
        yield running


@pytest.fixture(scope="module")
def stack(shop: ShopServer) -> Iterator[Stack]:
    settings = {
        **UNHURRIED,
        "TOOLS_BACKEND": "http_api",
        "SHOP_API_URL": shop.url,
        "SHOP_API_KEY": KEY,
        "RUN_LEASE_SECONDS": "2",
        "CHAT_POLL_SECONDS": "1",
    }
    # Not in pytest's own folder: the database's lesser user has to get there.
    with tempfile.TemporaryDirectory(prefix="waybill-change-") as name:
        Path(name).chmod(0o755)
        made = Stack(Path(name), settings)
        try:
            made.start(beat=False)
            made.product.manage("shell", "-v", "0", "-c", STAFF_AGREE)
            yield made
        finally:
            made.stop()


@pytest.fixture
def attempt(shop: ShopServer) -> int:
    """The place of the next attempt to change something, for a fault."""
    return shop.attempts + 1


def everything_dies(stack: Stack) -> None:
    """SIGKILL for web and worker, and both again."""
    parts = [stack.product.web, *stack.workers]
    for part in parts:
        part.kill()
    with ThreadPoolExecutor(len(parts)) as together:
        for started in [together.submit(part.start) for part in parts]:
            started.result()


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def propose(visit: Visit, number: str) -> Locator:
    visit.chat.ask(f"Please cancel order {number}")
    card = visit.page.locator(".card:visible").last
    expect(card).to_be_visible()
    return card


def confirm(card: Locator) -> None:
    card.get_by_role("button", name="Confirm").click()
    expect(card).to_contain_text("Waiting for approval")


def approve(staff: Visit, number: str) -> None:
    staff.open("/admin/workflow/changerequest/")
    staff.page.locator("#result_list tbody th a").first.click()
    expect(staff.page.locator(".desk-arguments")).to_contain_text(number)
    staff.page.get_by_label("Reason").fill("as they wish")
    staff.page.get_by_role("button", name="Approve").click()


def is_told_once(visit: Visit, number: str) -> None:
    news = visit.page.get_by_text(f"Order {number} has been cancelled.")
    expect(news).to_have_count(1, timeout=SECONDS * 1000)
    visit.page.reload()
    visit.chat.ready()
    expect(news).to_have_count(1)


def test_a_change_outlives_whoever_works_on_it(
    stack: Stack, shop: ShopServer, visitor: Visitor, attempt: int
) -> None:
    shop.faults = {attempt: "slow"}
    lin, sam = visitor(stack.product, "lin"), visitor(stack.product, "sam")
    card = propose(lin, "O-205")
    everything_dies(stack)
    lin.chat.ready()
    confirm(card)
    everything_dies(stack)
    approve(sam, "O-205")
    until(lambda: shop.attempts == attempt)
    everything_dies(stack)  # while the shop is doing it
    until(lambda: shop.found_by_key == 1)
    everything_dies(stack)  # when its outcome has just been heard, or stored, or told
    is_told_once(lin, "O-205")
    assert list(shop.effects.values()) == [1]
    assert shop.happened == {"slow": 1}


def test_a_reply_that_is_lost_is_looked_up_and_told_once(
    stack: Stack, shop: ShopServer, visitor: Visitor, attempt: int
) -> None:
    shop.faults = {attempt: "after"}
    before, found = sum(shop.effects.values()), shop.found_by_key
    lin, sam = visitor(stack.product, "lin"), visitor(stack.product, "sam")
    confirm(propose(lin, "O-208"))
    approve(sam, "O-208")
    is_told_once(lin, "O-208")
    assert sum(shop.effects.values()) == before + 1
    assert (shop.attempts, shop.found_by_key) == (attempt, found + 1)
    assert shop.happened["after"] == 1
