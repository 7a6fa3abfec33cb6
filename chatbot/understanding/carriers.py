"""Whose parcel a tracking number is, told from its form and check digit.

The forms outside China follow github.com/jkeen/tracking_number_data (MIT licence,
copyright Jeff Keen and contributors); the Chinese ones were written for this project.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from chatbot.understanding import check_digits
from tools.contracts import canonical_number


@dataclass(frozen=True, slots=True)
class Form:
    """One form of a carrier's numbers; ``checked`` is what the check digit covers."""

    carrier: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None


def _form(
    carrier: str, pattern: str, check: Callable[[str], bool] | None = None
) -> Form:
    return Form(carrier, re.compile(pattern), check)


# The first form that fits wins: letters before bare digits, checked before unchecked.
FORMS: tuple[Form, ...] = (
    _form("sf", r"SF\d{12,13}"),
    _form("yto", r"YT\d{13}"),
    _form("yunexpress", r"YT\d{16}"),
    _form("yodel", r"JJD\d{16}|JD000\d{13}"),
    _form("jd", r"JD[A-Z]?\d{11,14}|V[A-G]\d{8,13}"),
    _form("jtexpress", r"JT\d{13}"),
    _form("deppon", r"DPK\d{12}"),
    _form("cainiao", r"LP\d{14}"),
    _form("ups", r"1Z([0-9A-Z]{16})", lambda number: check_digits.ups("1Z" + number)),
    _form("s10", r"[A-Z]{2}(\d{9})[A-Z]{2}", check_digits.s10),
    _form("amazon", r"TB[ACM]\d{12}"),
    _form("dhl", r"J[A-Z]{2,3}\d{9,10}"),
    _form("ontrac", r"[CD]\d{14}"),
    _form("lasership", r"1LS[0-9A-Z]{12,15}|L[A-Z]\d{8}"),
    _form("canpar", r"[CDKLSUXZ]\d{21}"),
    _form("purolator", r"[A-Z]{3}\d{9}"),
    _form("landmark", r"L[TS]N\d{8}N1"),
    _form("gofo", r"GFUS\d{14}"),
    _form("speedee", r"SP\d{18}"),
    _form("usps", r"(?:420\d{5})?(9[1-5]\d{20})", check_digits.mod_10),
    _form("canada_post", r"(\d{16})", check_digits.mod_10),
    _form("fedex", r"(\d{15})", check_digits.mod_10),
    _form("fedex", r"(\d{12})", check_digits.fedex_12),
    _form("dhl", r"(\d{10,11})", check_digits.mod_7),
)


def carrier_of(text: str) -> str | None:
    """The carrier whose form the number has and whose check digit is right, or None."""
    number = canonical_number(text)
    for form in FORMS:
        match = form.pattern.fullmatch(number)
        if match and (form.check is None or form.check(match.group(1))):
            return form.carrier
    return None
