"""When a run must end, whatever the model would do next."""

from __future__ import annotations

from datetime import datetime

from chatbot.react import state as known
from chatbot.react.signals import Signals
from chatbot.react.types import Limits, RunState, StopReason

# A model that fails this often in a row is away; asking it again helps nobody.
MAX_FAILURES_IN_A_ROW = 2


def stop_reason(
    state: RunState, limits: Limits, *, now: datetime, signals: Signals
) -> StopReason | None:
    """The first limit that is reached, or None.

    Hard limits come first, in this order: a stop from outside (cancelled, budget,
    handed over), time, tokens, steps. Then those that say that the run leads nowhere:
    the model away, model calls used up, proposals refused, nothing new.
    """
    if signals.reason is not None:
        return signals.reason
    if seconds_left(state, limits, now=now) <= 0:
        return StopReason.TIME_LIMIT
    if known.tokens_used(state) >= limits.max_tokens:
        return StopReason.TOKEN_LIMIT
    if state.step >= limits.max_steps:
        return StopReason.STEP_LIMIT
    if known.failures_in_a_row(state) >= MAX_FAILURES_IN_A_ROW:
        return StopReason.MODEL_ERROR
    if known.model_calls(state) >= limits.max_model_calls:
        return StopReason.STEP_LIMIT
    if refused_too_often(state, limits):
        return StopReason.REFUSED_ACTION
    if known.observed_since_nudge(state) and goes_nowhere(state, limits):
        return StopReason.NO_PROGRESS
    return None


def needs_nudge(state: RunState, limits: Limits) -> bool:
    """Whether the model has to be told, once, that its calls bring nothing new."""
    return not known.nudged(state) and goes_nowhere(state, limits)


def goes_nowhere(state: RunState, limits: Limits) -> bool:
    return known.without_new_fact(state) >= limits.max_without_new_fact


def refused_too_often(state: RunState, limits: Limits) -> bool:
    return known.refusals(state) >= limits.max_refusals


def seconds_left(state: RunState, limits: Limits, *, now: datetime) -> float:
    if state.started_at is None:
        return limits.max_seconds
    return limits.max_seconds - (now - state.started_at).total_seconds()
