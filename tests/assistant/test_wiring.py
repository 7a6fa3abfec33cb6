"""Settings choose the parts of a run; a wrong one is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from chatbot.assistant.proofs import PROOFS
from chatbot.assistant.wiring import (
    build_model,
    build_run,
    instructions,
    limits_from_settings,
    model_kind,
)
from chatbot.llm.openai_model import OpenAIModel
from chatbot.react.types import Background, Limits
from chatbot.understanding.needs import Need
from tools.contracts import Actor, Role


def test_without_a_key_the_offline_model_answers_and_is_named() -> None:
    model = build_model(None, Limits())
    assert model.name == "Waybill offline"
    assert model_kind(model.name) == "offline"


def test_with_a_key_the_model_of_the_settings_answers(
    settings: Settings,
) -> None:
    settings.OPENAI_API_KEY, settings.LLM_MODEL = "sk-test", "some-model"
    settings.LLM_FIRST_TOKEN_SECONDS = 7.0
    model = build_model(None, Limits(observation_window=3))
    assert isinstance(model, OpenAIModel)
    assert model_kind(model.name) == "model"
    assert (model.name, model.window) == ("some-model", 3)
    assert model.endpoint.first_token == 7.0


def test_the_offline_model_can_be_asked_for_although_a_key_is_set(
    settings: Settings,
) -> None:
    settings.OPENAI_API_KEY, settings.LLM_MODEL = "sk-test", "some-model"
    assert build_model("offline", Limits()).name == "Waybill offline"


@pytest.mark.parametrize("missing", ["OPENAI_API_KEY", "LLM_MODEL"])
def test_a_missing_setting_is_named(settings: Settings, missing: str) -> None:
    settings.OPENAI_API_KEY, settings.LLM_MODEL = "sk-test", "some-model"
    setattr(settings, missing, "")
    with pytest.raises(ImproperlyConfigured, match=missing):
        build_model("openai", Limits())


def test_extra_fields_that_the_adapter_owns_are_refused(
    settings: Settings,
) -> None:
    settings.OPENAI_API_KEY, settings.LLM_MODEL = "sk-CANARY", "some-model"
    settings.LLM_EXTRA_BODY = {"messages": []}
    with pytest.raises(ImproperlyConfigured, match="LLM_EXTRA_BODY") as caught:
        build_model("openai", Limits())
    assert "CANARY" not in str(caught.value)


def test_an_unknown_model_is_named() -> None:
    with pytest.raises(ImproperlyConfigured, match="oracle"):
        build_model("oracle", Limits())


def test_every_limit_comes_from_the_settings(settings: Settings) -> None:
    assert limits_from_settings() == Limits()
    settings.REACT_MAX_STEPS, settings.REACT_OBSERVATION_WINDOW = 3, 2
    limits = limits_from_settings()
    assert (limits.max_steps, limits.observation_window) == (3, 2)


def test_a_run_gets_the_tools_that_its_actor_may_see() -> None:
    actor = Actor(Role.CUSTOMER, customer_id="lin")
    parts = build_run(actor=actor, background=Background())
    names = {tool.name for tool in parts.tools}
    assert {"list_my_orders", "get_order", "track_shipment"} <= names
    assert parts.proofs is PROOFS


def test_the_instructions_are_there_in_both_languages_and_short() -> None:
    texts = instructions()
    assert "search_help" in texts["en"]
    assert "search_help" in texts["zh"]
    assert "# zh" not in texts["en"]
    assert max(map(len, texts.values())) < 3000


def test_an_installation_may_have_instructions_of_its_own(
    settings: Settings, tmp_path: Path
) -> None:
    own = tmp_path / "own.md"
    settings.LLM_INSTRUCTIONS_FILE = str(own)
    with pytest.raises(ImproperlyConfigured, match="LLM_INSTRUCTIONS_FILE"):
        instructions.__wrapped__()
    own.write_text("# en\n\nBe kind.\n", "utf-8")
    with pytest.raises(ImproperlyConfigured, match="# zh"):
        instructions.__wrapped__()
    own.write_text("# en\n\nBe kind.\n\n# zh\n\n请友善。\n", "utf-8")
    assert instructions.__wrapped__() == {"en": "Be kind.", "zh": "请友善。"}


def test_every_need_that_asks_for_a_fact_has_a_proof() -> None:
    proved = {proof.need for proof in PROOFS}
    assert proved == set(Need) - {Need.HUMAN, Need.NONE}
