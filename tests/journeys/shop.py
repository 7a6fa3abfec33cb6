"""Changes in the demo shop of a running product, made in its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tests.servers.product import Product
from tools.contracts import canonical_number


@contextmanager
def tables(product: Product) -> Iterator[sqlite3.Connection]:
    """The product's own database, from outside; one transaction."""
    path = f"{product.env['VAR_DIR']}/waybill.sqlite3"
    with closing(sqlite3.connect(path, timeout=20)) as connection, connection:
        yield connection


def renumber_parcel(product: Product, old: str, new: str) -> None:
    """Give a parcel another tracking number; an empty one means that it is missing."""
    with tables(product) as shop:
        changed = shop.execute(
            "UPDATE store_parcel SET tracking_number = ?, tracking_key = ?"
            " WHERE tracking_key = ?",
            (new, canonical_number(new), canonical_number(old)),
        )
        assert changed.rowcount == 1


def write_note(product: Product, order: str, note: str) -> None:
    with tables(product) as shop:
        changed = shop.execute(
            "UPDATE store_order SET note = ? WHERE number_key = ?",
            (note, canonical_number(order)),
        )
        assert changed.rowcount == 1
