"""All modes on one task, each in a scratch world of its own."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from chatbot.assistant.wiring import build_model, instructions, limits_from_settings
from chatbot.chat.models import Message, Speaker
from chatbot.evals.cases.house import case_database
from chatbot.evals.cases.world import BASE, conversation_of, photograph, plant
from chatbot.evals.control_modes import modes
from chatbot.evals.control_modes.doors import Doors
from chatbot.evals.control_modes.models import (
    HASTY_PLAN,
    PATIENT_PLAN,
    TASKS,
    Counted,
    impatient_model,
    planner,
)
from chatbot.evals.control_modes.trace import Trace
from chatbot.evals.scratch import scratch_database
from chatbot.llm.pool import close_connections
from chatbot.react.model import Model
from chatbot.understanding.needs import Language
from tools.contracts import Actor, Role

Mode = Callable[[Doors, Counted, Path], Awaitable[Trace]]


async def _react(doors: Doors, model: Counted, folder: Path) -> Trace:
    return await modes.react(doors, model)


async def _workflow(doors: Doors, model: Counted, folder: Path) -> Trace:
    return await modes.workflow(doors)


async def _naive(doors: Doors, model: Counted, folder: Path) -> Trace:
    return await modes.naive(doors, model)


def demonstrate(language: Language, model_name: str) -> list[Trace]:
    """The traces of all modes; ``model_name`` is "offline" or "openai"."""
    offline = model_name == "offline"

    def model(own: Model) -> Model:
        return own if offline else build_model(model_name, limits_from_settings())

    plays: list[tuple[Mode, Model]] = [
        (_react, model(impatient_model(language))),
        (modes.plan_and_execute, model(planner(HASTY_PLAN, PATIENT_PLAN))),
        (_workflow, model(impatient_model(language))),
        # The plan that was accepted: what differs is the executor alone.
        (_naive, model(planner(PATIENT_PLAN))),
    ]
    with scratch_database():
        return [
            _play(mode, Counted(one, instructions()[language]), number, language)
            for number, (mode, one) in enumerate(plays)
        ]


def _play(mode: Mode, model: Counted, number: int, language: Language) -> Trace:
    with case_database(number), tempfile.TemporaryDirectory() as folder:
        plant(BASE, Path(folder))
        conversation = conversation_of("alice")
        task = TASKS[language]
        Message.objects.create(
            conversation=conversation,
            seq=1,
            speaker=Speaker.CUSTOMER,
            text=task,
            created_at=conversation.created_at,
        )
        type(conversation).objects.filter(pk=conversation.pk).update(last_seq=1)
        actor = Actor(Role.CUSTOMER, "C-ALICE", language=language)
        doors = Doors(actor, conversation.pk, (task,), language)
        began = time.perf_counter()
        trace, attempts = asyncio.run(_with_attempts(mode, doors, model, Path(folder)))
        trace.seconds = time.perf_counter() - began
        trace.unapproved, trace.attempts = doors.unapproved, attempts
        trace.effects = len(photograph()["effects"])
        trace.model_calls, trace.tokens = model.calls, model.tokens
        trace.tokens_estimated = model.estimated
        return trace


async def _with_attempts(
    mode: Mode, doors: Doors, model: Counted, folder: Path
) -> tuple[Trace, int]:
    try:
        trace = await mode(doors, model, folder)
        return trace, await doors.attempts()
    finally:
        await close_connections()
