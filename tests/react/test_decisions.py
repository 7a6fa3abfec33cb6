"""What code accepts of a proposal, what it refuses, and why it says so."""

from __future__ import annotations

import pytest

from chatbot.llm.scripted_model import (
    ScriptedModel,
    answer,
    ask,
    call,
    get_order,
    hand_over,
    malformed,
    track,
)
from chatbot.react.signals import Signals
from chatbot.react.types import (
    Acted,
    Background,
    Joined,
    Observed,
    Refused,
    StopReason,
    Turn,
)
from tests.react.play import QUESTION, Shop, play
from tools.contracts import Json, ObservationStatus, ToolCall

GOOD = answer("Yes, O-204 has shipped with N-88. It is in Wuhan now.")


def refusal(proposal: ToolCall, question: str = QUESTION, **more: object) -> Refused:
    """The refusal of a first proposal, in a run that then goes its way."""
    model = ScriptedModel(proposal, hand_over("x"))
    run = play(model, question, background=Background(**more))  # type: ignore[arg-type]
    [refused] = run.of(Refused)
    assert isinstance(refused, Refused)
    assert run.shop.calls == []
    return refused


@pytest.mark.parametrize("name", ["delete_order", "", "get_order ", "os.system"])
def test_a_tool_that_does_not_exist_is_refused_by_name(name: str) -> None:
    refused = refusal(ToolCall("c", name, {"order_id": "O-204"}))
    assert refused.code == "unknown_tool"
    assert "get_order" in refused.feedback


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"order_id": 204},
        {"order_id": None},
        {"order_id": True},
        {"order_id": ["O-204"]},
        {"order_id": "O-204", "user": "mei"},
        {"order_id": "O" * 65},
        {"number": "O-204"},
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_refused(
    arguments: dict[str, Json],
) -> None:
    refused = refusal(ToolCall("c", "get_order", arguments))
    assert refused.code == "bad_arguments"
    assert refused.arguments == arguments


def test_malformed_arguments_are_refused_and_never_repaired() -> None:
    model = ScriptedModel(
        malformed("no JSON object", name="get_order", raw_arguments='{"order_id":"O-2'),
        hand_over("x"),
    )
    run = play(model)
    [refused] = run.of(Refused)
    assert (refused.code, refused.tool) == ("malformed", "get_order")
    assert refused.raw_arguments == '{"order_id":"O-2'
    assert run.shop.calls == []


def test_a_refusal_says_how_the_call_is_made_right() -> None:
    refused = refusal(ToolCall("c", "get_order", {"number": "O-204"}))
    assert "get_order(order_id: string)" in refused.feedback
    model = ScriptedModel(malformed("no JSON", name="get_order"), hand_over("x"))
    [refused] = play(model).of(Refused)
    assert "get_order(order_id: string)" in refused.feedback


def test_a_refusal_names_the_numbers_that_may_be_used() -> None:
    model = ScriptedModel(get_order("O-204"), track("N-77"), hand_over("x"))
    [refused] = play(model).of(Refused)
    assert "O-204, N-88" in refused.feedback
    assert "N-77" in refused.feedback


def test_a_refusal_is_in_the_language_of_the_customer() -> None:
    question = "订单 O-204 现在运到哪儿了？"
    assert "既不是客户写的" in refusal(track("N-77"), question).feedback
    for proposal in (
        ToolCall("c", "delete_order", {}),
        ToolCall("c", "get_order", {"order_id": 1}),
    ):
        feedback = refusal(proposal, question).feedback
        assert any("\u4e00" <= character <= "\u9fff" for character in feedback)


def test_refusals_of_one_reply_end_at_the_limit_as_those_of_several_do() -> None:
    run = play(ScriptedModel([malformed("no JSON")] * 50))
    assert run.stop_reason is StopReason.REFUSED_ACTION
    assert len(run.of(Refused)) == 3


def test_a_number_that_nobody_named_is_refused() -> None:
    assert refusal(track("N-77")).code == "unknown_number"
    assert refusal(get_order("O-2"), "Where is O-204?").code == "unknown_number"


@pytest.mark.parametrize(
    "written", ["O-204", "o－204", "o 204", "＃O-204", "订单o204到哪了", "(O–204)"]
)
def test_a_number_counts_however_the_customer_spelled_it(written: str) -> None:
    run = play(ScriptedModel(get_order("O-204"), hand_over("x")), written)
    assert run.shop.calls == ["get_order:O204"]


def test_a_number_of_an_earlier_message_or_observation_counts() -> None:
    for background in (
        Background(turns=(Turn("customer", "where is O-204"),)),
        Background(known_numbers=frozenset({"O204"})),
    ):
        model = ScriptedModel(get_order("O-204"), hand_over("x"))
        run = play(model, "and now?", background=background)
        assert run.tools_used == ["get_order"]


def test_a_number_that_only_the_assistant_wrote_does_not_count() -> None:
    refused = refusal(
        get_order("O-999"), "and now?", turns=(Turn("assistant", "it is O-999"),)
    )
    assert refused.code == "unknown_number"


def test_a_number_from_an_observation_of_this_run_counts() -> None:
    run = play(ScriptedModel(get_order("O-204"), track("N-88"), GOOD))
    assert not run.of(Refused)


def test_several_reads_of_one_reply_each_get_their_result_in_order() -> None:
    run = play(
        ScriptedModel([get_order("O-204"), track("N-88")], GOOD),
        "Where is O-204, parcel N-88? Has it shipped?",
    )
    kinds = [type(event) for event in run.events[1:5]]
    assert kinds == [Acted, Observed, Acted, Observed]
    assert run.stop_reason is StopReason.ANSWERED


