"""What the model may cost: the last call within it is made, the next one is not."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from chatbot.chat.budget import cost_of, spent_today
from chatbot.chat.launch import launcher
from chatbot.chat.models import Conversation, HandOver, Run, RunPhase
from chatbot.react.types import Reply, StopReason, Usage
from chatbot.workflow.models import Alert
from tests.chat.conftest import TWO_STEPS, World, say, until_stopped
from tools.database import in_database

# Of a run of the two steps; the scripted model says 100 and 20 tokens a reply.
CALL, RUN = 120, 360
PRICES = {"scripted": {"prompt": 1.0, "completion": 5.0}}


@pytest.fixture
def played(world: World, settings: Settings) -> World:
    settings.BUDGET_TOTAL_TOKENS = 0
    world.plays(*TWO_STEPS)
    return world


def ended_run(conversation: Conversation, tokens: int, **columns: Any) -> Run:
    now = timezone.now()
    return Run.objects.create(
        conversation=conversation,
        phase=RunPhase.STOPPED,
        stop_reason=StopReason.ANSWERED,
        prompt_tokens=tokens,
        created_at=now,
        due_at=now,
        **columns,
    )


@pytest.mark.parametrize(
    ("before", "calls"), [(1000 - RUN + 1, 3), (1000 - 2 * CALL, 2), (1000, 0)]
)
async def test_a_customer_s_day_ends_before_the_first_call_past_it(
    played: World,
    conversation: Conversation,
    settings: Settings,
    before: int,
    calls: int,
) -> None:
    settings.BUDGET_CUSTOMER_TOKENS = 1000
    await in_database(ended_run, conversation, before)
    await say(conversation)
    run = await until_stopped(conversation)
    assert run.prompt_tokens + run.completion_tokens == calls * CALL
    reached = calls < 3
    assert (run.stop_reason == StopReason.BUDGET_LIMIT) is reached
    hand_overs = HandOver.objects.filter(run=run)
    assert await in_database(hand_overs.count) == int(reached)


async def test_everybody_s_day_ends_everybody_s_runs(
    played: World, conversation: Conversation, settings: Settings
) -> None:
    settings.BUDGET_TOTAL_TOKENS = 2 * CALL
    await say(conversation)
    run = await until_stopped(conversation)
    assert run.stop_reason == StopReason.BUDGET_LIMIT
    assert run.prompt_tokens + run.completion_tokens == 2 * CALL


async def test_a_run_ends_where_its_money_does(
    played: World, conversation: Conversation, settings: Settings
) -> None:
    settings.LLM_PRICES = PRICES
    one_call = cost_of("scripted", Usage(100, 20)).money
    settings.BUDGET_RUN_MONEY = float(one_call)
    await say(conversation)
    run = await until_stopped(conversation)
    assert run.stop_reason == StopReason.BUDGET_LIMIT
    assert run.cost == one_call == Decimal("0.0002")


@pytest.mark.parametrize(
    ("limit", "kinds"),
    [
        (450, ["budget_near"]),
        (451, []),
        (RUN, ["budget_near", "budget_reached"]),
        (RUN + 1, ["budget_near"]),
    ],
)
async def test_staff_hear_once_at_80_percent_and_once_when_it_is_reached(
    played: World,
    conversation: Conversation,
    settings: Settings,
    limit: int,
    kinds: list[str],
) -> None:
    settings.BUDGET_CUSTOMER_TOKENS = limit
    await say(conversation)
    await until_stopped(conversation)
    await launcher().drain()
    alerts = Alert.objects.order_by("id")
    found = await in_database(lambda: [alert.kind for alert in alerts])
    assert found == kinds


def test_a_model_without_a_price_costs_as_much_as_the_dearest(
    settings: Settings,
) -> None:
    settings.LLM_PRICES = {**PRICES, "dear": {"prompt": 10, "completion": 30}}
    usage = Usage(1_000_000, 100_000)
    assert cost_of("scripted", usage).money == Decimal("1.5")
    assert cost_of("new", usage).money == cost_of("dear", usage).money == 13


def test_each_model_is_paid_at_its_own_price(settings: Settings) -> None:
    """Of a run whose plan and wording came from others than its deciding model."""
    settings.LLM_PRICES = {
        "large": {"prompt": 10, "completion": 30},
        "middle": {"prompt": 2, "completion": 8},
        "small": {"prompt": 1, "completion": 4},
    }
    million = 1_000_000
    planned = Usage(million, million).by("middle")
    worded = Usage(million, million).by("small")
    alone = Usage(million, million)
    assert cost_of("large", planned).money == 10
    assert cost_of("large", worded).money == 5
    assert cost_of("large", alone).money == 40
    assert cost_of("large", planned + worded + alone).money == 55
    assert cost_of("large", planned + worded + alone).tokens == 6 * million
    assert cost_of("large", alone.by("unnamed")).money == 40


async def test_a_run_is_charged_what_each_of_its_models_costs(
    world: World, conversation: Conversation, settings: Settings
) -> None:
    settings.LLM_PRICES = {
        "scripted": {"prompt": 10, "completion": 10},
        "small": {"prompt": 1, "completion": 1},
    }
    cheap = Reply((TWO_STEPS[0],), Usage(100, 20).by("small"))  # type: ignore[arg-type]
    world.plays(cheap, *TWO_STEPS[1:])
    await say(conversation)
    run = await until_stopped(conversation)
    assert run.prompt_tokens + run.completion_tokens == RUN
    assert run.cost == Decimal("0.00252")


@pytest.mark.django_db
def test_a_day_counts_its_own_runs_of_its_own_customer(
    conversation: Conversation, mei: Any
) -> None:
    now = timezone.now()
    ended_run(conversation, 100, cost=Decimal("0.5"))
    old = ended_run(conversation, 7)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    Run.objects.filter(pk=old.pk).update(
        created_at=midnight - timedelta(microseconds=1)
    )
    own = spent_today(conversation.account_id, now=now)
    assert (own.tokens, own.money) == (100, Decimal("0.5"))
    assert spent_today(mei.account.pk, now=now).tokens == 0
    assert spent_today(None, now=now) == own
