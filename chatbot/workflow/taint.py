"""What a model may put into a change: nothing that the customer has not written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation

from tools.contracts import ADDRESS_FIELDS, ActionKind, Json

# Words that a model may put into a change only where the customer has written them.
_FREE_TEXT = frozenset({*ADDRESS_FIELDS, "reason"})
# Not the digits of an order's or parcel's number.
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9#.-])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![0-9-])"
)
# A cancellation's reason is one of the shop's own two, which the card shows.
_CHOSEN = frozenset({(ActionKind.CANCEL_ORDER, "reason")})


def without_taint(
    kind: ActionKind, arguments: Mapping[str, Json], said: Sequence[str]
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """The arguments less free text that is not the customer's own, and what went."""
    own = [_plain(text) for text in said]
    kept: dict[str, Json] = {}
    tainted = []
    for name, value in arguments.items():
        free = name in _FREE_TEXT and (kind, name) not in _CHOSEN
        if free and isinstance(value, str) and value.strip():
            words = _plain(value)
            if not words or not any(words in text for text in own):
                tainted.append(name)
                continue
        if name == "amount" and not _is_said(value, said):
            tainted.append(name)
            continue
        kept[name] = value
    return kept, tuple(tainted)


def _is_said(amount: Json, said: Sequence[str]) -> bool:
    """Whether the customer has written this very sum, in whatever form."""
    try:
        sum_ = Decimal(str(amount))
    except InvalidOperation:
        return False
    plain = (unicodedata.normalize("NFKC", text) for text in said)
    numbers = (number for text in plain for number in _NUMBER.findall(text))
    return any(Decimal(number.replace(",", "")) == sum_ for number in numbers)


def _plain(text: str) -> str:
    """Letters and digits alone: width, case, spaces and punctuation say nothing."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char.isalnum())
