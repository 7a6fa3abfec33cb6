"""What `make run` says before the server starts."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from pytest_django import Settings

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("key", "model", "told"),
    [
        ("", "", "Model     offline\n"),
        ("", "qwen", "Model     offline (OPENAI_API_KEY is not set)\n"),
        ("any", "qwen", "Model     qwen\n"),
    ],
)
def test_the_start_says_which_model_answers(
    key: str,
    model: str,
    told: str,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings.ENVIRONMENT = "demo"
    settings.OPENAI_API_KEY, settings.LLM_MODEL = key, model
    call_command("bootstrap")
    assert told in capsys.readouterr().out
