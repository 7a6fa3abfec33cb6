"""What a run's evidence comes to: the check on a draft, code's own draft, the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from chatbot.react import state as known
from chatbot.react.coverage import answer_covers_question, question_slots
from chatbot.react.types import (
    Coverage,
    FinalAnswer,
    HandOver,
    Rules,
    RunState,
    Slot,
    SlotState,
    Stop,
    StopReason,
)
from chatbot.react.wording import answer_from_slots, articles_quoted, orders_listed
from chatbot.understanding.needs import Language, Need, Question
from tools.contracts import Observation, ObservationStatus

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
# For a question that asks nothing of an order desk, when no draft was fit to be shown.
WHAT_WE_DO: Mapping[Language, str] = {
    "en": "I can look up your orders, parcels and refunds, tell you the shop's rules, "
    "or bring in a colleague. Which would you like?",
    "zh": "我可以帮您查订单、物流和退款，解答店铺的规定，也可以转人工客服。"
    "请问您需要哪一项？",
}


def check(text: str, state: RunState, rules: Rules) -> Coverage:
    """The completion check on a text, against this run's own observations."""
    return answer_covers_question(
        text,
        question=known.question_of(state),
        observations=known.observations(state),
        proofs=rules.proofs,
        background=state.background,
        secrets=rules.secrets,
    )


def slots_so_far(state: RunState, rules: Rules) -> tuple[Slot, ...]:
    """What is asked, as far as the observations fill it."""
    if state.question is None:
        return ()
    return question_slots(
        question=_as_a_whole(state.question),
        observations=known.observations(state),
        proofs=rules.proofs,
        background=state.background,
    )


def how_it_stands(state: RunState, rules: Rules) -> tuple[Slot, ...]:
    """The status of the orders that were looked at, whatever was asked."""
    question = replace(known.question_of(state), needs=(Need.ORDER_STATUS,), asks=())
    looked_at = [one.tool for one in known.observations(state)]
    if "get_order" not in looked_at:
        return ()
    return question_slots(
        question=question,
        observations=[
            one for one in known.observations(state) if one.tool != "list_my_orders"
        ],
        proofs=rules.proofs,
        background=state.background,
    )


def _as_a_whole(question: Question) -> Question:
    """Whoever names an order and asks nothing asks how it stands."""
    if question.needs == (Need.NONE,) and known.numbers_in(question):
        return replace(question, needs=(Need.ORDER_STATUS, Need.LOCATION))
    return question


def told_by_code(slots: Iterable[Slot], state: RunState) -> str:
    """What was found and what was not, in code's words; "" where nothing is to tell."""
    language, zone = known.language_of(state), state.background.time_zone
    seen = known.observations(state)
    if told := list(slots):
        return answer_from_slots(told, seen, language=language, time_zone=zone)
    for one in reversed(seen):
        if one.status is not ObservationStatus.OK:
            continue
        if one.tool == "list_my_orders":
            return orders_listed(one, language=language, time_zone=zone)
        if one.tool == "search_help":
            return articles_quoted(one, language=language, time_zone=zone)
    return ""


# ---- the reason


def lacks_evidence(state: RunState, rules: Rules) -> bool:
    """Whether an answer about an order would come before any real observation."""
    if state.question is None or _ABOUT_ORDERS.isdisjoint(state.question.needs):
        return False
    return len(known.observations(state)) < rules.limits.min_evidence


def reason_of_a_good_answer(
    coverage: Coverage, state: RunState, rules: Rules
) -> StopReason:
    """How a run ends whose answer passed.

    A lookup that failed leaves its need open, however honestly that is said; a shop
    that knows no such order has proved nothing; a field that is empty ("no tracking
    number yet") is an answer.
    """
    slots = coverage.slots or slots_so_far(state, rules)
    whys = {s.why for s in slots if s.state is SlotState.UNFILLABLE}
    if whys & TOOL_FAILURES:
        return StopReason.TOOL_FAILED
    filled = any(slot.state is SlotState.FILLED for slot in slots)
    if whys and not filled and "missing_field" not in whys:
        return StopReason.INSUFFICIENT_EVIDENCE
    return StopReason.ANSWERED


def without_a_good_draft(state: RunState, rules: Rules) -> Stop:
    """The end of a run whose model brings no draft that passes.

    Code then makes a draft of its own from what was observed, which is held to the same
    check: where it passes, the question is answered all the same. A wish for a person
    is fulfilled.
    """
    question, slots = known.question_of(state), slots_so_far(state, rules)
    if Need.HUMAN in question.needs:
        return Stop(StopReason.HANDED_OVER, HandOver("the customer asks for a person"))
    text = told_by_code(slots, state)
    if not text and _asks_nothing(question):
        text = WHAT_WE_DO[question.language]
    coverage = check(text, state, rules)
    if text and coverage.passed and not lacks_evidence(state, rules):
        reason = reason_of_a_good_answer(coverage, state, rules)
        return Stop(reason, FinalAnswer(text), coverage)
    return Stop(_reason_of_a_gap(slots, known.observations(state)))


def _asks_nothing(question: Question) -> bool:
    return question.needs == (Need.NONE,) and not known.numbers_in(question)


def _reason_of_a_gap(slots: Iterable[Slot], seen: Iterable[Observation]) -> StopReason:
    whys = {slot.why for slot in slots} or {one.status for one in seen}
    failed = bool(whys & TOOL_FAILURES)
    return StopReason.TOOL_FAILED if failed else StopReason.INSUFFICIENT_EVIDENCE
