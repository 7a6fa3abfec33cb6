"""Tracking numbers as the carriers form them, with the check digits that they have.

Sources: the Universal Postal Union's standard S10, and for UPS, FedEx, DHL and USPS
github.com/jkeen/tracking_number_data (MIT licence). The Chinese carriers publish none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

_S10_WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)
_FEDEX_WEIGHTS = (3, 1, 7) * 4


def tracking_number(carrier: str, chance: random.Random) -> str:
    return _MAKERS[carrier](chance)


def _digits(chance: random.Random, length: int) -> str:
    return f"{chance.randrange(10**length):0{length}}"


def _s10(chance: random.Random) -> str:
    """Two letters, eight digits, their check digit, and the country of posting."""
    digits = _digits(chance, 8)
    total = sum(
        int(digit) * weight for digit, weight in zip(digits, _S10_WEIGHTS, strict=True)
    )
    check = {10: 0, 11: 5}.get(11 - total % 11, 11 - total % 11)
    return f"E{chance.choice('ABEKZ')}{digits}{check}CN"


def _dhl(chance: random.Random) -> str:
    digits = str(chance.randrange(10**8, 10**9))
    return f"{digits}{int(digits) % 7}"


def _ups(chance: random.Random) -> str:
    body = f"{_digits(chance, 6)}04{_digits(chance, 7)}"
    total = sum(
        int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(body)
    )
    return f"1Z{body}{-total % 10}"


def _fedex(chance: random.Random) -> str:
    digits = str(chance.randrange(10**10, 10**11))
    total = sum(
        int(digit) * weight
        for digit, weight in zip(digits, _FEDEX_WEIGHTS[:11], strict=True)
    )
    return f"{digits}{total % 11 % 10}"


def _usps(chance: random.Random) -> str:
    digits = f"94001{_digits(chance, 16)}"
    total = sum(
        int(digit) * (1 if place % 2 else 3)
        for place, digit in enumerate(reversed(digits))
    )
    return f"{digits}{-total % 10}"


_MAKERS: Mapping[str, Callable[[random.Random], str]] = {
    "sf": lambda chance: f"SF1{_digits(chance, 12)}",
    "zto": lambda chance: f"78{_digits(chance, 12)}",
    "yto": lambda chance: f"YT{_digits(chance, 13)}",
    "jd": lambda chance: f"JDX{_digits(chance, 12)}",
    "ems": _s10,
    "dhl": _dhl,
    "ups": _ups,
    "fedex": _fedex,
    "usps": _usps,
}
