"""``bootstrap`` and ``ask``: the demo stands, and a terminal is as good as a page."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from chatbot.chat.management.commands.bootstrap import PASSWORD
from chatbot.chat.models import Account, Conversation

QUESTION = "订单 O-204 发货了吗？现在运到哪儿了？"
ENGLISH = "Has O-204 shipped, and where is it now?"


@pytest.fixture
def demo(transactional_db: None) -> None:
    call_command("bootstrap", quiet=True, stdout=StringIO())


def ask(*arguments: str, **options: Any) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("ask", *arguments, json=True, stdout=out, **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("question", ["", "  ", "\u200b\ufeff", "\u3164"])
def test_a_question_that_nobody_could_read_is_not_asked(
    question: str, demo: None
) -> None:
    with pytest.raises(CommandError, match="the question is empty"):
        ask(question, name="lin")
    assert not Conversation.objects.exists()


def test_bootstrap_makes_the_demo_people_once(demo: None) -> None:
    lin = User.objects.get(username="lin")
    lin.set_password("changed by hand")
    lin.save()
    out = StringIO()
    call_command("bootstrap", stdout=out)
    assert "http://127.0.0.1:" in out.getvalue()
    assert PASSWORD in out.getvalue()
    assert User.objects.count() == Account.objects.count() == 5
    lin.refresh_from_db()
    assert lin.check_password("changed by hand")
    assert set(Group.objects.values_list("name", flat=True)) == {
        "agent",
        "supervisor",
        "operator",
    }
    assert User.objects.get(username="sam").has_perm("chat.read_all_conversations")
    assert not User.objects.get(username="olga").has_perm("chat.read_message_text")


def test_outside_the_demo_there_are_no_demo_people(
    transactional_db: None, settings: Settings
) -> None:
    settings.ENVIRONMENT = "production"
    out = StringIO()
    call_command("bootstrap", stdout=out)
    assert out.getvalue() == ""
    assert User.objects.count() == 0
    assert Group.objects.count() == 3


@pytest.mark.parametrize("question", [QUESTION, ENGLISH])
def test_the_two_step_question_from_a_terminal(demo: None, question: str) -> None:
    lines = ask(question, name="lin")
    observed = [line for line in lines if line["type"] == "observation"]
    assert [one["tool"] for one in observed] == ["get_order", "track_shipment"]
    assert all(one["status"] == "ok" and one["source"] for one in observed)
    acted = [line for line in lines if line["type"] == "action"]
    assert acted[1]["arguments"] == {
        "tracking_id": observed[0]["fields"]["parcels"][0]["tracking_id"]
    }
    assert acted[1]["arguments"]["tracking_id"] == "N-88"
    end = lines[-1]
    assert (end["type"], end["stop_reason"]) == ("run.stopped", "answered")
    assert {need["need"] for need in end["needs"]} == {"shipped", "location"}
    assert all(need["filled"] for need in end["needs"])
    assert "N-88" in end["answer"]
    assert end["steps"] == 3


def test_another_customers_order_is_not_found(demo: None) -> None:
    lines = ask(QUESTION, name="mei")
    [observed] = [line for line in lines if line["type"] == "observation"]
    assert (observed["status"], observed["fields"]) == ("not_found", {})
    assert "N-88" not in json.dumps(lines)
    assert lines[-1]["needs"][0]["why"] == "not_found"


def test_a_file_of_questions_gets_a_closing_line_each(
    demo: None, tmp_path: Path
) -> None:
    file = tmp_path / "questions.jsonl"
    rows = [{"id": f"q{n}", "text": ENGLISH} for n in range(12)]
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n", "utf-8")
    lines = ask(name="lin", questions=file)
    assert [line["id"] for line in lines] == [f"q{n}" for n in range(12)]
    assert {line["type"] for line in lines} == {"run.stopped"}
    assert {line["stop_reason"] for line in lines} == {"answered"}
    assert Conversation.objects.count() == 12


def test_the_plain_form_is_for_people(demo: None) -> None:
    out = StringIO()
    call_command("ask", ENGLISH, name="lin", stdout=out)
    text = out.getvalue()
    assert "get_order(order_id=O-204)" in text
    assert "[answered]" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"question": "hi", "name": "nobody"}, "nobody"),
        ({"question": "hi", "name": "sam"}, "sam"),
        ({"name": "lin"}, "either a question"),
        ({"question": "hi", "name": "lin", "model": "openai"}, "OPENAI_API_KEY"),
    ],
)
def test_what_cannot_be_asked_is_said(
    demo: None, arguments: dict[str, Any], said: str
) -> None:
    question = arguments.pop("question", None)
    positional = [question] if question else []
    with pytest.raises(CommandError, match=said):
        call_command("ask", *positional, **arguments)


def test_a_broken_file_is_named(demo: None, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"text": "hi"}\n{"tex": 1}\n', "utf-8")
    with pytest.raises(CommandError, match=":2 "):
        ask(name="lin", questions=file)
