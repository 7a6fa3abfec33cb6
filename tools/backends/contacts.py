"""What it takes to prove an order by the contact that it holds."""

from __future__ import annotations

import re
import unicodedata
from typing import Protocol

# Fewer digits than this are no telephone number that is anybody's alone.
PHONE_DIGITS = 8


class ContactBook(Protocol):
    """A shop system that knows how the buyer of an order is reached.

    Its answer goes to the code that mails, never to a tool, a model or a page.
    """

    async def email_of(self, order_id: str, contact: str) -> str | None:
        """The e-mail address that the order holds, where ``contact`` is that address or
        a phone number of the order; "" where it is a phone number of an order without
        an address; None where there is no such order, or the contact is not its own.

        Raises ``ToolUnavailable``, ``ToolTimeout`` or ``BadResult``.
        """
        ...


def is_contact(contact: str, *, email: str, phones: tuple[str, ...]) -> bool:
    """Whether somebody wrote this e-mail address or one of these phone numbers."""
    written = unicodedata.normalize("NFKC", contact).strip().casefold()
    if "@" in written:
        return bool(email) and written == email.strip().casefold()
    return any(_same_phone(written, phone) for phone in phones)


def _same_phone(written: str, phone: str) -> bool:
    """Equal but for spaces, dashes and a country's prefix."""
    short, long = sorted((_digits(written), _digits(phone)), key=len)
    return len(short) >= PHONE_DIGITS and long.endswith(short)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", unicodedata.normalize("NFKC", text)).lstrip("0")
