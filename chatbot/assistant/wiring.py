"""Puts one run's parts together: settings choose model, tools and limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from chatbot.assistant.proofs import PROOFS
from chatbot.llm.offline_model import OfflineModel
from chatbot.llm.planning import PlanningModel
from chatbot.llm.wording_model import WordingModel
from chatbot.react.model import Model
from chatbot.react.types import Background, Limits, Proof
from chatbot.understanding.needs import Language
from tools import gateway
from tools.contracts import Actor, Observation, ToolCall, ToolSpec

if TYPE_CHECKING:
    from chatbot.llm.client import Endpoint

# The openai package takes a second of processor time to load: at start where a model
# will be called, so that no run waits for it; never where none will be.
if settings.OPENAI_API_KEY:
    import_module("chatbot.llm.openai_model")

_INSTRUCTIONS = Path(__file__).with_name("instructions.md")


@dataclass(frozen=True, slots=True)
class RunParts:
    """What ``run_react()`` needs beside the state; good for one run."""

    model: Model
    tools: Sequence[ToolSpec]
    observe: Callable[[ToolCall, str], Awaitable[Observation]]
    limits: Limits
    proofs: Sequence[Proof]
    secrets: Sequence[str] = ()


def build_run(
    *, actor: Actor, background: Background, model_name: str | None = None
) -> RunParts:
    """The parts of one run for this actor.

    ``model_name`` is ``offline``, ``openai`` or None for what the settings say: a model
    where a key is set, else the offline one. ``ImproperlyConfigured`` where ``openai``
    is asked for and cannot be had.
    """
    limits = limits_from_settings()
    return RunParts(
        model=build_model(model_name, limits),
        tools=gateway.visible_tools(actor),
        observe=partial(_observe, actor),
        limits=limits,
        proofs=PROOFS,
        secrets=tuple(instructions().values()),
    )


def can_prove_orders() -> bool:
    """Whether the shop tells how an order's buyer is reached."""
    return gateway.can_prove_orders()


async def email_of_order(order_id: str, contact: str) -> str | None:
    """Where to mail a code that proves an order; see ``gateway.email_of_order``."""
    return await gateway.email_of_order(order_id, contact)


async def _observe(actor: Actor, call: ToolCall, observation_id: str) -> Observation:
    return await gateway.observe(call, actor=actor, observation_id=observation_id)


def build_model(model_name: str | None, limits: Limits) -> Model:
    if model_name is None:
        model_name = "openai" if settings.OPENAI_API_KEY else "offline"
    match model_name:
        case "offline":
            return OfflineModel()
        case "openai":
            from chatbot.llm.openai_model import OpenAIModel

            def of(model: str) -> Model:
                return OpenAIModel(
                    replace(endpoint_from_settings(), model=model),
                    instructions=instructions(),
                    window=limits.observation_window,
                    max_bytes=limits.max_observation_bytes,
                )

            decider = of(settings.LLM_MODEL)
            if settings.LLM_WORD_MODEL:
                decider = WordingModel(of(settings.LLM_WORD_MODEL), decider, PROOFS)
            if not settings.LLM_PLAN_FIRST:
                return decider
            planner = of(settings.LLM_PLAN_MODEL or settings.LLM_MODEL)
            return PlanningModel(planner, decider)
        case _:
            raise ImproperlyConfigured(f"there is no model named {model_name!r}")


async def model_answers(model_name: str | None = None) -> bool:
    """Whether the model that ``build_model()`` would choose can be reached now."""
    if model_name == "offline" or not (model_name or settings.OPENAI_API_KEY):
        return True
    from chatbot.llm.probe import answers

    return await answers(endpoint_from_settings())


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


def endpoint_from_settings() -> Endpoint:
    """The model endpoint; a missing or impossible setting is named."""
    from chatbot.llm.client import Endpoint

    for name in ("OPENAI_API_KEY", "LLM_MODEL"):
        if not getattr(settings, name):
            raise ImproperlyConfigured(f"{name} is not set.")
    try:
        return Endpoint(
            model=settings.LLM_MODEL,
            api_key=settings.OPENAI_API_KEY,
            base_url=settings.OPENAI_BASE_URL,
            stream=settings.LLM_STREAM,
            tool_mode=settings.LLM_TOOL_MODE,
            extra_body=settings.LLM_EXTRA_BODY,
            connect=settings.LLM_CONNECT_SECONDS,
            first_token=settings.LLM_FIRST_TOKEN_SECONDS,
            silence=settings.LLM_SILENCE_SECONDS,
            total=settings.LLM_TOTAL_SECONDS,
            retries=settings.LLM_RETRIES,
            max_connections=settings.LLM_MAX_CONNECTIONS,
        )
    except ValueError as problem:
        raise ImproperlyConfigured(str(problem)) from None


@cache
def instructions() -> Mapping[Language, str]:
    """The system text by language: the parts of instructions.md.

    ``ImproperlyConfigured`` where the installation names a file that has them not.
    """
    file = Path(settings.LLM_INSTRUCTIONS_FILE or _INSTRUCTIONS)
    try:
        _, _, text = file.read_text("utf-8").partition("# en\n")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"LLM_INSTRUCTIONS_FILE can't be read: {error}"
        raise ImproperlyConfigured(problem) from None
    english, _, chinese = text.partition("# zh\n")
    if not (english.strip() and chinese.strip()):
        raise ImproperlyConfigured("LLM_INSTRUCTIONS_FILE lacks a part # en or # zh.")
    return {"en": english.strip(), "zh": chinese.strip()}


# A file that can't be used fails the start, not the first question.
instructions()
