"""The shop's and the help centre's pages in the admin: they open, escape and check."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import models
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tools.backends.store import models as store
from tools.backends.store.seeding.shop import seed_the_named
from tools.help_seed import seed_help
from tools.models import HelpArticle

pytestmark = pytest.mark.django_db
HOSTILE = (
    '"><img src=x onerror=alert(1)>{{7*7}}\u202e</textarea><script>alert(2)</script>'
)
PAGES = (
    store.Customer, store.Product, store.Carrier, store.Order, store.Parcel,
    store.Return, HelpArticle,
)  # fmt: skip
# Fields whose values are taken from a list, or are looked up by others.
_KEPT = {"status", "kind", "language", "time_zone", "currency", "direction", "slug"}


@pytest.fixture
def staff(client: Client) -> Client:
    seed_the_named(now=timezone.now())
    seed_help()
    client.force_login(User.objects.create_superuser("root", password="x"))
    return client


def _tables() -> Iterator[type[models.Model]]:
    yield from (model for model in PAGES)
    yield from (
        store.Address, store.PaymentMethod, store.Variant, store.OrderLine,
        store.TrackingEvent, store.Refund, store.ReturnLine,
    )  # fmt: skip


def _poison() -> int:
    """Hostile text in every text of every row; how many columns that were."""
    columns = 0
    for table in _tables():
        for field in table._meta.fields:
            if (
                not isinstance(field, models.CharField | models.TextField)
                or field.primary_key
                or field.unique
                or field.name in _KEPT
                or not field.editable
            ):
                continue
            long = field.max_length or 10_000
            table._default_manager.update(**{field.name: HOSTILE[:long]})
            columns += 1
    store.OrderLine.objects.update(options={HOSTILE: HOSTILE})
    return columns


@pytest.mark.parametrize("model", PAGES)
def test_every_page_opens_and_hostile_text_stays_text(
    staff: Client, model: type[models.Model]
) -> None:
    assert _poison() > 30
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    first = model._default_manager.order_by("pk").first()
    assert first is not None
    for url in (
        reverse(f"{name}_changelist"),
        reverse(f"{name}_changelist") + "?q=O-204%27%3Cscript%3E",
        reverse(f"{name}_add"),
        reverse(f"{name}_change", args=[first.pk]),
    ):
        page = staff.get(url)
        assert page.status_code == 200, url
        text = page.content.decode()
        assert "<img src=x" not in text
        assert "alert(2)</script>" not in text
    assert model in admin.site._registry


def test_an_order_saved_by_a_form_is_found_by_its_new_number(staff: Client) -> None:
    order = store.Order.objects.get(number="O-205")
    assert _save(staff, order, number="ＯＸ－ 9") is None
    order.refresh_from_db()
    assert order.number_key == "OX9"


def test_two_spellings_of_one_number_are_refused_with_a_word(staff: Client) -> None:
    order = store.Order.objects.get(number="O-205")
    problem = _save(staff, order, number="o 204")
    assert problem
    assert "Another order has this number" in problem
    assert "letter or digit" in (_save(staff, order, number="＃＃") or "")


def _save(staff: Client, order: store.Order, **changes: str) -> str | None:
    """The order's form sent again with ``changes``; the page where it was refused."""
    url = reverse("admin:store_order_change", args=[order.pk])
    form = _Form()
    form.feed(staff.get(url).content.decode())
    answer = staff.post(url, form.values | changes)
    return None if answer.status_code == 302 else answer.content.decode()


class _Form(HTMLParser):
    """What a browser would send of a page's form, untouched."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self._name = ""
        self._typing = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        unsent = given.get("type") in ("submit", "search")
        if tag == "input" and given.get("type") == "checkbox":
            if name and "checked" in given:
                self.values[name] = "on"
        elif tag == "input" and name and not unsent:
            self.values[name] = value
        elif tag in ("select", "textarea"):
            self._name, self._typing = name, tag == "textarea"
            self.values[name] = ""
        elif tag == "option" and "selected" in given:
            self.values[self._name] = value

    def handle_data(self, data: str) -> None:
        if self._typing:
            self.values[self._name] += data.removeprefix("\r\n").removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._typing = False


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (store.Variant, "options", ["jade"]),
        (store.Variant, "options", {"colour": 1}),
        (store.Customer, "time_zone", "Mars/Olympus"),
        (store.TrackingEvent, "time_zone", "../../etc/passwd"),
        (store.Parcel, "tracking_number", "---"),
        (store.Order, "status", "on its way"),
    ],
)
def test_what_a_tool_could_not_read_is_refused_at_the_form(
    staff: Client, model: type[models.Model], field: str, value: object
) -> None:
    row = model._default_manager.first()
    assert row is not None
    setattr(row, field, value)
    with pytest.raises(ValidationError, match=field):
        row.full_clean()


def test_the_ledger_is_read_only(staff: Client) -> None:
    order = store.Order.objects.get(number="O-205")
    page = staff.get(reverse("admin:store_order_change", args=[order.pk]))
    assert 'name="payments-0-amount"' not in page.content.decode()


def test_customers_and_strangers_do_not_get_in(client: Client) -> None:
    url = reverse("admin:store_order_changelist")
    assert client.get(url).status_code == 302
    client.force_login(User.objects.create_user("lin2"))
    # To whoever is signed in as a customer there is no such page.
    assert client.get(url).status_code == 404
