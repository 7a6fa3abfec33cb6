"""The card of a request: what would be done, and what the customer fills in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tools.contracts import ADDRESS_FIELDS
from tools.models import ActionRequest

_MANY = frozenset({"items"})


def open_fields(request: ActionRequest) -> Sequence[str]:
    """What the customer fills in on the card before it can be confirmed."""
    missing = list(dict.fromkeys(request.preview.get("missing", ())))
    if request.state != "proposed" or not missing:
        return ()
    if set(missing) & set(ADDRESS_FIELDS):
        # Who fills in the street may also want to name another flat, or nobody.
        return [
            *ADDRESS_FIELDS,
            *(name for name in missing if name not in ADDRESS_FIELDS),
        ]
    return missing


def card_of(request: ActionRequest) -> dict[str, Any]:
    """What the page shows of a request: exactly what would be done, and what may be.

    No summary of a model's: everything comes from the request's frozen row.
    """
    shown = request.preview
    missing = set(shown.get("missing", ()))
    return {
        "request": str(request.pk),
        "hash": request.arguments_hash,
        "kind": request.kind,
        "order": str(request.arguments.get("order_id", "")),
        "state": request.state,
        "reason": request.reason,
        "amount": _money(request),
        "direction": shown.get("direction", ""),
        "items": shown.get("items", []),
        "before": shown.get("before", {}),
        "after": shown.get("after", {}),
        "fields": [
            {
                "name": name,
                "required": name in missing,
                "value": request.arguments.get(name) or "",
                "choices": shown.get("choices", {}).get(name, []),
                "many": name in _MANY,
            }
            for name in open_fields(request)
        ],
        "expires_at": request.expires_at.isoformat(),
    }


def _money(request: ActionRequest) -> dict[str, str] | None:
    if not request.amount:
        return None
    return {"amount": f"{request.amount / 100:.2f}", "currency": request.currency}
