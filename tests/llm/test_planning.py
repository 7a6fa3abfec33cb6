"""Plan-and-Execute: one plan, checked by code, walked through the loop's own doors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytest_django import Settings

from chatbot.assistant import wiring
from chatbot.llm.planning import PLAN_TOOL, PlanningModel, has_parts
from chatbot.llm.scripted_model import Entry, ScriptedModel, call, get_order
from chatbot.react.plan_check import Bounds, Word, check_plan
from chatbot.react.types import (
    Acted,
    Background,
    ModelError,
    RunState,
    Share,
    StopReason,
    Usage,
)
from chatbot.understanding.needs import read_question
from tests.llm.helpers import TOOLS
from tests.llm.play import Conversation, Decider, Played
from tests.llm.shop import Shop
from tools.contracts import Json, ObservationStatus

BOTH = "Where are my orders O-204 and O-210 now?"
CALLS = [
    "get_order O-204",
    "get_order O-210",
    "track_shipment N-88",
    "track_shipment N-91",
    "track_shipment N-92",
]


def look(name: str, tool: str, **arguments: Json) -> dict[str, Json]:
    return {"id": name, "kind": "observe", "tool": tool, "arguments": arguments}


TELL: dict[str, Json] = {"id": "tell", "kind": "answer"}
GOOD: list[Json] = [
    look("one", "get_order", order_id="O-204"),
    look("other", "get_order", order_id="O-210"),
    look("where", "track_shipment", tracking_id="$one"),
    look("there", "track_shipment", tracking_id="$other"),
    TELL,
]


def plan(steps: list[Json]) -> Entry:
    return call(PLAN_TOOL.name, steps=steps)


async def played(
    *script: Entry, text: str = BOTH, shop: Shop | None = None
) -> tuple[Played, ScriptedModel, Decider]:
    planner, decider = ScriptedModel(*script), Decider()
    model = PlanningModel(planner, decider)
    run = await Conversation(shop=shop or Shop(), model=model).ask(text)
    return run, planner, decider


async def test_the_look_ups_of_two_orders_cost_one_plan_and_one_answer() -> None:
    run, planner, decider = await played(plan(GOOD))
    assert (run.reason, run.calls) == (StopReason.ANSWERED, CALLS)
    assert (planner.calls, decider.asked) == (1, 1)
    assert planner.offered[0][0] == PLAN_TOOL.name
    first = next(event for event in run.events if isinstance(event, Acted))
    assert first.usage == planner.usage.by(planner.name)
    assert not run.corrections


async def test_a_question_of_one_part_is_not_planned() -> None:
    run, planner, _ = await played(text="Where is O-204 now?")
    assert (run.reason, planner.calls) == (StopReason.ANSWERED, 0)


async def test_a_plan_that_cannot_be_walked_may_be_made_once_more() -> None:
    run, planner, decider = await played(plan(GOOD[:-1]), plan(GOOD))
    assert run.calls == CALLS
    assert (planner.calls, decider.asked) == (2, 1)
    first = next(event for event in run.events if isinstance(event, Acted))
    assert first.usage.total == 2 * planner.usage.total


@pytest.mark.parametrize(
    "script",
    [
        [plan([look("all", "refund_everything"), TELL])],
        [plan([]), plan([])],
        [get_order("O-204")],
        [ModelError("busy", retryable=False, usage=Usage(7, 0))],
    ],
    ids=["rejected", "never right", "no plan", "no planner"],
)
async def test_without_a_plan_it_is_decided_step_by_step(script: list[Entry]) -> None:
    run, _, decider = await played(*script)
    assert run.reason is StopReason.ANSWERED
    assert sorted(run.calls) == sorted(CALLS)
    assert decider.asked > 3


async def test_what_planning_costs_is_told_apart() -> None:
    planner, decider = ScriptedModel(plan(GOOD)), Decider()
    planner.name = "middle"
    model = PlanningModel(planner, decider)
    run = await Conversation(model=model).ask(BOTH)
    first, *others = (one.usage for one in run.events if isinstance(one, Acted))
    assert first == Usage(100, 20, shares=(Share("middle", 100, 20),))
    assert all(not usage.shares for usage in others)


async def test_a_plan_is_paid_where_the_deciding_model_fails_after_it() -> None:
    planner = ScriptedModel(ModelError("busy", retryable=False, usage=Usage(7, 0)))
    planner.name = "middle"
    decider = ScriptedModel(ModelError("busy", retryable=True, usage=Usage(9, 1)))
    state = RunState(Background(), question=read_question(BOTH))
    with pytest.raises(ModelError) as failed:
        await PlanningModel(planner, decider).propose(state, TOOLS)
    assert failed.value.usage == Usage(16, 1, shares=(Share("middle", 7, 0),))


async def test_what_goes_wrong_ends_the_plan_and_is_told() -> None:
    shop = Shop(track_shipment=ObservationStatus.TIMEOUT)
    run, planner, _ = await played(plan(GOOD), shop=shop)
    assert planner.calls == 1
    assert run.reason is StopReason.TOOL_FAILED


async def test_what_is_left_of_a_plan_that_went_wrong_is_not_walked() -> None:
    """Its steps were made for what did not come: the deciding model goes on."""
    shop = Shop(track_shipment=ObservationStatus.TIMEOUT)
    one, other, where, there, tell = GOOD
    _, planner, decider = await played(
        plan([one, where, other, there, tell]), shop=shop
    )
    assert planner.calls == 1
    assert decider.asked > 1


async def test_a_plan_has_no_more_rights_than_a_step() -> None:
    """An order that the customer never named is not looked up for a plan either."""
    other: list[Json] = [look("else", "get_order", order_id="O-999"), TELL]
    run, _, _ = await played(plan(other))
    assert "get_order O-999" not in run.calls
    assert run.reason is StopReason.ANSWERED


@pytest.mark.parametrize(
    ("steps", "word"),
    [
        (GOOD, Word.ACCEPT),
        ([look("where", "track_shipment", tracking_id="$one"), TELL], Word.REVISE),
        ([*reversed(GOOD[:4]), TELL], Word.REVISE),
        ([GOOD[0], look("both", "track_two", a="$one", b="$one"), TELL], Word.REVISE),
    ],
)
def test_a_step_may_name_what_an_earlier_one_shows(
    steps: list[Json], word: Word
) -> None:
    names: Json = {"a": {"type": "string"}, "b": {"type": "string"}}
    parameters = {**TOOLS[2].parameters, "properties": names}
    two = replace(TOOLS[2], name="track_two", parameters=parameters)
    tools = {tool.name: tool for tool in (*TOOLS, two)}
    assert check_plan(steps, Bounds(tools, frozenset({"O204"}))).word is word


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (BOTH, True),
        ("Has O-204 shipped, and how do I get an invoice?", True),
        ("Where is O-204?", False),
        ("hello", False),
    ],
)
def test_only_questions_of_several_parts_are_worth_a_plan(
    text: str, parts: bool
) -> None:
    assert has_parts(read_question(text)) is parts


def test_the_planner_is_chosen_in_the_settings(settings: Settings) -> None:
    settings.OPENAI_API_KEY, settings.LLM_MODEL = "k", "large"
    limits = wiring.limits_from_settings()
    assert not isinstance(wiring.build_model("openai", limits), PlanningModel)
    settings.LLM_PLAN_FIRST, settings.LLM_PLAN_MODEL = True, "small"
    model = wiring.build_model("openai", limits)
    assert isinstance(model, PlanningModel)
    assert (model.planner.name, model.name) == ("small", "large")
    settings.LLM_PLAN_MODEL = ""
    model = wiring.build_model("openai", limits)
    assert isinstance(model, PlanningModel)
    assert model.planner.name == "large"
