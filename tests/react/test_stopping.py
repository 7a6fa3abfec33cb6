"""Every run ends with one reason, hard limits before soft ones, each at its limit."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from chatbot.llm.scripted_model import (
    ScriptedModel,
    answer,
    ask,
    call,
    fails,
    get_order,
    hand_over,
    malformed,
    never,
    track,
)
from chatbot.react.endings import ENDINGS
from chatbot.react.signals import Signals
from chatbot.react.stopping import MAX_FAILURES_IN_A_ROW, stop_reason
from chatbot.react.types import (
    Acted,
    Background,
    HandOverMode,
    Limits,
    ModelError,
    ModelFailed,
    Nudged,
    Observed,
    Refused,
    Reply,
    RunState,
    SentBack,
    StopReason,
    Usage,
)
from tests.react.play import NOW, Shop, play, with_limits
from tools.contracts import (
    Json,
    Observation,
    ObservationStatus,
    ToolCall,
    ToolSpec,
)

GOOD = answer("Yes, O-204 has shipped with N-88. It is in Wuhan now.")
CALL = ToolCall("c", "search_orders", {"text": "x"})
NOTHING = Observation(
    "obs", "c", "search_orders", {"text": "x"}, ObservationStatus.OK, {}, NOW, "shop"
)


def search(text: str) -> ToolCall:
    return call("search_orders", text=text)


def test_the_two_step_question_is_answered() -> None:
    run = play(ScriptedModel(get_order("O-204"), track("N-88"), GOOD))
    assert run.tools_used == ["get_order", "track_shipment"]
    assert run.stop_reason is StopReason.ANSWERED
    assert run.end.answer == GOOD.text


def full(state: RunState, **much: int) -> RunState:
    """A state that has used up what is named."""
    usage = Usage(much.get("tokens", 0), 0)
    for number in range(much.get("steps", 0)):
        state.events.append(Acted(number + 1, CALL, NOW, usage))
    state.step = much.get("steps", 0)
    state.events += [Refused(0, "x", "x", NOW)] * much.get("refusals", 0)
    if much.get("nudged"):
        state.events.append(Nudged(1, "x", NOW))
    state.events += [Observed(1, NOTHING, NOW)] * much.get("stale", 0)
    state.events += [ModelFailed(0, "x", NOW)] * much.get("failures", 0)
    return state


LIMITS = Limits(max_tokens=1000, max_model_calls=4, max_steps=4)
# From the hardest to the softest: whichever stands first wins over all below it.
ORDER: list[tuple[StopReason, dict[str, int]]] = [
    (StopReason.CANCELLED, {"cancelled": 1}),
    (StopReason.TIME_LIMIT, {"seconds": 90}),
    (StopReason.TOKEN_LIMIT, {"steps": 1, "tokens": 1000}),
    (StopReason.STEP_LIMIT, {"steps": 4}),
    (StopReason.MODEL_ERROR, {"failures": MAX_FAILURES_IN_A_ROW}),
    (StopReason.REFUSED_ACTION, {"refusals": 3}),
    (StopReason.NO_PROGRESS, {"nudged": 1, "stale": 2}),
]


def reason(**much: int) -> StopReason | None:
    seconds = much.pop("seconds", 0)
    signals = Signals()
    if much.pop("cancelled", 0):
        signals.stop_with(StopReason.CANCELLED)
    state = full(RunState(Background(), started_at=NOW), **much)
    now = NOW + timedelta(seconds=seconds)
    return stop_reason(state, LIMITS, now=now, signals=signals)


def test_the_page_tells_the_limits_in_their_order() -> None:
    page = Path("docs/loop.md").read_text("utf-8")
    rows = re.findall(r"^\| \d \| .* (?:\||then) `(\w+)`", page, re.MULTILINE)
    # Model calls are a limit of their own, but end a run by the same name as steps.
    assert list(dict.fromkeys(rows)) == [reason for reason, _ in ORDER]


@pytest.mark.parametrize(("index", "expected"), list(enumerate(r for r, _ in ORDER)))
def test_the_harder_limit_wins_over_all_that_are_softer(
    index: int, expected: StopReason
) -> None:
    softer: dict[str, int] = {}
    for _, used in reversed(ORDER[index:]):
        softer |= used
    assert reason(**softer) is expected


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ({"seconds": 90}, StopReason.TIME_LIMIT),
        ({"steps": 1, "tokens": 1000}, StopReason.TOKEN_LIMIT),
        ({"steps": 4}, StopReason.STEP_LIMIT),
        ({"failures": 2}, StopReason.MODEL_ERROR),
        ({"refusals": 3}, StopReason.REFUSED_ACTION),
        ({"nudged": 1, "stale": 2}, StopReason.NO_PROGRESS),
    ],
)
def test_a_limit_stops_when_it_is_reached_and_not_one_before(
    at: dict[str, int], expected: StopReason
) -> None:
    *_, last = at
    assert reason(**at) is expected
    assert reason(**{**at, last: at[last] + 1}) is expected
    assert reason(**{**at, last: at[last] - 1}) is None


def test_a_limit_of_three_steps_ends_a_question_that_needs_four_calls() -> None:
    model = ScriptedModel(get_order("O-204"), track("N-88"), search("a"), search("b"))
    run = play(model, limits=with_limits(max_steps=3))
    assert run.stop_reason is StopReason.STEP_LIMIT
    assert model.calls == 3
    assert "Wuhan" in run.end.answer
    assert run.end.hand_over is HandOverMode.OFFERED


def test_model_calls_are_limited_apart_from_steps() -> None:
    away = fails(retry_after=0)
    model = ScriptedModel(away, get_order("O-204"), away, track("N-88"), GOOD)
    run = play(model, limits=with_limits(max_model_calls=4))
    assert run.stop_reason is StopReason.STEP_LIMIT
    assert model.calls == 4


def test_one_tool_call_more_than_allowed_is_not_made() -> None:
    model = ScriptedModel(get_order("O-204"), track("N-88"))
    run = play(model, limits=with_limits(max_tool_calls=1))
    assert run.stop_reason is StopReason.STEP_LIMIT
    assert run.shop.calls == ["get_order:O204"]


def test_an_answer_may_still_follow_the_last_allowed_tool_call() -> None:
    model = ScriptedModel(get_order("O-204"), track("N-88"), GOOD)
    run = play(model, limits=with_limits(max_tool_calls=2))
    assert run.stop_reason is StopReason.ANSWERED


def test_tokens_are_counted_over_all_calls() -> None:
    model = ScriptedModel(get_order("O-204"), track("N-88"), GOOD, usage=Usage(600, 0))
    run = play(model, limits=with_limits(max_tokens=1000))
    assert run.stop_reason is StopReason.TOKEN_LIMIT
    assert model.calls == 2


def test_a_model_that_never_answers_is_cut_off_by_the_time_of_the_run() -> None:
    run = play(ScriptedModel(never()), limits=with_limits(max_seconds=0.05))
    assert run.stop_reason is StopReason.TIME_LIMIT
    assert run.end.can_retry


def test_a_tool_that_never_answers_is_cut_off_by_the_time_of_the_run() -> None:
    class Stuck(Shop):
        async def observe(self, call: ToolCall, observation_id: str) -> Observation:
            await asyncio.Event().wait()
            raise AssertionError

    run = play(
        ScriptedModel(get_order("O-204")),
        shop=Stuck(),
        limits=with_limits(max_seconds=0.05),
    )
    assert run.stop_reason is StopReason.TIME_LIMIT
    assert "not" in run.end.answer
    assert "not shipped" not in run.end.answer


@pytest.mark.parametrize(
    "why",
    [StopReason.CANCELLED, StopReason.BUDGET_LIMIT, StopReason.HANDED_OVER],
)
def test_a_stop_from_outside_ends_a_call_in_its_middle(why: StopReason) -> None:
    signals = Signals()
    cancelled: list[bool] = []

    class Waits(ScriptedModel):
        async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
            loop = asyncio.get_running_loop()
            loop.call_soon(signals.stop_with, why)
            try:
                return await super().propose(state, tools)
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

    run = play(Waits(never()), signals=signals)
    assert run.stop_reason is why
    assert cancelled == [True]


def test_the_first_stop_from_outside_wins() -> None:
    signals = Signals()
    signals.stop_with(StopReason.CANCELLED)
    signals.stop_with(StopReason.BUDGET_LIMIT)
    model = ScriptedModel()
    assert play(model, signals=signals).stop_reason is StopReason.CANCELLED
    assert model.calls == 0


def test_an_identical_call_comes_back_once_and_then_ends_the_run() -> None:
    spellings = ["O-204", "o-204 ", "Ｏ－２０４", "O 204", "O-204"]
    run = play(ScriptedModel(*(get_order(number) for number in spellings)))
    assert run.stop_reason is StopReason.REPEATED_ACTION
    assert run.shop.calls == ["get_order:O204"]
    assert [event.repeated for event in run.of(Observed)] == [False, True]


def test_key_order_and_spaces_make_no_other_call() -> None:
    run = play(
        ScriptedModel(search("blue  Mug"), search(" blue mug"), search("BLUE MUG"))
    )
    assert run.stop_reason is StopReason.REPEATED_ACTION
    assert len(run.shop.calls) == 1


def test_searching_for_ever_is_told_once_and_then_ended() -> None:
    shop = Shop({"search_orders": {"orders": []}})
    run = play(ScriptedModel(*(search(f"try {n}") for n in range(10))), shop=shop)
    assert run.stop_reason is StopReason.NO_PROGRESS
    assert len(run.of(Nudged)) == 1
    assert len(shop.calls) == 3


def test_the_same_orders_in_another_order_are_nothing_new() -> None:
    rows: list[dict[str, Json]] = [
        {"order_id": "O-204", "status": "shipped"},
        {"order_id": "O-205", "status": "paid"},
    ]
    shop = Shop(
        {
            "search_orders:A": {"orders": list[Json](rows)},
            "search_orders:B": {"orders": list[Json](reversed(rows))},
        }
    )
    run = play(ScriptedModel(search("a"), search("b"), hand_over("x")), shop=shop)
    assert [event.new_facts > 0 for event in run.of(Observed)] == [True, False]


def test_something_new_after_the_nudge_lets_the_run_go_on() -> None:
    shop = Shop({**Shop().data, "search_orders": {"orders": []}})
    model = ScriptedModel(
        search("a"), search("b"), get_order("O-204"), search("c"), track("N-88"), GOOD
    )
    run = play(model, shop=shop)
    assert run.stop_reason is StopReason.ANSWERED
    assert len(run.of(Nudged)) == 1


def test_who_goes_astray_again_after_the_nudge_is_stopped_and_not_told_twice() -> None:
    shop = Shop({**Shop().data, "search_orders": {"orders": []}})
    model = ScriptedModel(
        search("a"), search("b"), get_order("O-204"), search("c"), search("d"), GOOD
    )
    run = play(model, shop=shop)
    assert run.stop_reason is StopReason.NO_PROGRESS
    assert len(run.of(Nudged)) == 1
    assert "shipped" in run.end.answer


def test_several_numbers_that_do_not_exist_are_each_worth_asking_for() -> None:
    model = ScriptedModel(
        get_order("O-901"),
        get_order("O-902"),
        get_order("O-903"),
        answer("I can't find O-901, O-902 or O-903 among your orders."),
    )
    run = play(model, "Where are O-901, O-902 and O-903?")
    assert not run.of(Nudged)
    assert run.stop_reason is StopReason.INSUFFICIENT_EVIDENCE


def test_three_refused_proposals_end_the_run() -> None:
    broken = malformed("the arguments are no JSON object", name="get_order")
    run = play(ScriptedModel(broken, broken, broken))
    assert run.stop_reason is StopReason.REFUSED_ACTION
    assert run.shop.calls == []


def test_two_drafts_are_sent_back_and_the_third_ends_the_run() -> None:
    invented = answer("O-204 arrives on May 3.")
    model = ScriptedModel(get_order("O-204"), invented, invented, invented)
    run = play(model)
    assert run.stop_reason is StopReason.INSUFFICIENT_EVIDENCE
    assert len(run.of(SentBack)) == 2
    assert "May 3" not in run.end.answer


def test_no_answer_about_an_order_before_a_real_observation() -> None:
    model = ScriptedModel(answer("O-204 has shipped."), get_order("O-204"))
    run = play(model, "Has O-204 shipped?", limits=with_limits(max_steps=2))
    [sent_back] = run.of(SentBack)
    assert "get_order" in sent_back.feedback


@pytest.mark.parametrize(("wanted", "sent_back"), [(0, 0), (1, 0), (2, 1)])
def test_the_least_evidence_may_be_set_higher_than_the_answer_needs(
    wanted: int, sent_back: int
) -> None:
    shipped = answer("O-204 has shipped.")
    model = ScriptedModel(get_order("O-204"), shipped, track("N-88"), shipped)
    limits = with_limits(min_evidence=wanted)
    run = play(model, "Has O-204 shipped?", limits=limits)
    assert run.stop_reason is StopReason.ANSWERED
    assert len(run.of(SentBack)) == sent_back


@pytest.mark.parametrize("allowed", [1, 2, 3])
def test_identical_calls_end_the_run_one_beyond_the_limit(allowed: int) -> None:
    model = ScriptedModel(get_order("O-204"), repeat_last=True)
    run = play(model, limits=with_limits(max_identical_calls=allowed))
    assert run.stop_reason in (StopReason.REPEATED_ACTION, StopReason.NO_PROGRESS)
    assert len(run.of(Observed)) == allowed
    assert len(run.shop.calls) == 1


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_drafts_end_the_run_one_beyond_the_limit(allowed: int) -> None:
    model = ScriptedModel(answer("O-204 arrives on May 3."), repeat_last=True)
    run = play(model, limits=with_limits(max_answers_sent_back=allowed))
    assert run.stop_reason is StopReason.INSUFFICIENT_EVIDENCE
    assert len(run.of(SentBack)) == allowed
    assert model.calls == allowed + 1


def test_small_talk_needs_no_observation() -> None:
    run = play(ScriptedModel(answer("Hello! How can I help?")), "hello")
    assert run.stop_reason is StopReason.ANSWERED


@pytest.mark.parametrize("filler", ["", "Thought: I should look", "。。。"])
def test_filler_is_rejected_once_and_never_shown(filler: str) -> None:
    model = ScriptedModel(answer(filler), answer(filler))
    run = play(model)
    assert run.stop_reason is StopReason.INSUFFICIENT_EVIDENCE
    assert model.calls == 2
    assert len(run.end.answer) > 20


def test_a_failed_model_call_is_tried_again_and_no_tool_runs_twice() -> None:
    model = ScriptedModel(
        get_order("O-204"), fails(retry_after=0.01), track("N-88"), GOOD
    )
    run = play(model)
    assert run.stop_reason is StopReason.ANSWERED
    assert run.shop.calls == ["get_order:O204", "track_shipment:N88"]


def test_a_model_that_stays_away_ends_the_run_with_what_was_found() -> None:
    run = play(ScriptedModel(get_order("O-204"), fails(retry_after=0), fails()))
    assert run.stop_reason is StopReason.MODEL_ERROR
    assert "shipped" in run.end.answer
    assert run.end.can_retry


def test_a_model_error_that_is_final_is_not_tried_again() -> None:
    model = ScriptedModel(fails("401", retryable=False))
    assert play(model).stop_reason is StopReason.MODEL_ERROR
    assert model.calls == 1


def test_a_retry_that_would_come_too_late_is_not_waited_for() -> None:
    run = play(ScriptedModel(fails(retry_after=90)))
    assert run.stop_reason is StopReason.MODEL_ERROR
    assert run.end.can_retry


def test_the_pause_before_a_retry_is_cut_off_by_a_stop() -> None:
    signals = Signals()

    def then_stop(state: RunState) -> ModelError:
        asyncio.get_running_loop().call_soon(signals.stop_with, StopReason.CANCELLED)
        return fails(retry_after=80)

    run = play(ScriptedModel(then_stop), signals=signals)
    assert run.stop_reason is StopReason.CANCELLED


def test_a_question_back_stops_the_run_with_its_buttons() -> None:
    run = play(
        ScriptedModel(ask("Which order?", "O-204", "O-205")),
        "Where is it?",
        background=Background(known_numbers=frozenset({"O204", "O205"})),
    )
    assert run.stop_reason is StopReason.NEEDS_CUSTOMER
    assert run.end.options == ("O-204", "O-205")


def test_a_question_back_may_claim_nothing() -> None:
    run = play(ScriptedModel(ask("N-77 arrives on May 3. Fine?"), ask("Which one?")))
    assert len(run.of(SentBack)) == 1
    assert run.stop_reason is StopReason.NEEDS_CUSTOMER


def test_a_wish_for_a_person_is_made_by_code_with_what_was_found() -> None:
    run = play(ScriptedModel(get_order("O-204"), hand_over("customer is angry")))
    assert run.stop_reason is StopReason.HANDED_OVER
    assert run.end.hand_over is HandOverMode.MADE
    assert run.end.hand_over_reason == "customer is angry"
    assert "shipped" in run.end.answer


@pytest.mark.parametrize(
    "status",
    [
        ObservationStatus.TIMEOUT,
        ObservationStatus.UNAVAILABLE,
        ObservationStatus.BAD_RESULT,
    ],
)
def test_a_tool_that_failed_leaves_its_need_unknown(status: ObservationStatus) -> None:
    shop = Shop({"get_order:O204": status})
    bold = answer("O-204 has not shipped yet.")
    run = play(ScriptedModel(get_order("O-204"), bold, bold, bold), shop=shop)
    assert run.stop_reason is StopReason.TOOL_FAILED
    assert "not shipped" not in run.end.answer
    assert "has not" not in run.end.answer


def test_an_honest_answer_after_a_failure_is_told_and_can_be_retried() -> None:
    shop = Shop({**Shop().data, "track_shipment:N88": ObservationStatus.TIMEOUT})
    honest = answer(
        "O-204 has shipped, tracking number N-88. "
        "I could not check where it is: the carrier did not answer."
    )
    run = play(ScriptedModel(get_order("O-204"), track("N-88"), honest), shop=shop)
    assert run.end.answer == honest.text
    assert run.stop_reason is StopReason.TOOL_FAILED
    assert run.end.can_retry


def test_a_missing_tracking_number_is_an_answer() -> None:
    order: dict[str, Json] = {"order_id": "O-204", "status": "paid", "parcels": []}
    run = play(
        ScriptedModel(
            get_order("O-204"),
            answer("O-204 has not shipped yet, so there is no tracking number."),
        ),
        "What is the tracking number of O-204?",
        shop=Shop({"get_order:O204": order}),
    )
    assert run.stop_reason is StopReason.ANSWERED


def test_every_reason_has_an_ending_in_both_languages() -> None:
    assert set(ENDINGS) == set(StopReason)
    silent = {StopReason.ANSWERED, StopReason.NEEDS_CUSTOMER}
    for reason, ending in ENDINGS.items():
        for language in ("en", "zh"):
            said = ending.opening[language] + ending.closing[language]
            assert bool(said) is (reason not in silent)


def test_limits_and_safety_stops_offer_a_person() -> None:
    for reason in StopReason:
        if reason.endswith("_limit") or reason in (
            StopReason.REPEATED_ACTION,
            StopReason.NO_PROGRESS,
            StopReason.REFUSED_ACTION,
        ):
            assert ENDINGS[reason].hand_over is not HandOverMode.NONE


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_ending_claims_that_anything_was_done(language: str) -> None:
    claims = {
        "en": ("has been cancelled", "was cancelled", "refunded"),
        "zh": ("已取消", "已退款"),
    }
    for ending in ENDINGS.values():
        said = ending.opening[language] + ending.closing[language]  # type: ignore[index]
        assert not any(claim in said for claim in claims[language])


def test_a_limit_is_told_with_what_was_found_and_what_was_not() -> None:
    run = play(ScriptedModel(get_order("O-204")), limits=with_limits(max_steps=1))
    assert run.stop_reason is StopReason.STEP_LIMIT
    assert "shipped" in run.end.answer
    assert run.end.coverage.slots
    zh = play(
        ScriptedModel(get_order("O-204")),
        "订单 O-204 发货了吗？现在运到哪儿了？",
        limits=with_limits(max_steps=1),
    )
    assert "发货" in zh.end.answer


def test_who_repeats_a_call_instead_of_mending_a_draft_is_worded_for() -> None:
    run = play(
        ScriptedModel(
            get_order("O-204"), track("N-88"), answer("It is in Oslo."),
            track("N-88"), track("N-88"),
        )
    )  # fmt: skip
    assert run.stop_reason is StopReason.ANSWERED
    assert "Oslo" not in run.end.answer
