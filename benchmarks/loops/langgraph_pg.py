"""LangGraph's prebuilt ReAct agent with its PostgreSQL checkpointer on a pool of 10."""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

os.environ["LANGSMITH_TRACING"] = "false"
warnings.filterwarnings("ignore")

from langchain_core.tools import tool  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # noqa: E402
from langgraph.prebuilt import create_react_agent  # noqa: E402
from psycopg.rows import dict_row  # noqa: E402
from psycopg_pool import AsyncConnectionPool  # noqa: E402

from benchmarks import scenario  # noqa: E402


@tool
async def get_order(order_id: str) -> str:
    """Look up one order and its parcels."""
    return scenario.get_order(order_id)


@tool
async def track_shipment(tracking_id: str) -> str:
    """Where a parcel is now."""
    return scenario.track_shipment(tracking_id)


async def connect(
    *, base_url: str, model: str, stream: bool
) -> Callable[[str], Awaitable[str]]:
    pool = AsyncConnectionPool(
        os.environ["PEER_DATABASE_URL"],
        min_size=2,
        max_size=10,
        open=False,
        timeout=120,
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
    )
    await pool.open()
    saver = AsyncPostgresSaver(pool)
    await saver.setup()
    llm = ChatOpenAI(
        base_url=base_url, api_key="k", model=model, max_retries=0, streaming=stream
    )
    agent = create_react_agent(
        llm, [get_order, track_shipment], prompt=scenario.SYSTEM, checkpointer=saver
    )

    async def answer(text: str) -> str:
        config = {"configurable": {"thread_id": uuid.uuid4().hex}}
        asked: Any = {"messages": [("user", text)]}
        last: Any = None
        async for update in agent.astream(asked, config, stream_mode="updates"):
            for part in update.values():
                last = part["messages"][-1]
        return str(last.content)

    return answer
