"""pydantic-ai's agent, nothing stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from benchmarks import scenario


async def connect(
    *, base_url: str, model: str, stream: bool
) -> Callable[[str], Awaitable[str]]:
    provider = OpenAIProvider(base_url=base_url, api_key="k")
    agent = Agent(
        OpenAIChatModel(model, provider=provider),
        system_prompt=scenario.SYSTEM,
        retries=0,
    )

    @agent.tool_plain
    async def get_order(order_id: str) -> str:
        """Look up one order and its parcels."""
        return scenario.get_order(order_id)

    @agent.tool_plain
    async def track_shipment(tracking_id: str) -> str:
        """Where a parcel is now."""
        return scenario.track_shipment(tracking_id)

    async def drain(context: Any, events: Any) -> None:
        async for _ in events:
            pass

    async def answer(text: str) -> str:
        handler = drain if stream else None
        done = await agent.run(text, event_stream_handler=handler)
        return str(done.output)

    return answer
