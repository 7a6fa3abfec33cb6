"""The ReAct loop: propose, decide, observe, again, until code stops it.

After "ReAct: Synergizing Reasoning and Acting in Language Models" (Yao et al., 2023),
with one difference: the model's word never ends a run, only a decision of code does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import TypeAlias, assert_never

from chatbot.react import state as known
from chatbot.react.decisions import (
    Rules,
    check,
    decide,
    is_eligible,
    language_of,
)
from chatbot.react.endings import ended
from chatbot.react.model import Model
from chatbot.react.signals import Signals
from chatbot.react.stopping import is_going_nowhere, seconds_left, stop_reason
from chatbot.react.types import (
    Acted,
    Decision,
    FinalAnswer,
    AskCustomer,
    Joined,
    Limits,
    LoopEvent,
    Malformed,
    ModelError,
    ModelFailed,
    Nudged,
    Observe,
    Observed,
    Proof,
    Proposal,
    Refused,
    Reply,
    RunState,
    SentBack,
    Started,
    Stop,
    Stopped,
    StopReason,
    Suspend,
    TryAgain,
    Usage,
)
from chatbot.understanding.needs import Question, merge_questions, read_question
from tools.contracts import Effect, Observation, ToolCall, ToolSpec

Observer: TypeAlias = Callable[[ToolCall, str], Awaitable[Observation]]
