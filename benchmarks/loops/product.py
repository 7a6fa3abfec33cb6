"""The product's own loop with every check, tools in memory, nothing stored."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import django

from benchmarks.scenario import IN_MEMORY

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatbot.settings")
django.setup()

from chatbot.assistant.wiring import build_run  # noqa: E402
from chatbot.react.loop import run_react  # noqa: E402
from chatbot.react.signals import Signals  # noqa: E402
from chatbot.react.types import Background, RunState, Stopped  # noqa: E402
from chatbot.understanding.needs import read_question  # noqa: E402
from tools.contracts import (  # noqa: E402
    Actor,
    Observation,
    ObservationStatus,
    Role,
    ToolCall,
)


def _now() -> datetime:
    return datetime.now(UTC)


async def _observe(call: ToolCall, observation_id: str) -> Observation:
    return Observation(
        id=observation_id,
        call_id=call.id,
        tool=call.name,
        arguments=call.arguments,
        status=ObservationStatus.OK,
        fields=json.loads(IN_MEMORY[call.name](**call.arguments)),
        observed_at=_now(),
        source="memory",
    )


async def connect(
    *, base_url: str, model: str, stream: bool
) -> Callable[[str], Awaitable[str]]:
    """Endpoint, model and streaming come from the same variables as the settings do."""

    async def answer(text: str) -> str:
        background = Background()
        state = RunState(background, question=read_question(text))
        parts = build_run(
            actor=Actor(Role.CUSTOMER, "C-LIN"),
            background=background,
            model_name="openai",
        )
        async for event in run_react(
            state,
            model=parts.model,
            tools=parts.tools,
            observe=_observe,
            limits=parts.limits,
            proofs=parts.proofs,
            signals=Signals(),
            now=_now,
            secrets=parts.secrets,
        ):
            if isinstance(event, Stopped):
                return event.answer
        raise RuntimeError("no answer")

    return answer
