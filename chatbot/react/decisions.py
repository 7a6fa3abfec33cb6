"""The runtime's verdict on one proposal: the model proposes, this decides."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import assert_never

from chatbot.react import outcomes
from chatbot.react import state as known
from chatbot.react.facts import facts_of
from chatbot.react.feedback import coverage_feedback
from chatbot.react.grounding.choice import orders_to_choose
from chatbot.react.refusals import numbers_known, refusal, usage
from chatbot.react.types import (
    AskCustomer,
    Coverage,
    Decision,
    FinalAnswer,
    HandOver,
    Malformed,
    Observe,
    Observed,
    Proposal,
    Rules,
    RunState,
    Stop,
    StopReason,
    Suspend,
    TryAgain,
)
from chatbot.understanding.needs import Language, Need
from tools.contracts import (
    Effect,
    ObservationStatus,
    ToolCall,
    argument_problem,
    canonical_number,
)

# What fits on a row of buttons.
MAX_OPTIONS = 8
MAX_OPTION = 80
_MAX_NUMBERS_TOLD = 8
_NUMBER = re.compile(r"(?<![0-9A-Za-z])[A-Za-z]{0,4}-?\d[0-9A-Za-z-]{2,30}")
# An option is what the customer would say: it claims nothing, but may not mislead.
_REFUSED_IN_OPTIONS = frozenset(
    {"order_number", "tracking_number", "contact", "prompt"}
)


def decide(
    proposal: Proposal | Malformed, state: RunState, rules: Rules, *, alone: bool
) -> Decision:
    """What becomes of a proposal. Nothing is run here, and nothing repaired.

    ``alone``: the reply holds no other proposal. Whatever is no read stands alone.
    """
    language = known.language_of(state)
    match proposal:
        case Malformed(problem=problem, name=name):
            right = usage(rules.tools.get(name), language)
            said = refusal("malformed", language, problem=problem, usage=right)
            return TryAgain("malformed", said)
        case ToolCall():
            return _decide_call(proposal, state, rules, alone=alone)
        case FinalAnswer() | AskCustomer() | HandOver() if not alone:
            return TryAgain("not_alone", refusal("not_alone", language))
        case FinalAnswer():
            return _decide_answer(proposal, state, rules)
        case AskCustomer():
            return _decide_question(proposal, state, rules)
        case HandOver():
            return Stop(StopReason.HANDED_OVER, proposal)
        case _:
            assert_never(proposal)


# ---- calls


def _decide_call(
    call: ToolCall, state: RunState, rules: Rules, *, alone: bool
) -> Decision:
    def refuse(code: str, **parts: object) -> TryAgain:
        return TryAgain(code, refusal(code, language, **parts), call)

    language = known.language_of(state)
    spec = rules.tools.get(call.name)
    if spec is None:
        return refuse("unknown_tool", name=call.name, tools=", ".join(rules.tools))
    if problem := argument_problem(spec, call.arguments):
        right = usage(spec, language)
        return refuse("bad_arguments", problem=problem, usage=right)
    if number := _unknown_number(call, state):
        told = numbers_known(_numbers_to_choose_from(state), language)
        return refuse("unknown_number", number=number, known=told)
    if spec.effect is Effect.WRITE and not alone:
        return refuse("write_not_alone", name=call.name)
    return _observe_or_stop(call, state, rules)


def _observe_or_stop(call: ToolCall, state: RunState, rules: Rules) -> Decision:
    before = known.earlier_results(state, call)
    if len(before) >= rules.limits.max_identical_calls:
        return _stop_repeating(state, rules)
    if before:
        return Observe(call, earlier=before[0])
    if known.tool_calls(state) >= rules.limits.max_tool_calls:
        return Stop(StopReason.STEP_LIMIT)
    return Observe(call)


def _stop_repeating(state: RunState, rules: Rules) -> Stop:
    """A model that repeats a call after its draft was sent back can't word what it
    found: code does, where everything is proved."""
    if known.sent_back(state):
        stop = outcomes.without_a_good_draft(state, rules)
        if stop.reason is StopReason.ANSWERED:
            return stop
    return Stop(StopReason.REPEATED_ACTION)


def suspension(state: RunState, rules: Rules) -> Suspend | None:
    """A write whose preview has just said that it may be made.

    The loop looks at a write as it looks at anything: the gateway works out what it
    would do, and does nothing. What is not eligible is an observation like any other.
    """
    match state.events[-1:]:
        case [Observed(observation=preview)]:
            spec = rules.tools.get(preview.tool)
        case _:
            return None
    if spec is None or spec.effect is not Effect.WRITE:
        return None
    if preview.status is not ObservationStatus.OK or not preview.fields.get("eligible"):
        return None
    return Suspend(known.call_of(state, preview.call_id))


# ---- numbers


def _unknown_number(call: ToolCall, state: RunState) -> str | None:
    numbers = [
        value
        for name, value in call.arguments.items()
        if name.endswith("_id") and isinstance(value, str)
    ]
    observed = known.known_numbers(state) if numbers else frozenset()
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


def _numbers_to_choose_from(state: RunState) -> list[str]:
    """Numbers that a call may name, as they are written."""
    asked = known.numbers_in(state.question) if state.question else ()
    seen = known.numbers_seen(state)
    return list(dict.fromkeys((*asked, *seen)))[:_MAX_NUMBERS_TOLD]


# ---- answers and questions back


def _decide_answer(answer: FinalAnswer, state: RunState, rules: Rules) -> Decision:
    if choice := _choice(answer.text, state):
        return _decide_question(AskCustomer(answer.text, choice), state, rules)
    coverage = outcomes.check(answer.text, state, rules)
    if not coverage.passed or outcomes.lacks_evidence(state, rules):
        return _send_back(coverage, state, rules)
    if Need.HUMAN in known.question_of(state).needs:
        return Stop(StopReason.HANDED_OVER, answer, coverage)
    reason = outcomes.reason_of_a_good_answer(coverage, state, rules)
    return Stop(reason, answer, coverage)


def _choice(text: str, state: RunState) -> tuple[str, ...]:
    """The orders that an answer asks to choose from: it is a question back."""
    own = {canonical_number(number): number for number in _orders_listed(state)}
    chosen = orders_to_choose(text, known.question_of(state), own)
    return tuple(own[number] for number in chosen)[:MAX_OPTIONS]


def _orders_listed(state: RunState) -> Iterator[str]:
    for observation in known.observations(state):
        if observation.tool == "list_my_orders":
            for fact in facts_of(observation):
                if fact.kind == "order_number":
                    yield str(fact.value)


def _decide_question(ask: AskCustomer, state: RunState, rules: Rules) -> Decision:
    """A question back claims nothing, and is held to that.

    It may name what earlier runs of the conversation saw: that is no fact yet.
    """
    if not _options_fit(ask, state, rules):
        said = refusal(
            "bad_options",
            known.language_of(state),
            count=MAX_OPTIONS,
            characters=MAX_OPTION,
        )
        return TryAgain("bad_options", said)
    coverage = _without_known_numbers(outcomes.check(ask.text, state, rules), state)
    if coverage.unsupported:
        return _send_back(coverage, state, rules)
    return Stop(StopReason.NEEDS_CUSTOMER, ask, coverage)


def _options_fit(ask: AskCustomer, state: RunState, rules: Rules) -> bool:
    if len(ask.options) > MAX_OPTIONS:
        return False
    if any(not _is_one_short_line(option) for option in ask.options):
        return False
    # A made-up number on a button is one click away from being the customer's own.
    if any(_names_unknown_number(option, state) for option in ask.options):
        return False
    coverage = outcomes.check("\n".join(ask.options), state, rules)
    claims = _without_known_numbers(coverage, state).unsupported
    return not any(claim.kind in _REFUSED_IN_OPTIONS for claim in claims)


def _names_unknown_number(option: str, state: RunState) -> bool:
    known_ones = known.known_numbers(state)
    return any(
        canonical_number(number) not in known_ones and not _was_written(number, state)
        for number in _NUMBER.findall(unicodedata.normalize("NFKC", option))
    )


def _is_one_short_line(option: str) -> bool:
    return 0 < len(option.strip()) <= MAX_OPTION and option.isprintable()


def _without_known_numbers(coverage: Coverage, state: RunState) -> Coverage:
    numbers = known.known_numbers(state)
    claims = tuple(
        claim
        for claim in coverage.unsupported
        if claim.kind not in ("order_number", "tracking_number")
        or canonical_number(claim.text) not in numbers
    )
    return Coverage(coverage.slots, coverage.claims, unsupported=claims)


def _send_back(coverage: Coverage, state: RunState, rules: Rules) -> Decision:
    earlier = known.sent_back(state)
    filler = _is_filler(coverage) and any(_is_filler(one.coverage) for one in earlier)
    if filler or len(earlier) >= rules.limits.max_answers_sent_back:
        return outcomes.without_a_good_draft(state, rules)
    language = known.language_of(state)
    feedback = coverage_feedback(coverage, language) or _NO_EVIDENCE[language]
    return TryAgain("answer", feedback, coverage=coverage)


def _is_filler(coverage: Coverage) -> bool:
    return any(claim.kind == "filler" for claim in coverage.unsupported)


_NO_EVIDENCE: dict[Language, str] = {
    "en": "Too little was looked up yet. Call a tool, then answer from its result.",
    "zh": "查到的信息还不够。请先调用工具，再根据结果回答。",
}
