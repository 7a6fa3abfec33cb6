from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import redaction
from tools.contracts import Json
from tools.redaction import redact, redact_json


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call 13800131305 now", "call 138****1305 now"),
        ("电话１３８００１３１３０５。", "电话138****1305。"),
        ("1 3 8 0 0 1 3 1 3 0 5", "138****1305"),
        ("138-0013-1305", "138****1305"),
        ("+86 138 0013 1305", "+86 138****1305"),
        ("2026-12-01 138 0013 1305", "2026-12-01 138****1305"),
        ("landline 010-62771234", "landline 010****1234"),
        ("(415) 555-2671", "415****2671"),
        ("+44 20 7946 0958", "442****0958"),
        ("lin.wei+shop@mail.example.com!", "<email>!"),
        ("ｌｉｎ＠ｅｘａｍｐｌｅ．ｃｏｍ", "<email>"),
        ("ID 11010519491231002X", "ID <id>"),
        ("身份证：110105 19491231 0021", "身份证：<id>"),
        ("4111 1111 1111 1111", "<card>"),
        ("2026-12-01 4111-1111-1111-1111 ok", "2026-12-01 <card> ok"),
        ("６２２２０２１２３４５６７８９０１２８", "<card>"),
        ("key sk-abcdEFGH12345678", "key <key>"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer <secret>"),
        ('{"password": "hunter2"}', '{"password": "<secret>"}'),
        ("OPENAI_API_KEY=abc123", "OPENAI_API_KEY=<secret>"),
        ("密码是abc123", "密码是<secret>"),
        ("redis://:topsecret@127.0.0.1:6379/0", "redis://<secret>@127.0.0.1:6379/0"),
        ("eyJhbGciOi.eyJzdWIiOi.c2ln", "<key>"),
        ("ship to 12 Baker Street, London", "ship to <address>, London"),
        ("送到杭州市西湖区文三路 478 号 3 栋 502 室", "<address>"),
    ],
)
def test_what_identifies_a_person_or_opens_a_door_is_masked(
    text: str, expected: str
) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "订单 O-204 发货了吗？现在运到哪儿了？",
        "O-204 is in transit, tracking N-88, as of 2026-12-01 02:08:10.123456+00:00",
        "run 7a6f9f4e-3f1c-4e0e-9a52-1f6a41b2c9d0 stopped: answered",
        "GET /ws/chat/7a6f9f4e-3f1c-4e0e-9a52-1f6a41b2c9d0/ 101",
        "refund of 1,299.00 CNY, 3 items, expected 2026-12-05",
        "127.0.0.1:52814 - HTTP/1.1",
        "SF1234567890123",
        "在杭州转运中心，正发往上海",
        "tokens used: 1234",
        "",
    ],
)
def test_what_staff_need_to_read_stands(text: str) -> None:
    assert redact(text) == text


def test_a_tracking_number_that_looks_like_a_card_stands_when_named() -> None:
    text = "parcel 4111111111111111, card 5500 0000 0000 0004"
    kept = redact(text, keep={"4111111111111111"})
    assert kept == "parcel 4111111111111111, card <card>"


def test_json_is_masked_inside_and_secret_fields_go_whole() -> None:
    before: Json = {"to": "13800131305", "api_key": "plain", "n": [1, "a@b.co"]}
    after = {"to": "138****1305", "api_key": "<secret>", "n": [1, "<email>"]}
    assert redact_json(before) == after


def test_text_that_cannot_be_read_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(plain: str) -> None:
        raise RuntimeError

    monkeypatch.setattr(redaction, "_spans", broken)
    assert redact("call 13800131305") == redaction.FAILED


@given(st.text())
def test_any_text_comes_through(text: str) -> None:
    assert redact(text) != redaction.FAILED


@given(
    st.text(alphabet="ab 中文，。", max_size=10),
    st.text(alphabet="ab 中文，。", max_size=10),
)
def test_a_phone_number_never_survives_between_other_words(
    before: str, after: str
) -> None:
    assert "13800131305" not in redact(f"{before} 13800131305 {after}")


@pytest.mark.parametrize(
    "piece", ["1 ", "a", "a1", "中路", "sk-", "9", "A b ", "@a.", "a@", "0-", "1 A "]
)
def test_a_hostile_line_does_not_hold_up_the_process(piece: str) -> None:
    # Read in more than linear time, this length takes minutes.
    assert redact(piece * 100_000) != redaction.FAILED
