"""Whatever a model proposes, in whatever order: the run ends within its limits."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from chatbot.assistant.proofs import PROOFS
from chatbot.llm.scripted_model import (
    Entry,
    ScriptedModel,
    answer,
    ask,
    call,
    fails,
    get_order,
    hand_over,
    malformed,
    track,
)
from chatbot.react.outcomes import check
from chatbot.react.state import call_key, resume
from chatbot.react.types import (
    Acted,
    Background,
    FinalAnswer,
    Limits,
    ModelFailed,
    Observed,
    Refused,
    Rules,
    SentBack,
    Stopped,
    StopReason,
)
from tests.react.play import SHOP, TOOLS, Played, Shop, play
from tools.contracts import ObservationStatus, ToolCall

RULES = Rules({tool.name: tool for tool in TOOLS}, Limits(), PROOFS)
CALLS = st.sampled_from(
    [
        get_order("O-204"),
        get_order("ｏ 204"),
        get_order("O-205"),
        get_order("O-999"),
        track("N-88"),
        track("N-1"),
        call("search_orders", text="mug"),
        call("search_orders", text="  MUG "),
        call("search_orders", text="cup"),
        call("cancel_order", order_id="O-204"),
        call("delete_order", order_id="O-204"),
        call("get_order", order_id=204),
        call("get_order"),
        ToolCall("same", "get_order", {"order_id": "O-204"}),
    ]
)
WORDS = st.sampled_from(
    [
        answer("Yes, O-204 has shipped with N-88. It is in Wuhan now."),
        answer("O-204 has shipped."),
        answer("It arrives on May 3."),
        answer("O-204 has been cancelled."),
        answer("N-77 is in Paris."),
        answer(""),
        ask("Which order do you mean?", "O-204"),
        ask("O-999 was delivered. Is that the one?"),
        ask("Which?", "O-999"),
        hand_over("no idea"),
        malformed("no JSON object", name="get_order"),
    ]
)
ENTRIES: st.SearchStrategy[Entry] = st.one_of(
    CALLS,
    CALLS,
    WORDS,
    st.lists(CALLS | WORDS, max_size=4),
    st.builds(fails, retryable=st.booleans(), retry_after=st.just(0.0)),
)
LIMITS = st.builds(
    Limits,
    max_steps=st.integers(1, 8),
    max_tool_calls=st.integers(1, 5),
    max_model_calls=st.integers(1, 9),
    max_tokens=st.sampled_from([100, 500, 60_000]),
    max_identical_calls=st.integers(1, 3),
    max_answers_sent_back=st.integers(0, 2),
    max_refusals=st.integers(1, 3),
    max_without_new_fact=st.integers(1, 3),
)
SHOPS = st.fixed_dictionaries(
    {
        "track_shipment:N88": st.sampled_from(
            [SHOP["track_shipment:N88"], ObservationStatus.TIMEOUT]
        ),
        "get_order:O204": st.sampled_from(
            [SHOP["get_order:O204"], ObservationStatus.NOT_FOUND]
        ),
        "search_orders": st.just({"orders": []}),
        "cancel_order:O204": st.builds(dict, eligible=st.booleans()),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.lists(ENTRIES, min_size=1, max_size=9), LIMITS, SHOPS, st.integers(1, 20))
def test_every_run_ends_once_within_its_limits_and_says_nothing_unproved(
    script: list[Entry],
    limits: Limits,
    data: dict[str, dict[str, object]],
    killed_after: int,
) -> None:
    model = ScriptedModel(*script, repeat_last=True)
    run = play(model, shop=Shop(dict(data)), limits=limits)  # type: ignore[arg-type]
    assert [type(e) for e in run.events].count(Stopped) == 1
    assert resume(Background(), run.events) == run.state
    within(run, limits, model)
    only_what_may_be_read(run)
    honest(run)

    # The same, killed on its way: what was finished is not done again.
    first, second = Shop(dict(data)), Shop(dict(data))  # type: ignore[arg-type]
    dead = play(
        ScriptedModel(*script, repeat_last=True),
        shop=first,
        limits=limits,
        stop_after=killed_after,
    )
    alive = play(
        ScriptedModel(*script, repeat_last=True),
        shop=second,
        limits=limits,
        events=dead.events,
    )
    assert isinstance(alive.end, Stopped)
    made = [*first.calls, *second.calls]
    assert len(made) == len(set(made))
    honest(alive)


def within(run: Played, limits: Limits, model: ScriptedModel) -> None:
    assert run.end.step <= limits.max_steps
    assert model.calls <= limits.max_model_calls
    assert len(run.completed) <= limits.max_tool_calls
    assert len(run.of(Refused)) <= limits.max_refusals
    assert len(run.of(SentBack)) <= limits.max_answers_sent_back
    spent = [one for one in run.events if isinstance(one, Acted | Refused | SentBack)]
    assert len({one.step for one in spent}) + len(run.of(ModelFailed)) <= model.calls
    keys = [
        call_key(one.observation.tool, one.observation.arguments)
        for one in run.of(Observed)
    ]
    assert all(keys.count(key) <= limits.max_identical_calls for key in keys)


def only_what_may_be_read(run: Played) -> None:
    assert len(run.shop.calls) == len(set(run.shop.calls))
    assert not any("N1" in one or "O205" in one for one in run.shop.calls)
    for one, following in pairwise(run.events):
        if isinstance(one, Acted):
            assert isinstance(following, Observed | Stopped)
            if isinstance(following, Observed):
                assert following.observation.call_id == one.call.id
    ids = [one.call.id for one in run.of(Acted)]
    assert len(ids) == len(set(ids))


def honest(run: Played) -> None:
    said = run.end.answer
    assert said
    for claim in ("May 3", "cancelled", "N-77", "Paris", "O-999"):
        assert claim not in said
    if run.stop_reason is StopReason.ANSWERED:
        assert check(said, run.state, RULES).passed
    if run.stop_reason is StopReason.AWAITING_APPROVAL:
        assert run.end.request is not None
        assert run.end.request.name == "cancel_order"
    else:
        assert run.end.request is None


def test_the_good_answer_of_this_page_passes() -> None:
    good = FinalAnswer("Yes, O-204 has shipped with N-88. It is in Wuhan now.")
    run = play(ScriptedModel(get_order("O-204"), track("N-88"), good))
    assert run.stop_reason is StopReason.ANSWERED
