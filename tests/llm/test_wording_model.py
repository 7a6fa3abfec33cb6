"""A smaller model words what is proved; it decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from pytest_django import Settings

from chatbot.assistant import wiring
from chatbot.assistant.proofs import PROOFS
from chatbot.evals.model_server import ModelServer, call, say
from chatbot.llm.openai_model import OpenAIModel
from chatbot.llm.planning import PlanningModel
from chatbot.llm.scripted_model import Entry, ScriptedModel, answer, get_order
from chatbot.llm.wording_model import WordingModel
from chatbot.react.types import (
    Acted,
    ModelError,
    Reply,
    RunState,
    Share,
    Stopped,
    StopReason,
    Turn,
    Usage,
)
from tests.llm.helpers import model
from tests.llm.play import Conversation, Decider, Played
from tools.contracts import Json, ToolSpec

ASKED = "Has O-204 shipped, and where is it now?"
EARLIER = (Turn("customer", "A thing said earlier."),)


class Worder(ScriptedModel):
    """Plays its script, and keeps what it was shown."""

    def __init__(self, *script: Entry) -> None:
        super().__init__(*script)
        self.shown: list[RunState] = []

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        self.shown.append(state)
        return await super().propose(state, tools)


async def played(*script: Entry, text: str = ASKED) -> tuple[Played, Worder, Decider]:
    worder, decider = Worder(*script), Decider()
    split = WordingModel(worder, decider, PROOFS)
    run = await Conversation(model=split, turns=EARLIER).ask(text)
    return run, worder, decider


async def by_rules() -> str:
    return (await Conversation().ask(ASKED)).answer


async def test_what_is_proved_is_worded_by_its_own_model_and_checked() -> None:
    text = await by_rules()
    run, worder, decider = await played(answer(text))
    looks = sum(isinstance(one, Acted) for one in run.events)
    assert (run.reason, run.answer) == (StopReason.ANSWERED, text)
    assert (worder.calls, decider.asked) == (1, looks)


@pytest.mark.parametrize("away", [False, True], ids=["answers", "away"])
async def test_what_it_costs_is_told_apart(away: bool) -> None:
    text = await by_rules()
    error = ModelError("busy", retryable=True, usage=Usage(7, 0))
    worder = Worder(error if away else answer(text))
    worder.name = "small"
    split = WordingModel(worder, Decider(), PROOFS)
    run = await Conversation(model=split, turns=EARLIER).ask(ASKED)
    part = Share("small", 7, 0) if away else Share("small", 100, 20)
    assert isinstance(run.end, Stopped)
    assert run.end.usage.shares == (part,)
    assert run.end.usage.total >= part.prompt_tokens + part.completion_tokens
    looks = [one.usage.shares for one in run.events if isinstance(one, Acted)]
    assert set(looks) == {()}


async def test_where_both_fail_both_are_paid() -> None:
    worder = Worder(ModelError("busy", retryable=True, usage=Usage(7, 0)))
    worder.name = "small"
    state = (await played(answer(await by_rules())))[1].shown[0]
    decider = ScriptedModel(ModelError("busy", retryable=True, usage=Usage(9, 1)))
    with pytest.raises(ModelError) as failed:
        await WordingModel(worder, decider, PROOFS).propose(state, ())
    assert failed.value.usage == Usage(16, 1, shares=(Share("small", 7, 0),))


async def test_it_is_shown_the_results_but_no_tool_and_nothing_said_earlier() -> None:
    _, worder, _ = await played(answer(await by_rules()))
    [state] = worder.shown
    assert worder.offered == [()]
    assert state.background.turns == ()
    assert state.question is not None
    assert state.question.text == ASKED


@pytest.mark.parametrize(
    "script",
    [
        answer("It was delivered to the moon yesterday."),
        get_order("O-204"),
        ModelError("busy", retryable=True, usage=Usage(7, 0)),
    ],
    ids=["not proved", "no answer", "away"],
)
async def test_otherwise_the_deciding_model_words_it(script: Entry) -> None:
    run, worder, _ = await played(script)
    assert worder.calls == 1
    assert run.reason is StopReason.ANSWERED
    assert run.answer.startswith("Order O-204 shipped on 29 November")


async def test_what_is_not_proved_is_not_given_to_it() -> None:
    run, worder, _ = await played(text="Where is my order O-999?")
    assert worder.calls == 0
    assert isinstance(run.end, Stopped)


def test_each_step_names_its_model_in_the_settings(settings: Settings) -> None:
    settings.OPENAI_API_KEY, settings.LLM_MODEL = "k", "large"
    limits = wiring.limits_from_settings()
    settings.LLM_WORD_MODEL = "small"
    built = wiring.build_model("openai", limits)
    assert isinstance(built, WordingModel)
    assert (built.worder.name, built.decider.name) == ("small", "large")
    settings.LLM_PLAN_FIRST, settings.LLM_PLAN_MODEL = True, "middle"
    built = wiring.build_model("openai", limits)
    assert isinstance(built, PlanningModel)
    assert isinstance(built.decider, WordingModel)
    assert (built.planner.name, built.decider.worder.name) == ("middle", "small")
    assert built.name == "large"


async def test_each_step_asks_its_own_model_at_the_endpoint(
    server: ModelServer,
) -> None:
    def of(name: str) -> OpenAIModel:
        adapter = model(server)
        adapter.endpoint = replace(adapter.endpoint, model=name)
        return adapter

    steps: list[Json] = [
        {
            "id": "order",
            "kind": "observe",
            "tool": "get_order",
            "arguments": {"order_id": "O-204"},
        },
        {
            "id": "parcel",
            "kind": "observe",
            "tool": "track_shipment",
            "arguments": {"tracking_id": "$order"},
        },
        {"id": "tell", "kind": "answer"},
    ]
    text = await by_rules()
    server.play(call("propose_plan", steps=steps), say(text))
    worded = WordingModel(of("small"), of("large"), PROOFS)
    chat = Conversation(model=PlanningModel(of("middle"), worded))
    run = await chat.ask(ASKED)
    assert (run.reason, run.answer) == (StopReason.ANSWERED, text)
    assert run.calls == ["get_order O-204", "track_shipment N-88"]
    assert [one["model"] for one in server.requests] == ["middle", "small"]
    assert "get_order" not in str(server.requests[1].get("tools"))
