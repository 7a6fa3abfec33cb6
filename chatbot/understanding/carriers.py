"""Whose parcel a tracking number is, told from its form and check digit."""

from __future__ import annotations

import re

# Written from the carriers' own labels; the forms overlap, so the letters lead.
_CHINESE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("sf", re.compile(r"SF\d{12,13}")),
    ("yto", re.compile(r"YT\d{13}")),
    ("jd", re.compile(r"JD[A-Z0-9]{10,16}|V[A-C]\d{8,12}")),
    ("jitu", re.compile(r"JT\d{13}")),
    ("ems", re.compile(r"[A-Z]{2}\d{9}CN")),
)


def is_tracking_number(text: str) -> bool:
    return carrier_of(text) is not None


def carrier_of(text: str) -> str | None:
    """The carrier whose form the number has, or None."""
    number = re.sub(r"[\s-]", "", text).upper()
    for carrier, pattern in _CHINESE:
        if pattern.fullmatch(number):
            return carrier
    if re.fullmatch(r"1Z[0-9A-Z]{16}", number):
        return "ups"
    return None
