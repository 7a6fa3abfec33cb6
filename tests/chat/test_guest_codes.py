"""The code that proves an order: to its buyer alone, once, in the same words."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from chatbot.accounts.models import LookupGate, LookupTry, OrderProof
from chatbot.chat import guests, services, verify
from chatbot.chat.problems import Forbidden, Problem
from chatbot.workflow.models import AuditEntry
from tests.cast import Person
from tests.chat.visits import LIN_MAIL, Visit, code_in, come, deliver, prove
from tools.backends.store.models import Order
from tools.database import in_database

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("patient_shop"),
]


CLAIMS = [
    ("O-204", LIN_MAIL, 1),
    ("o 204", " C-LIN@example.com", 1),
    ("O-204", "c-mei@example.com", 0),
    ("O-305", LIN_MAIL, 0),
    ("O-999", LIN_MAIL, 0),
    ("O-204", "12345678901", 0),
]


@pytest.mark.parametrize(("order", "contact", "mails"), CLAIMS)
async def test_a_code_goes_to_the_orders_own_address_alone(
    order: str, contact: str, mails: int
) -> None:
    visit = await come()
    await in_database(visit.claim, order, contact)
    await deliver()
    assert [one.to for one in mail.outbox] == [[LIN_MAIL]] * mails
    proof = await in_database(OrderProof.objects.get)
    assert proof.contact == ""
    assert bool(proof.code) == bool(mails)
    if mails:
        code = code_in(mail.outbox[0])
        assert code not in proof.code
        said = await in_database(
            lambda: [m.text for m in visit.conversation.messages.all()]
        )
        assert not any(code in text or contact in text for text in said)


def test_every_claim_costs_the_same_and_reads_the_same() -> None:
    seen = set()
    for number, (order, contact, _) in enumerate(CLAIMS):
        visit = Visit(f"10.5.0.{number}")
        with CaptureQueriesContext(connection) as queries:
            visit.claim(order, contact)
        shapes = [re.sub(r"'[^']*'|\d+|NULL", "?", one["sql"]) for one in queries]
        seen.add((len(shapes), visit.last_notice()))
    assert len(seen) == 1


def test_a_locked_visitor_reads_the_same(settings: Settings) -> None:
    settings.CHAT_LOOKUP_FAILURES = 2
    visit = Visit()
    notices = set()
    for _ in range(4):
        visit.claim("O-204", "c-mei@example.com")
        notices.add(visit.last_notice())
    assert len(notices) == 1
    assert LookupGate.objects.exclude(locked_until=None).count() == 2
    assert AuditEntry.objects.filter(kind="lookup_lock").count() == 1


async def test_an_order_with_a_phone_alone_gets_no_code_and_that_is_said() -> None:
    def phone_only() -> None:
        order = Order.objects.get(number="O-305")
        order.customer.email = ""
        order.customer.save()
        Order.objects.filter(pk=order.pk).update(phone="13900001305")

    await in_database(phone_only)
    visit = await come()
    await in_database(visit.claim, "O-305", "13900001305")
    await deliver()
    assert mail.outbox == []
    assert "a person has to help" in await in_database(visit.last_notice)


async def test_a_code_is_used_once() -> None:
    visit = await come()
    await prove(visit)
    with pytest.raises(Problem, match="code_refused"):
        await in_database(visit.enter, code_in(mail.outbox[0]))
    assert await in_database(visit.proved) == ("O-204",)


async def test_a_code_is_another_visitors_nothing() -> None:
    visit, other = await come(), await come()
    await in_database(visit.claim)
    await in_database(other.claim, "O-204", "c-mei@example.com")
    await deliver()
    with pytest.raises(Problem, match="code_refused"):
        await in_database(other.enter, code_in(mail.outbox[0]))


async def test_a_code_of_before_is_void_once_another_is_asked_for() -> None:
    visit = await come()
    await in_database(visit.claim)
    await deliver()
    await in_database(visit.claim, "O-305", LIN_MAIL)
    with pytest.raises(Problem, match="code_refused"):
        await in_database(visit.enter, code_in(mail.outbox[0]))


async def test_a_code_that_is_late_is_refused() -> None:
    visit = await come()
    await in_database(visit.claim)
    await deliver()
    late = timezone.now() - timedelta(seconds=1)
    await in_database(lambda: OrderProof.objects.update(expires_at=late))
    with pytest.raises(Problem, match="code_refused"):
        await in_database(visit.enter, code_in(mail.outbox[0]))


async def test_a_code_is_guessed_only_so_often(settings: Settings) -> None:
    settings.GUEST_CODE_TRIES = 2
    visit = await come()
    await in_database(visit.claim)
    await deliver()
    code = code_in(mail.outbox[0])
    wrong = "000000" if code != "000000" else "111111"
    for guess in (wrong, wrong, code):
        with pytest.raises(Problem, match="code_refused"):
            await in_database(visit.enter, guess)
    assert await in_database(visit.proved) == ()


def test_a_code_without_a_claim_is_refused_in_the_same_words() -> None:
    with pytest.raises(Problem, match="code_refused"):
        Visit().enter("123456")


async def test_the_right_code_strikes_its_tries_out() -> None:
    visit = await come()
    await visit.ask("Where is O-204?")
    await in_database(visit.claim)
    await deliver()
    with pytest.raises(Problem):
        await in_database(visit.enter, "x")
    assert await in_database(LookupTry.objects.count) > 0
    await in_database(visit.enter, code_in(mail.outbox[0]))
    assert await in_database(LookupTry.objects.count) == 0


async def test_a_buyer_is_not_flooded_with_codes(settings: Settings) -> None:
    settings.CHAT_LOOKUP_FAILURES = 3
    for number in range(5):
        visit = await come(address=f"10.2.0.{number}")
        await in_database(visit.claim)
    await deliver()
    assert len(mail.outbox) == 3


def test_the_signed_in_prove_nothing(lin: Person) -> None:
    conversation = services.start_conversation(account=lin.account, now=timezone.now())
    with pytest.raises(Problem, match="no_guest"):
        verify.ask_for_code(
            conversation_id=conversation.pk,
            account_id=lin.account.pk,
            order="O-204",
            contact=LIN_MAIL,
            now=timezone.now(),
        )


def test_nor_is_anything_proved_in_a_conversation_of_somebody_else() -> None:
    visit, other = Visit(), Visit()
    visit.conversation = other.conversation
    with pytest.raises(Forbidden):
        visit.claim()
    with pytest.raises(Forbidden):
        visit.enter("123456")


def test_a_contact_that_was_never_compared_is_not_kept() -> None:
    visit = Visit()
    visit.claim()
    assert OrderProof.objects.get().contact == LIN_MAIL
    guests.forget_guests(now=timezone.now() + timedelta(minutes=11))
    assert OrderProof.objects.get().contact == ""
