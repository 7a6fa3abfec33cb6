"""What the model may cost: a run, a customer's day, and everybody's day (UTC).

Ended runs are counted in the database, where their tokens stand once whatever was
killed meanwhile; what this process carries is counted as it is spent. Other processes'
running runs show when they end, so that a day may be passed by no more than those.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from time import monotonic
from typing import Any, TypeAlias
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from chatbot.chat.loops import one_per_loop
from chatbot.chat.models import Run
from chatbot.react.types import Share, Usage
from chatbot.workflow.outbox import raise_alert
from tools.database import in_database
from tools.prepared import Place, Select

ALERT_AT = Decimal("0.8")
# Seconds for which a process believes its last look at everybody's day.
TOTAL_IS_FRESH = 2.0
_MILLION = 1_000_000

Scope: TypeAlias = int | None  # an account's id; None for everybody


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens, and what they cost by ``LLM_PRICES``, in whatever currency those are."""

    tokens: int = 0
    money: Decimal = Decimal(0)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.tokens + other.tokens, self.money + other.money)


@dataclass(frozen=True, slots=True)
class Allowed:
    """0 means no limit."""

    tokens: int
    money: Decimal

    def share(self, spent: Spent) -> Decimal:
        """How much of the nearer limit is used up: 1 where it is reached."""
        shares = [Decimal(0)]
        if self.tokens:
            shares.append(Decimal(spent.tokens) / self.tokens)
        if self.money:
            shares.append(spent.money / self.money)
        return max(shares)


def cost_of(model: str, usage: Usage) -> Spent:
    """What a run of ``model`` costs; the shares of other models at their own price."""
    prompt = usage.prompt_tokens - sum(one.prompt_tokens for one in usage.shares)
    written = usage.completion_tokens - sum(
        one.completion_tokens for one in usage.shares
    )
    parts = [Share(model, prompt, written), *usage.shares]
    return Spent(usage.total, sum(map(_price, parts), Decimal(0)))


def _price(part: Share) -> Decimal:
    """A model without a price of its own costs as much as the dearest one."""
    prices: Mapping[str, Mapping[str, float]] = settings.LLM_PRICES
    money = Decimal(0)
    named = [prices[part.model]] if part.model in prices else prices.values()
    for price in named:
        asked = Decimal(str(price["prompt"])) * part.prompt_tokens
        written = Decimal(str(price["completion"])) * part.completion_tokens
        money = max(money, (asked + written) / _MILLION)
    return money


def _money(amount: float) -> Decimal:
    return Decimal(str(amount))


def allowed(scope: Scope) -> Allowed:
    tokens, money = settings.BUDGET_CUSTOMER_TOKENS, settings.BUDGET_CUSTOMER_MONEY
    if scope is None:
        tokens, money = settings.BUDGET_TOTAL_TOKENS, settings.BUDGET_TOTAL_MONEY
    return Allowed(tokens, _money(money))


def spent_today(scope: Scope, *, now: datetime) -> Spent:
    """By the runs that began today and have ended."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if scope is None:
        found = Run.objects.filter(created_at__gte=midnight).aggregate(**_SUMS)
        tokens, money = found["tokens"], found["money"]
    else:
        tokens, money = _CUSTOMERS.first(since=midnight, account=scope) or (0, 0)
    return Spent(tokens or 0, money or Decimal(0))


_SUMS: dict[str, Any] = {
    "tokens": Sum(F("prompt_tokens") + F("completion_tokens")),
    "money": Sum("cost"),
}
_CUSTOMERS = Select(
    lambda: (
        Run.objects.filter(
            created_at__gte=Place("since"), conversation__account_id=Place("account")
        )
        .order_by()
        .values("conversation__account_id")
        .annotate(**_SUMS)
        .values_list(*_SUMS)
    )
)


@dataclass(slots=True)
class _Day:
    """What a customer, or everybody, has spent: ended runs and those carried here."""

    ended: Spent = Spent()
    carried: dict[UUID, Spent] = field(default_factory=dict)
    flying: Spent = Spent()

    @property
    def spent(self) -> Spent:
        return self.ended + self.flying

    def add(self, run_id: UUID, cost: Spent) -> None:
        self.carried[run_id] = self.carried.get(run_id, Spent()) + cost
        self.flying += cost

    def end(self, run_id: UUID, *, kept: bool) -> None:
        gone = self.carried.pop(run_id, Spent())
        self.flying += Spent(-gone.tokens, -gone.money)
        if kept:
            self.ended += gone


class Till:
    """The spending of one process."""

    def __init__(self) -> None:
        self._customers: dict[int, _Day] = {}
        self._everybody = _Day()
        self._looked_at: float | None = None
        self._said: set[str] = set()

    async def open(
        self, run_id: UUID, account_id: int, *, before: Spent, today: Spent
    ) -> None:
        """Begin to count a run, which may have cost something ``before`` it came here.

        ``today`` is the database's word on what its customer has spent; on everybody's
        it is asked for now and then.
        """
        now = timezone.now()
        day = self._customers.setdefault(account_id, _Day())
        day.ended = today
        fresh = self._looked_at and monotonic() - self._looked_at < TOTAL_IS_FRESH
        if not fresh:
            self._looked_at = monotonic()
            self._everybody.ended = await in_database(spent_today, None, now=now)
        self.add(run_id, account_id, before)

    def add(self, run_id: UUID, account_id: int, cost: Spent) -> None:
        self._customers.setdefault(account_id, _Day()).add(run_id, cost)
        self._everybody.add(run_id, cost)

    def close(self, run_id: UUID, account_id: int, *, ended: bool) -> None:
        """Count the run no more; ``ended``: its cost stands in the database now."""
        self._everybody.end(run_id, kept=ended)
        if day := self._customers.get(account_id):
            day.end(run_id, kept=ended)
            if not day.carried:
                del self._customers[account_id]

    def run_cost(self, run_id: UUID) -> Spent:
        return self._everybody.carried.get(run_id, Spent())

    def shares(self, account_id: int) -> Mapping[Scope, Decimal]:
        """How much of each daily limit is used up."""
        day = self._customers.get(account_id, _Day())
        return {
            account_id: allowed(account_id).share(day.spent),
            None: allowed(None).share(self._everybody.spent),
        }

    def is_reached(self, run_id: UUID, account_id: int) -> bool:
        """Whether the next model call would be past a limit."""
        run = Allowed(0, _money(settings.BUDGET_RUN_MONEY))
        shares = [run.share(self.run_cost(run_id)), *self.shares(account_id).values()]
        return max(shares) >= 1

    async def alert(self, account_id: int) -> None:
        """Tell staff, once a day and limit, at 80 % and when it is reached."""
        today = timezone.now().date().isoformat()
        news = []
        for scope, share in self.shares(account_id).items():
            for level, at in (("near", ALERT_AT), ("reached", Decimal(1))):
                key = f"budget:{today}:{'all' if scope is None else scope}:{level}"
                if share >= at and key not in self._said:
                    news.append((scope, level, key))
        if news:
            await in_database(_raise_alerts, news)
            self._said.update(key for _, _, key in news)


till = one_per_loop(Till)


@transaction.atomic
def _raise_alerts(news: Collection[tuple[Scope, str, str]]) -> None:
    for scope, level, key in news:
        whose = "everybody's" if scope is None else f"account {scope}'s"
        what = "is used up to 80 %" if level == "near" else "is used up"
        raise_alert(
            f"budget_{level}",
            key=key,
            text=f"Of today's model budget, {whose} part {what}.",
            ids={} if scope is None else {"account": scope},
            now=timezone.now(),
        )
