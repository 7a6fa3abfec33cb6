"""The model off: no question reaches it, and each waits until it is on again."""

from __future__ import annotations

import pytest
from django.utils import timezone

from chatbot.chat.models import Conversation, Run
from chatbot.chat.switched import look
from chatbot.react.types import StopReason
from chatbot.workflow import switches
from chatbot.workflow.models import SwitchName
from tests.cast import person
from tests.chat.conftest import TWO_STEPS, World, kinds, say, until, until_stopped
from tools.database import in_database

pytestmark = pytest.mark.django_db(transaction=True)


def turn(*, off: bool) -> None:
    user = person("sam").user
    switches.throw(
        SwitchName.MODEL, off=off, by=user, reason="drill", now=timezone.now()
    )


async def test_a_question_is_not_asked_of_a_model_that_is_off(
    world: World, conversation: Conversation
) -> None:
    await in_database(turn, off=True)
    world.plays(*TWO_STEPS)
    world.plays(*TWO_STEPS)
    await say(conversation)

    def stopped() -> list[str]:
        rows = conversation.runs.exclude(stop_reason="").order_by("created_at")
        return list(rows.values_list("stop_reason", flat=True))

    async def ended() -> bool:
        return await in_database(stopped) != []

    await until(ended)
    assert await in_database(stopped) == [StopReason.MODEL_ERROR]
    shown = await in_database(kinds, conversation)
    assert "acted" not in shown
    assert "assistant" in shown
    waiting = await in_database(Run.objects.get, stop_reason="")
    assert waiting.away_since is not None


async def test_a_model_that_is_on_again_is_asked_within_a_second(
    world: World, conversation: Conversation
) -> None:
    await in_database(turn, off=True)
    assert await look().model_is_off()
    await in_database(turn, off=False)

    async def on() -> bool:
        return not await look().model_is_off()

    await until(on)
    world.plays(*TWO_STEPS)
    await say(conversation)
    run = await until_stopped(conversation)
    assert run.stop_reason == StopReason.ANSWERED
