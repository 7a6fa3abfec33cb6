"""A model that goes away and comes back: one apology, then one answer by itself."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import psycopg
import pytest

from chatbot.chat.away import WAITS_AT_MOST
from chatbot.evals.model_server import ModelServer
from tests.durability.conftest import page, started
from tests.servers.crowd import Seat
from tests.servers.records import Records, differences
from tests.servers.stack import Stack


@pytest.fixture(autouse=True)
def _model_comes_back(model: ModelServer) -> object:
    yield
    if model.away:
        model.come_back()


async def test_a_question_waits_for_the_model_and_is_answered_when_it_is_back(
    stack: Stack, seat: Seat, records: Records, model: ModelServer
) -> None:
    await started(stack.product.web)
    async with page(seat, stack) as client:
        await client.until(lambda: client.caught_up >= 0)
        await asyncio.to_thread(model.leave)
        first = await client.ask()
        assert first["reason"] == "model_error"
        assert "by myself" in client.log[-2]["text"]
        # It goes on waiting quietly: nothing more is said while the model is away.
        await asyncio.sleep(6)
        assert client.log[-1] == first
        assert records.unfinished_runs() == 1
        await asyncio.to_thread(model.come_back)
        await client.until(lambda: client.log[-1]["type"] == "run.stopped", seconds=60)
        await client.until(lambda: client.log[-1] != first, seconds=60)
        await client.until(lambda: client.log[-1]["type"] == "run.stopped", seconds=60)
        assert client.log[-1]["reason"] == "answered"
        said = [e["speaker"] for e in client.log if e["type"] == "message"]
        assert said == ["customer", "assistant", "assistant"]
        assert differences(client.log, records.log(seat.conversation)) == 0


async def test_after_a_quarter_of_an_hour_a_person_is_asked(
    stack: Stack, seat: Seat, records: Records, model: ModelServer
) -> None:
    await started(stack.product.web)
    async with page(seat, stack) as client:
        await client.until(lambda: client.caught_up >= 0)
        await asyncio.to_thread(model.leave)
        first = await client.ask()
        with psycopg.connect(records.url) as database:
            database.execute(
                "UPDATE chat_run SET away_since = away_since - %s"
                " WHERE phase <> 'stopped'",
                [WAITS_AT_MOST - timedelta(seconds=1)],
            )
        await client.until(lambda: client.log[-1] != first, seconds=60)
        await client.until(lambda: client.log[-1]["type"] == "run.stopped", seconds=60)
        last = client.log[-1]
        assert (last["reason"], last["hand_over"]) == ("model_error", "made")
        assert "colleague will look" in client.log[-2]["text"]
        assert records.unfinished_runs() == 0
        count = "SELECT count(*) FROM chat_handover WHERE conversation_id = %s"
        assert records.number(count, seat.conversation) == 1
