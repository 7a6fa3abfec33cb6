"""SIGKILL in the middle of a change: a real process, a real database, one effect."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.servers.product import Product

# Both run in processes of the product's own. The first prints which request it dies on.
DOOMED = """
import asyncio, os, signal
from django.utils import timezone
from chatbot.workflow import outbox, services
from tools import gateway
from tools.actions import performing
from tools.backends.store import changing
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
print(request.pk, flush=True)

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
GOES_ON = """
import asyncio, time
from django.core.management import call_command
from chatbot.workflow import outbox
waiting = outbox.Delivery.objects.filter(
    state__in=["waiting", "running"], handler__endswith="perform_action"
)
for _ in range(80):
    asyncio.run(outbox.sweep(owner="next"))
    if not waiting.exists():
        break
    time.sleep(0.25)
call_command("verify_audit")
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
    doomed = installed.manage(
        "shell", "-v", "0", "-c", DOOMED % POINTS[point], check=False
    )
    assert doomed.returncode == -9, doomed.stderr
    assert "survived" not in doomed.stdout
    request = doomed.stdout.strip()
    went_on = installed.manage("shell", "-v", "0", "-c", GOES_ON)
    assert "as written" in went_on.stdout
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
