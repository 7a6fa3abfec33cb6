"""The check digits that carriers put at the end of a tracking number."""

from __future__ import annotations

_S10_WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)
_FEDEX_WEIGHTS = (3, 1, 7) * 4


def mod_10(number: str, *, odd: int = 3, even: int = 1) -> bool:
    """Weights alternate from the last digit before the check digit, ``odd`` first."""
    *digits, check = (int(character) for character in number)
    total = sum(
        digit * (even if place % 2 else odd)
        for place, digit in enumerate(reversed(digits))
    )
    return -total % 10 == check


def mod_7(number: str) -> bool:
    return int(number[:-1]) % 7 == int(number[-1])


def s10(digits: str) -> bool:
    """Nine digits of the Universal Postal Union's S10 standard."""
    total = sum(
        int(digit) * weight
        for digit, weight in zip(digits[:8], _S10_WEIGHTS, strict=True)
    )
    wanted = {10: 0, 11: 5}.get(11 - total % 11, 11 - total % 11)
    return wanted == int(digits[8])


def fedex_12(number: str) -> bool:
    total = sum(
        int(digit) * weight
        for digit, weight in zip(number[:11], _FEDEX_WEIGHTS[:11], strict=True)
    )
    return total % 11 % 10 == int(number[11])


def ups(number: str) -> bool:
    """After ``1Z``: letters count as digits, the last digit checks the others."""
    values = [
        int(character) if character.isdigit() else (ord(character) - 63) % 10
        for character in number[2:-1]
    ]
    total = sum(value * 2 if place % 2 else value for place, value in enumerate(values))
    return number[-1].isdigit() and -total % 10 == int(number[-1])
