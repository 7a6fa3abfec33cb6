"""The runtime's verdict on one proposal: the model proposes, this decides."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from chatbot.react import state as known
from chatbot.react.coverage import answer_covers_question
from chatbot.react.feedback import coverage_feedback
from chatbot.react.types import (
    AskCustomer,
    Coverage,
    Decision,
    FinalAnswer,
    HandOver,
    Limits,
    Malformed,
    Observe,
    Proof,
    Proposal,
    RunState,
    SlotState,
    Stop,
    StopReason,
    Suspend,
    TryAgain,
)
from chatbot.understanding.needs import Language, Need
from tools.contracts import (
    Effect,
    Observation,
    ObservationStatus,
    ToolCall,
    ToolSpec,
    argument_problem,
    canonical_number,
)

# What a failed lookup leaves open; "not found" is an answer, these are not.
TOOL_FAILURES = frozenset(
    {
        ObservationStatus.TIMEOUT,
        ObservationStatus.UNAVAILABLE,
        ObservationStatus.BAD_RESULT,
    }
)
_ABOUT_ORDERS = frozenset(
    {
        Need.ORDER_STATUS,
        Need.SHIPPED,
        Need.LOCATION,
        Need.ETA,
        Need.TRACKING_ID,
        Need.REFUND_STATUS,
    }
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What every decision of one run is measured by."""

    tools: Mapping[str, ToolSpec]
    limits: Limits
    proofs: Sequence[Proof]


def decide(
    proposal: Proposal | Malformed, state: RunState, rules: Rules, *, alone: bool
) -> Decision:
    """What becomes of a proposal. Nothing is run here, and nothing repaired.

    ``alone``: the reply holds no other proposal. Whatever is no read stands alone.
    """
    match proposal:
        case Malformed():
            return TryAgain("malformed", _malformed(proposal))
        case ToolCall():
            return _decide_call(proposal, state, rules, alone=alone)
        case FinalAnswer() | AskCustomer() | HandOver() if not alone:
            return TryAgain(
                "not_alone", "Do one thing at a time: either call tools, or answer."
            )
        case FinalAnswer():
            return _decide_answer(proposal, state, rules)
        case AskCustomer():
            return _decide_question(proposal, state, rules)
        case HandOver():
            return Stop(StopReason.HANDED_OVER, proposal)
        case _:
            assert_never(proposal)


def _malformed(proposal: Malformed) -> str:
    name = f" of {proposal.name}" if proposal.name else ""
    return f"The call{name} was not run: {proposal.problem}"


# ---- calls


def _decide_call(
    call: ToolCall, state: RunState, rules: Rules, *, alone: bool
) -> Decision:
    spec = rules.tools.get(call.name)
    if spec is None:
        names = ", ".join(rules.tools)
        problem = f"There is no tool named {call.name!r}. Tools: {names}"
        return TryAgain("unknown_tool", problem, call)
    if problem := argument_problem(spec, call.arguments) or "":
        return TryAgain("bad_arguments", f"{call.name}: {problem}", call)
    if number := _unknown_number(call, state):
        problem = (
            f"{number!r} was neither written by the customer nor returned by a tool. "
            "Look it up first, or ask the customer."
        )
        return TryAgain("unknown_number", problem, call)
    if spec.effect is Effect.WRITE and not alone:
        problem = f"{call.name} changes something and must be the only call."
        return TryAgain("write_not_alone", problem, call)
    return _observe_or_stop(call, state, rules.limits)


def _observe_or_stop(call: ToolCall, state: RunState, limits: Limits) -> Decision:
    before = known.earlier_results(state, call)
    if len(before) >= limits.max_identical_calls:
        return Stop(StopReason.REPEATED_ACTION)
    if before:
        return Observe(call, earlier=before[0])
    if known.tool_calls(state) >= limits.max_tool_calls:
        return Stop(StopReason.STEP_LIMIT)
    return Observe(call)


def _unknown_number(call: ToolCall, state: RunState) -> str | None:
    numbers = [
        value
        for name, value in call.arguments.items()
        if name.endswith("_id") and isinstance(value, str)
    ]
    if not numbers:
        return None
    observed = set(known.known_numbers(state))
    for number in numbers:
        if canonical_number(number) not in observed and not _was_written(number, state):
            return number
    return None


