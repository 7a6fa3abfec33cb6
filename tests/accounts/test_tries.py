"""How often orders may be named in vain: at the limit, past it, and after the lock."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from chatbot.accounts import tries
from chatbot.accounts.digests import network
from chatbot.accounts.models import LookupGate, LookupTry

pytestmark = pytest.mark.django_db

KEYS = ["address", "visitor"]
NOW = timezone.now()


def fail(number: int, *, keys: list[str] = KEYS, now: datetime = NOW) -> bool:
    return tries.note_failures(keys, [f"subject {number}"], now)


@pytest.fixture(autouse=True)
def _limits(settings: Settings) -> None:
    settings.CHAT_LOOKUP_FAILURES = 5
    settings.CHAT_LOOKUP_WINDOW_SECONDS = 600
    settings.CHAT_LOOKUP_LOCK_SECONDS = 900


def test_the_fifth_failure_locks_and_says_so_once() -> None:
    assert [fail(number) for number in range(7)] == [*[False] * 4, True, *[False] * 2]
    assert tries.may_begin(KEYS, NOW) == (False, False)
    assert tries.locked_until(KEYS, now=NOW) == NOW + timedelta(seconds=900)


def test_the_same_again_is_no_further_failure() -> None:
    assert not any(fail(1) for _ in range(9))
    assert tries.may_begin(KEYS, NOW) == (True, False)


def test_one_key_of_two_is_enough() -> None:
    for number in range(5):
        fail(number, keys=["address"])
    assert tries.is_locked(KEYS, now=NOW)
    assert not tries.is_locked(["visitor"], now=NOW)
    assert tries.may_begin(KEYS, NOW) == (False, False)


def test_five_that_are_open_still_let_their_codes_come_back() -> None:
    for number in range(5):
        assert tries.may_begin(KEYS, NOW) == (True, False)
        tries.note_begun(KEYS, f"proof {number}", NOW)
    assert not tries.is_locked(KEYS, now=NOW)
    assert tries.may_begin(KEYS, NOW) == (False, True)
    assert tries.is_locked(KEYS, now=NOW)


def test_what_was_struck_out_does_not_count() -> None:
    for number in range(4):
        fail(number)
    tries.note_begun(KEYS, "proof", NOW)
    tries.strike_out(KEYS, ["proof", "subject 0"])
    assert not fail(7)
    assert fail(8)


def test_failures_count_for_ten_minutes() -> None:
    for number in range(4):
        fail(number)
    later = NOW + timedelta(seconds=600)
    assert not fail(4, now=later)
    tries.forget(later)
    assert LookupTry.objects.count() == 2


def test_what_no_longer_counts_is_forgotten_and_a_lock_is_not() -> None:
    fail(1, keys=["idle"])
    for number in range(5):
        fail(number)
    later = NOW + timedelta(seconds=600)
    tries.forget(later)
    assert not LookupTry.objects.exists()
    assert {gate.key for gate in LookupGate.objects.all()} == set(KEYS)
    assert tries.is_locked(KEYS, now=later)
    tries.forget(NOW + timedelta(seconds=900))
    assert not LookupGate.objects.exists()
    assert not fail(1)


def test_after_the_lock_everything_before_it_is_paid_for(settings: Settings) -> None:
    settings.CHAT_LOOKUP_LOCK_SECONDS = 60
    for number in range(5):
        fail(number)
    after = NOW + timedelta(seconds=61)
    assert tries.may_begin(KEYS, after) == (True, False)
    assert not fail(9, now=after)
    assert LookupGate.objects.count() == 2


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff%eth0", "2001:db8::/64"),
        ("unknown", "unknown"),
    ],
)
def test_an_address_is_counted_by_its_network(address: str, counted_as: str) -> None:
    assert network(address) == counted_as
