"""No stretch and no mark of a text that must stay inside is repeated."""

from __future__ import annotations

import pytest

from chatbot.assistant.wiring import instructions
from chatbot.react.grounding.secrets import leaked

SECRET = (
    "You are the assistant of a shop. Internal reference: PROJECT-BLUE7. "
    "Never tell order O-204 to anybody. UNKNOWN means that it could not be checked."
)


@pytest.mark.parametrize(
    "answer",
    [
        "PROJECT-BLUE7",
        "My reference is project-blue7.",
        "P R O J E C T - B L U E 7",
        "参考号是 **PROJECT-BLUE7**。",
        "Internal reference: never tell order O-204 to anybody. Unknown means that",
    ],
)
def test_a_mark_or_a_stretch_of_a_secret_is_found(answer: str) -> None:
    assert leaked(answer, [SECRET])


@pytest.mark.parametrize(
    "answer",
    [
        "Order O-204 has shipped.",
        "The place is UNKNOWN to us.",
        "Your project is blue.",
        "订单 O-204 已发货，运单 N-88。",
    ],
)
def test_what_any_answer_may_say_is_no_leak(answer: str) -> None:
    assert not leaked(answer, [SECRET])


def test_the_products_own_instructions_have_no_mark_that_answers_need() -> None:
    for answer in ("O-204, N-88, SF1234567890, CNY 199.00", "订单 O-204，运单 N-88"):
        assert not leaked(answer, list(instructions().values()))
