"""SIGKILL in the middle of a change: a real process, a real database, one effect."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.servers.product import Product

# Each prints what the next one needs; they run in processes of the product's own.
APPROVE = """
import asyncio
from django.utils import timezone
from chatbot.workflow import services
from tools import gateway
from tools.backends.store.models import Order, StoreEffect
from tools.contracts import ActionKind, Actor, Role
taken = StoreEffect.objects.values("order_id")
paid = Order.objects.filter(status="paid", total__lt=50_000, payments__isnull=False)
order = paid.exclude(pk__in=taken).order_by("?")[0]
actor = Actor(Role.CUSTOMER, order.customer_id)
wish = {"order_id": order.number, "reason": "no longer needed"}
preview = asyncio.run(gateway.preview(ActionKind.CANCEL_ORDER, wish, actor=actor))
request = gateway.request(
    ActionKind.CANCEL_ORDER, preview, actor=actor,
    conversation_id=None, run_id=None, now=timezone.now(),
)
services.announce(request, actor="test", now=timezone.now())
services.confirm(
    request, actor=actor, arguments_hash=request.arguments_hash,
    preview=preview, now=timezone.now(),
)
print(request.pk)
"""
DIE = """
import asyncio, os, signal
from chatbot.workflow import outbox, services
from tools.actions import performing
from tools.backends.store import changing

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

def die_after(work):
    def then(*args, **kwargs):
        work(*args, **kwargs)
        die()
    return then

%s
asyncio.run(outbox.sweep(owner="doomed"))
print("survived")
"""
POINTS = {
    "before the shop is asked": "changing.execute = die",
    "inside the shop's transaction": "changing._make = die_after(changing._make)",
    "before the reply is heard": "changing.execute = die_after(changing.execute)",
    "before the outcome is stored": "performing._record = die",
    "between outcome and event": "services.announce = die",
    "before the delivery is noted": "outbox._done = die",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The demo shop with nobody sweeping but who is started for it."""
    made = Product(tmp_path_factory.mktemp("killed"))
    made.prepare()
    yield made
    made.stop()


def rows(product: Product, query: str, *values: str) -> list[tuple[object, ...]]:
    path = Path(product.env["VAR_DIR"]) / "waybill.sqlite3"
    with closing(sqlite3.connect(path, timeout=20)) as connection:
        return list(connection.execute(query, values))


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_process_leaves_one_effect_that_is_told_once(
    installed: Product, point: str
) -> None:
    request = installed.manage("shell", "-v", "0", "-c", APPROVE).stdout.strip()
    doomed = installed.manage(
        "shell", "-v", "0", "-c", DIE % POINTS[point], check=False
    )
    assert doomed.returncode == -9, doomed.stderr
    assert "survived" not in doomed.stdout
    goes_on = (
        "import asyncio, time\n"
        "from chatbot.workflow import outbox, services\n"
        "for _ in range(40):\n"
        "    asyncio.run(outbox.sweep(owner='next'))\n"
        "    if not outbox.Delivery.objects.filter(\n"
        "        state__in=['waiting', 'running'],\n"
        "        handler__endswith='perform_action').exists():\n"
        "        break\n"
        "    time.sleep(0.5)\n"
    )
    installed.manage("shell", "-v", "0", "-c", goes_on)
    key = request.replace("-", "")
    state = rows(
        installed, "SELECT state, crashes FROM tools_actionrequest WHERE id = ?", key
    )
    assert state[0][0] == "succeeded"
    effects = rows(
        installed, "SELECT kind FROM store_storeeffect WHERE key = ?", request
    )
    assert effects == [("cancel_order",)]
    refunds = rows(
        installed,
        "SELECT count(*) FROM store_refund WHERE order_id ="
        " (SELECT order_id FROM store_storeeffect WHERE key = ?)",
        request,
    )
    assert refunds == [(1,)]
    events = rows(
        installed,
        "SELECT count(*) FROM workflow_event WHERE key LIKE ?",
        f"action.finished:{request}:%",
    )
    assert events == [(1,)]
    assert "as written" in installed.manage("verify_audit").stdout
