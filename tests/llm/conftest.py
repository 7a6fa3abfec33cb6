from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from chatbot.evals.model_server import ModelServer, model_server
from chatbot.llm.pool import close_connections


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await close_connections()
