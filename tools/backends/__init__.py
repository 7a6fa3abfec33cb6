"""Shop systems by the name that ``TOOLS_BACKEND`` gives them."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from tools.backends.base import OrderBackend
from tools.backends.changes import ChangingBackend, RefundLedger
from tools.backends.contacts import ContactBook

# Dotted names: this package is imported before any model may be.
BACKENDS: dict[str, str] = {
    "store": "tools.backends.store.backend.StoreBackend",
    "http_api": "tools.backends.http_api.HttpShop",
}
# Those that also make changes; with another one the assistant only reads.
CHANGING: dict[str, str] = {
    "store": "tools.backends.store.changing.StoreChanges",
    "http_api": "tools.backends.http_api.HttpShop",
}
# Those whose refunds a payment provider reports to us; others keep their own books.
SETTLING: dict[str, str] = {"store": "tools.backends.store.refunds.StoreRefunds"}
# Those that tell whether a contact is an order's own; with another one nobody can prove
# an order without signing in.
REACHING: dict[str, str] = {
    "store": "tools.backends.store.contacts.StoreContacts",
    "http_api": "tools.backends.http_api.HttpShop",
}


@cache
def backend() -> OrderBackend:
    """The one shop system of this installation."""
    made: OrderBackend = import_string(BACKENDS[settings.TOOLS_BACKEND])()
    return made


@cache
def changing_backend() -> ChangingBackend:
    """The same shop, asked for changes."""
    made: ChangingBackend = import_string(CHANGING[settings.TOOLS_BACKEND])()
    return made


@cache
def refund_ledger() -> RefundLedger | None:
    """Where settled refunds are noted; None where the shop does that itself."""
    name = SETTLING.get(settings.TOOLS_BACKEND)
    made: RefundLedger | None = import_string(name)() if name else None
    return made


@cache
def contact_book() -> ContactBook | None:
    """Where the contact of an order is looked up; None where the shop tells none."""
    name = REACHING.get(settings.TOOLS_BACKEND)
    made: ContactBook | None = import_string(name)() if name else None
    return made
