"""The loop's vocabulary: what a model proposes, what code decides, what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from chatbot.understanding.needs import Language, Need, Question
from tools.contracts import Json, Observation, ToolCall, ToolSpec


class StopReason(StrEnum):
    """Why a run ended. Every run ends with exactly one."""

    ANSWERED = "answered"
    NEEDS_CUSTOMER = "needs_customer"
    AWAITING_APPROVAL = "awaiting_approval"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    TOOL_FAILED = "tool_failed"
    STEP_LIMIT = "step_limit"
    TIME_LIMIT = "time_limit"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - a stop reason, no secret
    BUDGET_LIMIT = "budget_limit"
    REPEATED_ACTION = "repeated_action"
    NO_PROGRESS = "no_progress"
    REFUSED_ACTION = "refused_action"
    MODEL_ERROR = "model_error"
    INTERNAL_ERROR = "internal_error"
    HANDED_OVER = "handed_over"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use; docs/settings.md has the unit and bounds of each."""

    max_steps: int = 8
    max_tool_calls: int = 8
    max_model_calls: int = 10
    max_tokens: int = 60_000
    max_seconds: float = 90.0
    max_identical_calls: int = 2
    min_evidence: int = 1
    max_answers_sent_back: int = 2
    max_refusals: int = 3
    max_without_new_fact: int = 2
    observation_window: int = 5
    max_observation_bytes: int = 4096


# ---- what a model proposes


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """A draft for the customer. It is shown only after it has been checked."""

    text: str


class Form(StrEnum):
    """What a visitor who is not signed in may do next, in place of an answer."""

    VERIFY = "verify"
    SIGN_IN = "sign_in"


@dataclass(frozen=True, slots=True)
class AskCustomer:
    """A question back; ``options`` become buttons (order numbers, at most eight).

    ``form`` is code's alone: no model asks for one.
    """

    text: str
    options: tuple[str, ...] = ()
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class HandOver:
    """A wish for a person; ``reason`` is for staff."""

    reason: str
    text: str = ""


Proposal: TypeAlias = ToolCall | FinalAnswer | AskCustomer | HandOver


@dataclass(frozen=True, slots=True)
class Malformed:
    """A part of a reply that is no proposal: never repaired, only refused.

    ``call_id`` and ``name`` are as the model sent them, so that the refusal can be
    given back as that call's result.
    """

    problem: str
    call_id: str = ""
    name: str = ""
    raw_arguments: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a usage that one named model has."""

    model: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of model calls; ``estimated`` where a provider sent no figure.

    ``shares`` are the parts that went to a model of another name than the run's own,
    which has its own price.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    shares: tuple[Share, ...] = ()

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def by(self, model: str) -> Usage:
        """The same, as the part of this model."""
        return replace(
            self, shares=(Share(model, self.prompt_tokens, self.completion_tokens),)
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            estimated=self.estimated or other.estimated,
            shares=self.shares + other.shares,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """One whole model reply. A reply cut short is a ``ModelError`` instead."""

    proposals: tuple[Proposal | Malformed, ...]
    usage: Usage = Usage()


class ModelError(Exception):
    """A model call that brought no whole reply.

    ``retry_after`` is in seconds where the provider named it. ``usage`` is what the
    call cost although it failed. The message never holds a key or a raw vendor reply.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ):
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.usage = usage or Usage()


# ---- what code decides


@dataclass(frozen=True, slots=True)
class Observe:
    """Run this read; or, where ``earlier`` is set, give back what it said before."""

    call: ToolCall
    earlier: Observation | None = None


@dataclass(frozen=True, slots=True)
class TryAgain:
    """Refused: ``code`` for the trace, ``feedback`` for the model."""

    code: str
    feedback: str
    call: ToolCall | None = None
    coverage: Coverage | None = None


@dataclass(frozen=True, slots=True)
class Suspend:
    """A write that may be made: the run ends here and waits for a person."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Stop:
    """The run ends. Without a ``proposal`` the customer's text is worded by code."""

    reason: StopReason
    proposal: FinalAnswer | AskCustomer | HandOver | None = None
    coverage: Coverage | None = None


Decision: TypeAlias = Observe | TryAgain | Suspend | Stop


# ---- what counts as proof


@dataclass(frozen=True, slots=True)
class Proof:
    """An observed field that fills a need: ``path`` is dotted, ``[]`` walks a list."""

    need: Need
    tool: str
    path: str


@dataclass(frozen=True, slots=True)
class Rules:
    """What every decision of one run is measured by.

    ``secrets`` are texts of which no part may be repeated to the customer.
    """

    tools: Mapping[str, ToolSpec]
    limits: Limits
    proofs: Sequence[Proof]
    secrets: Sequence[str] = ()


class SlotState(StrEnum):
    FILLED = "filled"
    UNFILLABLE = "unfillable"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Slot:
    """One need about one order, and what became of it.

    ``why`` is a code where it is not filled: ``not_found``, ``timeout``,
    ``unavailable``, ``denied``, ``bad_result``, ``missing_field``, ``not_asked``.
    ``tracking_id`` names the parcel where the need is about one parcel of the order.
    """

    need: Need
    order: str | None
    state: SlotState
    observation_id: str | None = None
    path: str | None = None
    value: Json = None
    observed_at: datetime | None = None
    source: str | None = None
    why: str = ""
    tracking_id: str | None = None


