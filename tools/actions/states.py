"""The states of a request and the moves between them: one table decides."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class RequestState(StrEnum):
    """Where a request stands.

    ``UNKNOWN``: it was sent, and nothing tells yet whether the shop did it. It is
    looked up by its key before anything else, and never told as done or as failed.
    """

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    APPROVED = "approved"
    EXECUTING = "executing"
    RETRY_WAIT = "retry_wait"
    SUCCEEDED = "succeeded"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    RESOLVED = "resolved"
    DECLINED = "declined"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


_S = RequestState
_GIVEN_UP = frozenset({_S.DECLINED, _S.EXPIRED, _S.WITHDRAWN})
_OUTCOMES = frozenset({_S.SUCCEEDED, _S.REFUSED, _S.UNKNOWN})

MOVES: Mapping[RequestState, frozenset[RequestState]] = {
    # Proposed again: the card was filled in and shows another effect.
    _S.PROPOSED: frozenset({_S.PROPOSED, _S.CONFIRMED}) | _GIVEN_UP,
    _S.CONFIRMED: frozenset({_S.APPROVED}) | _GIVEN_UP,
    _S.APPROVED: frozenset({_S.EXECUTING, _S.REFUSED}) | _GIVEN_UP,
    _S.EXECUTING: frozenset({_S.EXECUTING, _S.RETRY_WAIT}) | _OUTCOMES,
    _S.RETRY_WAIT: frozenset({_S.EXECUTING}) | _OUTCOMES,
    _S.UNKNOWN: frozenset({_S.EXECUTING, _S.SUCCEEDED, _S.REFUSED, _S.RESOLVED}),
    _S.SUCCEEDED: frozenset(),
    _S.REFUSED: frozenset(),
    _S.RESOLVED: frozenset(),
    _S.DECLINED: frozenset(),
    _S.EXPIRED: frozenset(),
    _S.WITHDRAWN: frozenset(),
}
# One of these at a time for each order and kind; an unknown one still counts.
OPEN = frozenset(
    {
        _S.PROPOSED,
        _S.CONFIRMED,
        _S.APPROVED,
        _S.EXECUTING,
        _S.RETRY_WAIT,
        _S.UNKNOWN,
    }
)
# What a customer may still take back: nothing was sent anywhere.
WITHDRAWABLE = frozenset({_S.PROPOSED, _S.CONFIRMED, _S.APPROVED})
# Why a card was withdrawn that nobody agreed to: a newer one stands for it.
REPLACED = "replaced"
