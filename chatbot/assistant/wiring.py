"""Puts one run's parts together: settings choose model, tools and limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from django.conf import settings

from chatbot.assistant.proofs import PROOFS
from chatbot.llm.offline_model import OfflineModel
from chatbot.react.model import Model
from chatbot.react.types import Background, Limits, Proof
from tools import gateway
from tools.contracts import Actor, Observation, ToolCall, ToolSpec

OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class RunParts:
    """What ``run_react()`` needs beside the state; good for one run."""

    model: Model
    tools: Sequence[ToolSpec]
    observe: Callable[[ToolCall, str], Awaitable[Observation]]
    limits: Limits
    proofs: Sequence[Proof]


def build_run(
    *, actor: Actor, background: Background, model_name: str | None = None
) -> RunParts:
    """The parts of one run for this actor.

    ``model_name`` is "offline", "openai" or None for what the settings say.
    """
    return RunParts(
        model=OfflineModel(),
        tools=gateway.visible_tools(actor),
        observe=partial(_observe, actor),
        limits=limits_from_settings(),
        proofs=PROOFS,
    )


async def _observe(actor: Actor, call: ToolCall, observation_id: str) -> Observation:
    return await gateway.observe(call, actor=actor, observation_id=observation_id)


def model_kind(model_name: str) -> str:
    """``offline`` or ``model``: what the page tells the customer of ``Model.name``."""
    return "offline" if model_name == OfflineModel.name else "model"


def limits_from_settings() -> Limits:
    return Limits(
        max_steps=settings.REACT_MAX_STEPS,
        max_tool_calls=settings.REACT_MAX_TOOL_CALLS,
        max_model_calls=settings.REACT_MAX_MODEL_CALLS,
        max_tokens=settings.REACT_MAX_TOKENS,
        max_seconds=settings.REACT_MAX_SECONDS,
        max_identical_calls=settings.REACT_MAX_IDENTICAL_CALLS,
        min_evidence=settings.REACT_MIN_EVIDENCE,
        max_answers_sent_back=settings.REACT_MAX_ANSWERS_SENT_BACK,
        max_refusals=settings.REACT_MAX_REFUSALS,
        max_without_new_fact=settings.REACT_MAX_WITHOUT_NEW_FACT,
        observation_window=settings.REACT_OBSERVATION_WINDOW,
        max_observation_bytes=settings.REACT_MAX_OBSERVATION_BYTES,
    )
