"""Whoever is not signed in proves an order first: code says so, no model is asked."""

from __future__ import annotations

import pytest

from chatbot.llm.scripted_model import ScriptedModel, answer, get_order
from chatbot.react.guests import SIGN_IN_FIRST, VERIFY_FIRST, guesses_of
from chatbot.react.types import Background, Form, Guest, StopReason
from chatbot.understanding.needs import Language, read_question
from tests.react.play import Played, play
from tools.contracts import canonical_number

OBEYS = (get_order("O-204"), answer("O-204 has shipped."))


def asked(question: str, guest: Guest | None) -> tuple[Played, ScriptedModel]:
    model = ScriptedModel(*OBEYS, repeat_last=True)
    known = frozenset(map(canonical_number, guest.verified if guest else ()))
    background = Background(guest=guest, known_numbers=known)
    return play(model, question=question, background=background), model


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Where is my order?"),
        ("en", "Has O-204 shipped?"),
        ("en", "Has O-999 shipped?"),
        ("zh", "我的快递到哪了"),
        ("zh", "订单 O-204 到哪了？"),
        ("zh", "订单 O-999 到哪了？"),
    ],
)
def test_every_order_gets_the_same_words_and_no_look(
    language: Language, question: str
) -> None:
    run, model = asked(question, Guest())
    assert run.stop_reason is StopReason.NEEDS_CUSTOMER
    assert run.end.answer == VERIFY_FIRST[language]
    assert run.end.form is Form.VERIFY
    assert run.shop.calls == []
    assert model.calls == 0


def test_another_order_than_the_proved_one_gets_them_too() -> None:
    unproved, _ = asked("Has O-999 shipped?", Guest())
    other, model = asked("Has O-999 shipped?", Guest(verified=("O-204",)))
    both, _ = asked("Have O-204 and O-999 shipped?", Guest(verified=("O-204",)))
    assert other.end.answer == both.end.answer == unproved.end.answer
    assert model.calls == 0


@pytest.mark.parametrize("question", ["Has O-204 shipped?", "Has my order shipped?"])
def test_the_proved_order_is_looked_up(question: str) -> None:
    run, _ = asked(question, Guest(verified=("o 204",)))
    assert run.shop.calls == ["get_order:O204"]
    assert run.end.form is None


@pytest.mark.parametrize("verified", [(), ("O-204",)])
@pytest.mark.parametrize(
    "question", ["Cancel O-204", "I want a refund", "帮我取消订单 O-204"]
)
def test_a_change_needs_an_account(question: str, verified: tuple[str, ...]) -> None:
    run, model = asked(question, Guest(verified=verified))
    assert run.end.answer in SIGN_IN_FIRST.values()
    assert run.end.form is Form.SIGN_IN
    assert model.calls == 0


def test_where_no_order_can_be_proved_none_is_offered() -> None:
    run, _ = asked("Has O-204 shipped?", Guest(can_verify=False))
    assert run.end.form is Form.SIGN_IN
    assert "log in" in run.end.answer


@pytest.mark.parametrize(
    "question",
    [
        "I want to talk to a person about O-204",
        "My lawyer will sue you. Where is O-204?",
    ],
)
def test_whoever_wants_a_person_is_not_given_a_form(question: str) -> None:
    run, model = asked(question, Guest())
    assert run.end.form is None
    assert model.calls > 0


def test_the_signed_in_are_asked_nothing() -> None:
    run, _ = asked("Has O-204 shipped?", None)
    assert run.shop.calls == ["get_order:O204"]


@pytest.mark.parametrize(
    ("text", "verified", "guesses"),
    [
        ("where is O-204 or 0-205", (), {"O204"}),
        ("订单 O-204 和 O-205", ("O-204",), {"O205"}),
        ("204", (), {"204"}),
        ("where is N-88", (), {"N88"}),
        ("where is N-88", ("O-204",), set()),
        ("how many days do I have, 30 or 14?", (), set()),
        ("hello", (), set()),
    ],
)
def test_numbers_that_were_not_proved_are_guesses(
    text: str, verified: tuple[str, ...], guesses: set[str]
) -> None:
    found = guesses_of(read_question(text), Guest(verified=verified))
    assert guesses <= found
    assert bool(found) == bool(guesses)