def _was_written(number: str, state: RunState) -> bool:
    key = canonical_number(number)
    if not key:
        return False
    # The customer may have put spaces and dashes anywhere, but not other characters.
    spelled = re.compile(
        r"(?<![0-9A-Z])" + r"[^0-9A-Z\n]{0,3}".join(key) + r"(?![0-9A-Z])"
    )
    return any(spelled.search(text) for text in _customer_texts(state))


def _customer_texts(state: RunState) -> Iterator[str]:
    if state.question is not None:
        yield unicodedata.normalize("NFKC", state.question.text).upper()
    for turn in state.background.turns:
        if turn.speaker == "customer":
            yield unicodedata.normalize("NFKC", turn.text).upper()


# ---- answers and questions back


def _decide_answer(answer: FinalAnswer, state: RunState, rules: Rules) -> Decision:
    coverage = check(answer.text, state, rules)
    if coverage.passed and not _lacks_evidence(state, rules.limits):
        return Stop(reason_of_a_good_answer(coverage), answer, coverage)
    return _send_back(coverage, state, rules.limits)


def _decide_question(ask: AskCustomer, state: RunState, rules: Rules) -> Decision:
    """A question back claims nothing, and is held to that."""
    coverage = check(ask.text, state, rules)
    if not coverage.unsupported:
        return Stop(StopReason.NEEDS_CUSTOMER, ask, coverage)
    only_claims = Coverage(
        slots=coverage.slots, claims=coverage.claims, unsupported=coverage.unsupported
    )
    return _send_back(only_claims, state, rules.limits)


def _send_back(coverage: Coverage, state: RunState, limits: Limits) -> Decision:
    earlier = known.sent_back(state)
    filler = _is_filler(coverage) and any(_is_filler(one.coverage) for one in earlier)
    if filler or len(earlier) >= limits.max_answers_sent_back:
        return Stop(reason_without_answer(state), coverage=coverage)
    feedback = coverage_feedback(coverage, language_of(state))
    return TryAgain(
        "answer", feedback or _NO_EVIDENCE[language_of(state)], None, coverage
    )


def _is_filler(coverage: Coverage) -> bool:
    return any(claim.kind == "filler" for claim in coverage.unsupported)


_NO_EVIDENCE: Mapping[Language, str] = {
    "en": "Nothing was looked up yet. Call a tool first, then answer from its result.",
    "zh": "还没有查询过任何信息。请先调用工具，再根据结果回答。",
}


def _lacks_evidence(state: RunState, limits: Limits) -> bool:
    """Whether an answer about an order would come before any real observation."""
    if state.question is None or _ABOUT_ORDERS.isdisjoint(state.question.needs):
        return False
    return len(known.observations(state)) < limits.min_evidence


def check(text: str, state: RunState, rules: Rules) -> Coverage:
    """The completion check on a text, against this run's own observations."""
    return answer_covers_question(
        text,
        question=known.question_of(state),
        observations=known.observations(state),
        proofs=rules.proofs,
        background=state.background,
    )


def reason_of_a_good_answer(coverage: Coverage) -> StopReason:
    """How a run ends whose answer passed.

    A lookup that failed leaves its need open, however honestly that is said; a shop
    that knows no such order has proved nothing; a field that is empty ("no tracking
    number yet") is an answer.
    """
    whys = {s.why for s in coverage.slots if s.state is SlotState.UNFILLABLE}
    if whys & TOOL_FAILURES:
        return StopReason.TOOL_FAILED
    filled = any(slot.state is SlotState.FILLED for slot in coverage.slots)
    if whys and not filled and "missing_field" not in whys:
        return StopReason.INSUFFICIENT_EVIDENCE
    return StopReason.ANSWERED


def reason_without_answer(state: RunState) -> StopReason:
    """How a run ends in which no draft passed."""
    if any(one.status in TOOL_FAILURES for one in known.observations(state)):
        return StopReason.TOOL_FAILED
    return StopReason.INSUFFICIENT_EVIDENCE


def after_preview(call: ToolCall, preview: Observation) -> Suspend | None:
    """A write that the shop's own rules allow ends the run and waits for a person."""
    ok = preview.status is ObservationStatus.OK
    return Suspend(call) if ok and preview.fields.get("eligible") is True else None


def language_of(state: RunState) -> Language:
    return state.question.language if state.question else state.background.language
