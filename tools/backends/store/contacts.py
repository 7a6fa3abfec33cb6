"""How the buyers of the embedded shop's orders are reached."""

from __future__ import annotations

from django.db import DatabaseError

from tools.backends.contacts import is_contact
from tools.backends.store.models import Order
from tools.contracts import canonical_number
from tools.database import in_database
from tools.errors import ToolUnavailable


class StoreContacts:
    async def email_of(self, order_id: str, contact: str) -> str | None:
        try:
            return await in_database(_email_of, order_id, contact)
        except DatabaseError as error:
            raise ToolUnavailable(type(error).__name__) from error


def _email_of(order_id: str, contact: str) -> str | None:
    order = (
        Order.objects.select_related("customer")
        .filter(number_key=canonical_number(order_id))
        .first()
    )
    if order is None:
        return None
    buyer = order.customer
    known = is_contact(contact, email=buyer.email, phones=(order.phone, buyer.phone))
    return buyer.email if known else None
