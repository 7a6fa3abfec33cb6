"""What a shop says of a change: before it is made, and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from tools.backends.base import Money
from tools.contracts import ActionKind, Json


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that may be picked on a card; ``label`` is what people read."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What a change does, as people are shown it before they agree.

    ``amount`` goes to the customer (``refund``) or comes from them (``charge``).
    ``before`` and ``after`` are what the customer would see change, by name.
    """

    direction: str = ""
    amount: Money | None = None
    items: Sequence[str] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preview:
    """Whether a change may be made now, and exactly what it would do.

    ``reason`` is a code where it may not. ``missing`` names the arguments that only the
    customer can give. ``arguments`` are canonical: what is frozen, hashed and executed.
    ``amount`` goes to the customer (``refund``) or comes from them (``charge``).
    ``before`` and ``after`` are what the customer would see change, by name.
    ``choices`` are what a missing argument may be.
    """

    eligible: bool
    reason: str = ""
    missing: Sequence[str] = ()
    subject: str = ""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    amount: Money | None = None
    direction: Literal["", "refund", "charge"] = ""
    items: Sequence[str] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Sequence[Choice]] = field(default_factory=dict)

    @property
    def terms(self) -> Terms:
        return Terms(
            self.direction,
            self.amount,
            [str(item) for item in self.items],
            {name: str(value) for name, value in self.before.items()},
            {name: str(value) for name, value in self.after.items()},
        )


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """What came of a change: done, or refused by the shop with a ``reason`` code.

    ``repeated``: the key was known, nothing was done again, this is the first result.
    """

    succeeded: bool
    reason: str = ""
    details: Mapping[str, Json] = field(default_factory=dict)
    repeated: bool = False


class RefundLedger(Protocol):
    """A shop whose refunds are paid out by a provider that reports back."""

    async def settle_refund(self, number: str, *, at: datetime) -> bool:
        """Note that the money has left, once; False where it was noted before.

        Raises ``NotFound`` for a refund that is not known (yet).
        """

    async def overdue_refunds(self, *, before: datetime) -> Sequence[str]:
        """Numbers of refunds on their way that should have arrived before."""
        ...


class ChangingBackend(Protocol):
    """A shop that also makes changes.

    ``execute`` honours ``key``: the same key twice is one change. What would by now do
    anything else than was ``agreed`` is refused as ``stale_approval``. It raises
    ``ToolTimeout`` or ``ToolUnavailable`` where the outcome is not known, and the
    caller asks ``lookup`` before anything else; None there: nothing was done.
    """

    async def preview(
        self, customer_id: str, kind: ActionKind, arguments: Mapping[str, Json]
    ) -> Preview: ...

    async def execute(
        self,
        customer_id: str,
        kind: ActionKind,
        arguments: Mapping[str, Json],
        *,
        key: str,
        agreed: Terms,
    ) -> ChangeResult: ...

    async def lookup(self, key: str) -> ChangeResult | None: ...
