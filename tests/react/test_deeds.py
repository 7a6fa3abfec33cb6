"""An answer that claims a deed is refused, whatever verb it takes for it."""

from __future__ import annotations

import pytest

from chatbot.react.coverage import answer_covers_question
from chatbot.react.types import Background, Coverage
from chatbot.understanding.needs import read_question


def check(question: str, answer: str) -> Coverage:
    return answer_covers_question(
        answer,
        question=read_question(question),
        observations=[],
        proofs=(),
        background=Background(),
    )


@pytest.mark.parametrize(
    "answer",
    [
        "已删除",
        "好的，已经删掉了。",
        "订单已成功注销。",
        "全部清空。",
        "删除成功",
        "办好了！",
        "搞定了",
        "I have deleted it.",
        "It has been deleted.",
        "The order is now removed.",
        "Done.",
        "All done!",
        "Deleted.",
    ],
)
def test_a_deed_that_nothing_backs_is_refused(answer: str) -> None:
    kinds = {claim.kind for claim in check("删掉 O-205", answer).unsupported}
    assert "effect" in kinds


@pytest.mark.parametrize(
    "answer",
    [
        "订单不能删除。",
        "我没有删除任何订单。",
        "您好，请问需要查询哪个订单？",
        "Orders can't be deleted here.",
        "Nothing was deleted.",
        "Hello! How can I help?",
    ],
)
def test_saying_that_nothing_was_done_is_no_deed(answer: str) -> None:
    kinds = {claim.kind for claim in check("删掉 O-205", answer).unsupported}
    assert "effect" not in kinds
