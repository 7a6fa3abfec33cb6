"""How much one may ask for: at each limit, and one beyond."""

from __future__ import annotations

import pytest

from chatbot.chat import limits
from chatbot.chat.limits import Bucket, Comings, Patience
from chatbot.chat.problems import Dismissed, Problem


def test_a_bucket_gives_its_size_at_once_and_then_drop_by_drop() -> None:
    bucket = Bucket(size=5, per_second=10 / 60)
    assert [bucket.take(100.0) for _ in range(5)] == [0] * 5
    assert bucket.take(100.0) == pytest.approx(6)
    assert bucket.take(105.9) > 0
    assert bucket.take(106.0) == 0
    assert bucket.take(106.0) == pytest.approx(6)


def test_a_bucket_never_holds_more_than_its_size() -> None:
    bucket = Bucket(size=2, per_second=1)
    bucket.take(0)
    assert [bucket.take(1_000_000.0) for _ in range(2)] == [0, 0]
    assert bucket.take(1_000_000.0) > 0


def test_a_clock_that_goes_back_gives_nothing() -> None:
    bucket = Bucket(size=1, per_second=1)
    assert bucket.take(100) == 0
    assert bucket.take(50) > 0


def test_an_address_may_come_so_often_in_a_minute() -> None:
    comings = Comings(most=3, seconds=60)
    assert [comings.came("a", t) for t in (0, 1, 2, 3)] == [True, True, True, False]
    assert comings.came("b", 3)
    assert comings.came("a", 60.1)
    assert not comings.came("a", 60.2)


def test_addresses_are_forgotten_before_they_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MAX_ADDRESSES", 10)
    comings = Comings(most=3, seconds=60)
    for number in range(100):
        comings.came(f"10.0.0.{number}", number / 100)
    assert len(comings._times) == 10


def test_patience_with_bad_frames_ends() -> None:
    patience = Patience()
    for _ in range(limits.MAX_BAD_FRAMES - 1):
        patience.suffer(Problem("bad_frame"))
    patience.suffer(Problem("message_too_long"))
    with pytest.raises(Dismissed) as dismissed:
        patience.suffer(Problem("too_large"))
    assert dismissed.value.code == 4400
