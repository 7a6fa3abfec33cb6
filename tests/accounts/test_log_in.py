"""Logging in: five failures are borne, the sixth attempt is not looked at."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from chatbot.accounts.models import LogInAttempt
from chatbot.accounts.throttle import Attempt
from tests.cast import person

pytestmark = pytest.mark.django_db

LIMIT = 5
RIGHT = "right-horse-battery"
CUSTOMERS, STAFF = "/accounts/login/", "/admin/login/"
REFUSED = {"en": "Too many attempts", "zh-hans": "登录失败次数过多"}


@pytest.fixture(autouse=True)
def _people(db: None) -> None:
    for name in ("lin", "mei", "sam"):
        user = person(name).user
        user.set_password(RIGHT)
        user.save()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The time that a log-in is tried at: change its one element to let it pass."""
    now = [timezone.now()]
    monkeypatch.setattr(timezone, "now", lambda: now[0])
    return now


def enter(
    name: str,
    password: str = "wrong",
    *,
    page: str = CUSTOMERS,
    address: str = "192.0.2.1",
    language: str = "en",
) -> str:
    """ "in", "wrong" or "refused"."""
    client = Client(REMOTE_ADDR=address, headers={"accept-language": language})
    reply = client.post(page, {"username": name, "password": password})
    if "_auth_user_id" in client.session:
        return "in"
    return "refused" if REFUSED[language] in reply.content.decode() else "wrong"


@pytest.mark.parametrize("page", [CUSTOMERS, STAFF])
def test_an_account_bears_five_failures_from_anywhere(page: str) -> None:
    tries = [enter("sam", page=page, address=f"192.0.2.{n}") for n in range(LIMIT)]
    assert tries == ["wrong"] * LIMIT
    assert enter("sam", RIGHT, page=page, address="198.51.100.7") == "refused"


@pytest.mark.parametrize("page", [CUSTOMERS, STAFF])
def test_four_failures_do_not_keep_the_right_password_out(page: str) -> None:
    for _ in range(LIMIT - 1):
        enter("sam", page=page)
    assert enter("sam", RIGHT, page=page) == "in"


def test_an_address_bears_five_failures_of_any_accounts() -> None:
    for n in range(LIMIT):
        assert enter(f"stranger-{n}") == "wrong"
    assert enter("lin", RIGHT) == "refused"
    assert enter("lin", RIGHT, address="192.0.2.2") == "in"


def test_the_addresses_of_one_ipv6_network_are_one() -> None:
    for n in range(LIMIT):
        enter(f"stranger-{n}", address=f"2001:db8::{n}")
    assert enter("lin", RIGHT, address="2001:db8::ffff") == "refused"
    assert enter("lin", RIGHT, address="2001:db8:0:1::1") == "in"


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("page", [CUSTOMERS, STAFF])
def test_whoever_is_refused_reads_why(page: str, language: str) -> None:
    for _ in range(LIMIT):
        enter("sam", page=page, language=language)
    assert enter("sam", page=page, language=language) == "refused"


def test_a_refused_log_in_is_a_429() -> None:
    for _ in range(LIMIT):
        enter("lin")
    reply = Client(REMOTE_ADDR="192.0.2.1").post(
        CUSTOMERS, {"username": "lin", "password": RIGHT}
    )
    assert reply.status_code == 429
    assert reply["Retry-After"] == "900"


def test_after_a_quarter_of_an_hour_one_may_try_again(clock: list[datetime]) -> None:
    begun = clock[0]
    for _ in range(LIMIT):
        enter("lin")
    clock[0] = begun + timedelta(minutes=15, seconds=-1)
    assert enter("lin", RIGHT) == "refused"
    clock[0] = begun + timedelta(minutes=15)
    assert enter("lin", RIGHT) == "in"


def test_success_clears_the_account_and_not_the_address() -> None:
    for _ in range(LIMIT - 1):
        enter("lin")
    assert enter("lin", RIGHT) == "in"
    assert enter("mei") == "wrong"  # the fifth failure of this address
    assert enter("lin", RIGHT) == "refused"
    assert enter("lin", RIGHT, address="192.0.2.2") == "in"


@pytest.mark.parametrize("written", ["LIN", "Lin", "ｌｉｎ"])
def test_a_name_written_otherwise_is_the_same_account(written: str) -> None:
    for n in range(LIMIT):
        enter(written, address=f"192.0.2.{n}")
    assert enter("lin", RIGHT, address="198.51.100.7") == "refused"


def test_the_table_tells_neither_names_nor_addresses() -> None:
    enter("lin")
    kept = " ".join(LogInAttempt.objects.values_list("key", flat=True))
    assert kept
    assert "lin" not in kept
    assert "192.0.2.1" not in kept


@pytest.mark.django_db(transaction=True)
def test_of_many_attempts_at_once_no_more_are_looked_at() -> None:
    now, together = timezone.now(), Barrier(12)
    looked_at: list[bool] = []

    def attempt(number: int) -> None:
        together.wait()
        trying = Attempt("lin", f"192.0.2.{number}", now=now)
        looked_at.append(trying.begin())
        connection.close()

    threads = [Thread(target=attempt, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(looked_at) == 12
    assert sum(looked_at) <= LIMIT
