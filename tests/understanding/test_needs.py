from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatbot.understanding.needs import Need, Topic, merge_questions, read_question

PLAIN_QUESTIONS = [
    ("订单 O-204 发货了吗？现在运到哪儿了？", {Need.SHIPPED, Need.LOCATION}),
    ("Has O-204 shipped, and where is it now?", {Need.SHIPPED, Need.LOCATION}),
    ("where is my order", {Need.LOCATION}),
    ("那它到哪儿了？", {Need.LOCATION}),
    ("Cancel O-205", {Need.CANCEL}),
    ("帮我取消 O-205", {Need.CANCEL}),
    ("转人工", {Need.HUMAN}),
    ("I want to talk to a human", {Need.HUMAN}),
    ("什么时候到", {Need.ETA}),
    ("when will it arrive", {Need.ETA}),
    ("运单号多少", {Need.TRACKING_ID}),
    ("what is my tracking number", {Need.TRACKING_ID}),
    ("退款到账了吗", {Need.REFUND_STATUS}),
    ("where is my refund", {Need.REFUND_STATUS}),
    ("怎么退货", {Need.RETURN}),
    ("收货地址写错了能改吗", {Need.CHANGE_ADDRESS}),
    ("开发票", {Need.INVOICE}),
    ("do you ship to Canada", {Need.POLICY}),
    ("七天无理由退货吗", {Need.POLICY}),
    ("你好", {Need.NONE}),
    ("thanks", {Need.NONE}),
    ("我有哪些订单？", {Need.ORDER_STATUS}),
]


@pytest.mark.parametrize(("text", "needs"), PLAIN_QUESTIONS)
def test_the_plain_way_to_ask_is_understood(text: str, needs: set[Need]) -> None:
    assert set(read_question(text).needs) == needs


@pytest.mark.parametrize(
    "text",
    [
        "电话没人接，QQ也没反应",
        "nobody answers",
        "谢谢 你好 转人工 好的",
        "hi, human pls",
    ],
)
def test_a_wish_for_a_person_is_never_overruled(text: str) -> None:
    assert Need.HUMAN in read_question(text).needs


def test_anger_does_not_drown_the_question() -> None:
    question = read_question("你们太过分了！垃圾平台！O-204 到底到哪儿了？")
    assert question.needs == (Need.LOCATION,)
    assert Topic.ANGRY in question.topics


@pytest.mark.parametrize(
    "text", ["推荐一家好吃的餐厅", "帮我订个酒店", "what is the capital of France"]
)
def test_what_is_no_business_of_a_shop_is_out_of_scope(text: str) -> None:
    question = read_question(text)
    assert question.needs == (Need.NONE,)
    assert question.out_of_scope


@pytest.mark.parametrize("text", ["你好", "谢谢", "ok", "O-204", "12345", "", "😡"])
def test_a_greeting_or_a_number_is_not_out_of_scope(text: str) -> None:
    assert not read_question(text).out_of_scope


@pytest.mark.parametrize("text", ["and O-205?", "那 O-205 呢？", "不对，是 O-205"])
def test_another_number_asks_again_what_was_asked(text: str) -> None:
    first = read_question("Has O-204 shipped, and where is it now?")
    again = read_question(text, earlier=[first])
    assert again.fragment
    assert again.needs == first.needs
    assert again.order_numbers == ("O-205",)


def test_what_about_it_asks_again_and_points_back() -> None:
    first = read_question("O-204 发货了吗")
    again = read_question("那它呢？", earlier=[first])
    assert again.needs == (Need.SHIPPED,)
    assert again.refers_back


def test_a_continued_sentence_with_its_own_wish_is_no_fragment() -> None:
    first = read_question("Has O-204 shipped?")
    second = read_question("And where is it now?", earlier=[first])
    assert second.needs == (Need.LOCATION,)
    assert second.refers_back


def test_a_fragment_without_a_past_asks_nothing() -> None:
    assert read_question("and O-205?").needs == (Need.NONE,)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("我有哪些订单？", Topic.MY_ORDERS),
        ("不对，是 O-205", Topic.CORRECTION),
        ("显示已签收但我没收到", Topic.DELIVERED_NOT_RECEIVED),
        ("it says delivered but I never got it", Topic.DELIVERED_NOT_RECEIVED),
        ("再不解决我就找律师", Topic.LEGAL_THREAT),
        ("the charger caught fire", Topic.SAFETY),
        ("hello", Topic.GREETING),
        ("are you a robot?", Topic.SMALL_TALK),
    ],
)
def test_the_colour_of_a_question_is_told(text: str, topic: Topic) -> None:
    assert topic in read_question(text).topics


def test_a_burst_asks_everything_once() -> None:
    burst = [
        read_question(text)
        for text in ("Where is O-204?", "hello??", "and cancel o-204", "快点")
    ]
    merged = merge_questions(burst)
    assert merged.needs == (Need.LOCATION, Need.ETA, Need.CANCEL)
    assert merged.order_numbers == ("O-204",)
    assert merged.language == "zh"


def test_a_correction_in_a_burst_replaces_the_order() -> None:
    first = read_question("Cancel O-204")
    second = read_question("sorry, I mean O-205", earlier=[first])
    assert merge_questions([first, second]).order_numbers == ("O-205",)


@pytest.mark.parametrize(
    ("text", "angry"),
    [
        ("tell me a joke", False),
        ("tell me another joke", False),
        ("is this a joke?", True),
        ("快递太慢了", False),
        ("什么垃圾快递", True),
    ],
)
def test_impatience_and_jokes_are_no_anger(text: str, angry: bool) -> None:
    assert (Topic.ANGRY in read_question(text).topics) is angry


def test_nothing_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="nothing"):
        merge_questions([])


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read(text: str) -> None:
    question = read_question(text, earlier=[read_question("Where is O-204?")])
    assert question.text == text
    assert question.needs
    assert (Need.NONE in question.needs) == (question.needs == (Need.NONE,))


@pytest.mark.parametrize(
    "piece", ["a", "O-", "不", "1", " ", "订单号 ", "not ", "when will ", "\x00", "🙂"]
)
def test_a_very_long_text_is_read_to_its_end(piece: str) -> None:
    """A pattern that tries all ways through it would not come back."""
    text = piece * (100_000 // len(piece))
    assert read_question(text).text == text


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        # What happened is told, and something else is asked.
        ("Order O-204 still hasn't come. Can I cancel it?", {"cancel"}),
        ("I have not received my parcel yet, when will it come?", {"eta"}),
        ("这单一直没收到，能开发票吗", {"invoice"}),
        # Both are asked.
        ("What's happening with O-204 and can I get an invoice?", None),
        ("what is the status of my order and how do i change the address", None),
        ("我的订单什么情况，能开发票吗", None),
    ],
)
def test_what_is_told_is_no_question_beside_one(
    text: str, needs: set[str] | None
) -> None:
    read = {need.value for need in read_question(text).needs}
    if needs is None:
        assert "order_status" in read
        assert len(read) == 2
    else:
        assert read == needs


@pytest.mark.parametrize(
    "text",
    [
        "Where is O-204? I want to return O-203",
        "cancel O-204 and refund me",
        "when will it arrive, and what's the tracking number?",
        "O-204到哪了？帮我把地址改了",
    ],
)
def test_two_questions_in_one_message_are_both_read(text: str) -> None:
    assert len(read_question(text).needs) == 2