def test_an_answer_beside_calls_is_refused_and_the_calls_are_made() -> None:
    run = play(
        ScriptedModel([get_order("O-204"), answer("It shipped.")], hand_over("x"))
    )
    [refused] = run.of(Refused)
    assert refused.code == "not_alone"
    assert run.tools_used == ["get_order"]
    for other in (ask("Which?"), hand_over("x")):
        run = play(ScriptedModel([get_order("O-204"), other], hand_over("x")))
        assert run.of(Refused)[0].code == "not_alone"


def test_an_eligible_write_is_previewed_and_ends_the_run() -> None:
    shop = Shop({"cancel_order:O204": {"eligible": True, "order_id": "O-204"}})
    model = ScriptedModel(call("cancel_order", order_id="O-204"))
    run = play(model, "Cancel O-204", shop=shop)
    assert run.stop_reason is StopReason.AWAITING_APPROVAL
    assert run.end.request is not None
    assert run.end.request.arguments == {"order_id": "O-204"}
    assert (model.calls, shop.calls) == (1, ["cancel_order:O204"])
    assert "has been cancelled" not in run.end.answer


def test_a_write_that_the_rules_forbid_is_an_observation_like_any_other() -> None:
    shop = Shop({"cancel_order:O204": {"eligible": False, "reason": "already_shipped"}})
    model = ScriptedModel(call("cancel_order", order_id="O-204"), hand_over("x"))
    run = play(model, "Cancel O-204", shop=shop)
    assert run.stop_reason is StopReason.HANDED_OVER


def test_only_the_preview_of_the_write_itself_suspends_a_run() -> None:
    shop = Shop(
        {
            "cancel_order:O204": {"eligible": False},
            "get_order:O204": {"order_id": "O-204", "eligible": True},
        }
    )
    cancel = call("cancel_order", order_id="O-204")
    model = ScriptedModel(cancel, get_order("O-204"), cancel, hand_over("x"))
    run = play(model, "Cancel O-204", shop=shop)
    assert run.stop_reason is StopReason.HANDED_OVER


def test_a_preview_that_failed_suspends_nothing() -> None:
    shop = Shop({"cancel_order:O204": ObservationStatus.TIMEOUT})
    model = ScriptedModel(call("cancel_order", order_id="O-204"), hand_over("x"))
    run = play(model, "Cancel O-204", shop=shop)
    assert run.stop_reason is StopReason.HANDED_OVER
    assert run.end.request is None


def test_a_write_beside_another_call_is_refused() -> None:
    both = [get_order("O-204"), call("cancel_order", order_id="O-204")]
    run = play(ScriptedModel(both, hand_over("x")), "Cancel O-204")
    [refused] = run.of(Refused)
    assert refused.code == "write_not_alone"
    assert run.shop.calls == ["get_order:O204"]


def test_a_message_that_comes_while_the_run_goes_joins_at_the_next_step() -> None:
    signals = Signals()
    signals.messages.append("And where is it now?")
    model = ScriptedModel(get_order("O-204"), track("N-88"), GOOD)
    run = play(model, "Has O-204 shipped?", signals=signals)
    [joined] = run.of(Joined)
    assert "where is it now" in joined.question.text
    assert len(joined.question.needs) == 2
    assert run.stop_reason is StopReason.ANSWERED


@pytest.mark.parametrize(
    "options",
    [
        ("O-999",),
        ("mug",) * 9,
        ("",),
        ("two\nlines",),
        ("x" * 81,),
        ("call 400-820-8820",),
    ],
)
def test_options_that_do_not_fit_on_buttons_are_refused(options: tuple[str]) -> None:
    run = play(ScriptedModel(ask("Which one?", *options), hand_over("x")), "Help me")
    assert [event.code for event in run.of(Refused)] == ["bad_options"]


def test_options_may_be_short_words_and_numbers_that_were_seen() -> None:
    options = ("O-204", "N-88", "not delivered", "another one")
    run = play(ScriptedModel(get_order("O-204"), ask("Which one?", *options)))
    assert run.stop_reason is StopReason.NEEDS_CUSTOMER
    assert run.end.options == options


def test_a_question_back_may_name_what_earlier_runs_have_seen() -> None:
    run = play(
        ScriptedModel(ask("Do you mean O-204 or O-205?")),
        "Where is my parcel?",
        background=Background(known_numbers=frozenset({"O204", "O205"})),
    )
    assert run.stop_reason is StopReason.NEEDS_CUSTOMER


def test_the_note_of_a_call_stays_with_its_call() -> None:
    model = ScriptedModel(get_order("O-204", thought="order first"), hand_over("x"))
    [acted] = play(model).of(Acted)
    assert acted.call.thought == "order first"


def test_an_endpoint_that_gives_every_call_one_id_is_put_up_with() -> None:
    model = ScriptedModel(
        ToolCall("call_0", "get_order", {"order_id": "O-204"}),
        ToolCall("call_0", "track_shipment", {"tracking_id": "N-88"}),
        GOOD,
    )
    run = play(model)
    assert run.stop_reason is StopReason.ANSWERED
    assert len({event.call.id for event in run.of(Acted)}) == 2


def test_beside_a_card_nothing_says_that_the_change_is_not_possible() -> None:
    shop = Shop({"cancel_order:O204": {"eligible": True, "order_id": "O-204"}})
    model = ScriptedModel(call("cancel_order", order_id="O-204"))
    run = play(model, "Cancel O-204", shop=shop)
    assert run.stop_reason is StopReason.AWAITING_APPROVAL
    assert "cannot" not in run.end.answer