ClaimKind: TypeAlias = Literal[
    "order_number", "tracking_number", "date", "amount", "place", "status",
    "promise", "effect", "policy", "contact", "filler", "prompt",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact found in an answer, and the observed field that proves it, if any does."""

    text: str
    kind: ClaimKind
    observation_id: str | None = None
    path: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The verdict of ``answer_covers_question()`` on one draft."""

    slots: tuple[Slot, ...] = ()
    claims: tuple[Claim, ...] = ()
    unsupported: tuple[Claim, ...] = ()
    unanswered: tuple[Slot, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.unsupported and not self.unanswered


# ---- what happened: the events that the loop yields, one stored step each


@dataclass(frozen=True, slots=True)
class Started:
    question: Question
    model: str
    at: datetime
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Joined:
    """Another message of the customer joined; ``question`` is the merged one."""

    step: int
    question: Question
    at: datetime


@dataclass(frozen=True, slots=True)
class Acted:
    """A proposed read was accepted and is about to be made."""

    step: int
    call: ToolCall
    at: datetime
    usage: Usage = Usage()
    model_ms: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """The result of the call with the same ``call_id``.

    ``repeated``: an earlier observation was given back and nothing was run.
    ``new_facts`` counts the facts that no earlier observation of the run held.
    """

    step: int
    observation: Observation
    at: datetime
    repeated: bool = False
    new_facts: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """A proposal that code did not accept; ``feedback`` went back to the model."""

    step: int
    code: str
    feedback: str
    at: datetime
    call_id: str = ""
    tool: str = ""
    arguments: Mapping[str, Json] | None = None
    raw_arguments: str = ""
    thought: str = ""
    usage: Usage = Usage()
    model_ms: int = 0


@dataclass(frozen=True, slots=True)
class SentBack:
    """A draft that did not pass; ``feedback`` names what is missing or unproved."""

    step: int
    draft: str
    coverage: Coverage
    feedback: str
    at: datetime
    usage: Usage = Usage()
    model_ms: int = 0


@dataclass(frozen=True, slots=True)
class Nudged:
    """The model was told, once, that its calls bring nothing new."""

    step: int
    feedback: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """A model call that failed and will be tried again within the run's limits."""

    step: int
    problem: str
    at: datetime
    usage: Usage = Usage()
    model_ms: int = 0


class HandOverMode(StrEnum):
    NONE = "none"
    OFFERED = "offered"
    MADE = "made"


@dataclass(frozen=True, slots=True)
class Stopped:
    """The end of a run, always the last event.

    ``answer`` is what the customer reads, already checked or worded by code.
    ``options`` are buttons for a question back, ``form`` is what a visitor may fill in
    instead. ``request`` is the write that waits.
    """

    step: int
    reason: StopReason
    answer: str
    at: datetime
    coverage: Coverage = Coverage()
    options: tuple[str, ...] = ()
    hand_over: HandOverMode = HandOverMode.NONE
    hand_over_reason: str = ""
    can_retry: bool = False
    request: ToolCall | None = None
    usage: Usage = Usage()
    model_ms: int = 0
    problem: str = ""
    form: Form | None = None


LoopEvent: TypeAlias = (
    Started
    | Joined
    | Acted
    | Observed
    | Refused
    | SentBack
    | Nudged
    | ModelFailed
    | Stopped
)


# ---- what the loop knows


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of the conversation."""

    speaker: Literal["customer", "assistant", "staff"]
    text: str


@dataclass(frozen=True, slots=True)
class Guest:
    """A visitor who is not signed in. ``verified`` are the orders that they proved, as
    written; ``can_verify``: whether this installation can prove one at all."""

    verified: tuple[str, ...] = ()
    can_verify: bool = True


@dataclass(frozen=True, slots=True)
class Background:
    """What a run starts from; nothing in it is evidence for an answer.

    ``turns`` are the earlier messages, oldest first. ``earlier_questions`` are the
    earlier customer messages as read. ``known_numbers`` are the canonical order and
    tracking numbers seen in earlier observations of this conversation. ``guest`` is
    None for whoever is signed in.
    """

    language: Language = "en"
    time_zone: str = "UTC"
    turns: tuple[Turn, ...] = ()
    earlier_questions: tuple[Question, ...] = ()
    known_numbers: frozenset[str] = frozenset()
    handed_over: bool = False
    guest: Guest | None = None


@dataclass(slots=True)
class RunState:
    """Everything that a decision may rest on: the fold of the run's events.

    Only ``state.apply()`` changes it, and ``state.resume(background, events)`` after a
    crash equals the state that the dead process had.
    """

    background: Background
    question: Question | None = None
    started_at: datetime | None = None
    step: int = 0
    events: list[LoopEvent] = field(default_factory=list)
