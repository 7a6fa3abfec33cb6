"""Visitors who are not signed in: rules for everybody, an order after its proof."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from chatbot.accounts.models import Guest, LookupGate, LookupTry, OrderProof
from chatbot.chat import guests, services, verify
from chatbot.chat.gate import admit, as_visitor, still_signed_in
from chatbot.chat.models import Account, Conversation
from chatbot.chat.problems import Forbidden, NotSignedIn, Problem
from chatbot.chat.runner import execute_run
from chatbot.react.guests import SIGN_IN_FIRST, VERIFY_FIRST
from chatbot.workflow.models import AuditEntry, Event
from tests.cast import PASSWORD, Person
from tests.chat.conftest import the_run
from tools.backends.store.models import Order
from tools.backends.store.seeding.shop import seed_the_named
from tools.contracts import Role
from tools.database import in_database
from tools.help_seed import seed_help

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("audit"),
]

LIN_MAIL = "c-lin@example.com"


@pytest.fixture(autouse=True)
def _shop(transactional_db: None, settings: Settings) -> None:
    seed_the_named(now=timezone.now())
    settings.CHAT_MESSAGES_BURST = 1_000


class Visit:
    """One visitor's browser: a session, an account, a conversation."""

    def __init__(self, address: str = "127.0.0.1", language: str = "en") -> None:
        self.client = Client(REMOTE_ADDR=address)
        self.client.cookies["django_language"] = language
        reply = self.client.post(reverse("guest"), {"time_zone": "Asia/Shanghai"})
        self.reply = reply
        if reply.status_code == 302:
            guest = Guest.objects.latest("created_at")
            self.account = Account.objects.get(user=guest.user)
            self.conversation = self.account.conversations.get()

    @property
    def session_key(self) -> str:
        return self.client.cookies["sessionid"].value

    @property
    def here(self) -> dict[str, Any]:
        return {
            "conversation_id": self.conversation.pk,
            "account_id": self.account.pk,
            "now": timezone.now(),
        }

    async def ask(self, text: str) -> str:
        """Say something and have it worked out by the offline model, on the shop."""
        await in_database(self._say, text)
        run = await in_database(the_run, self.conversation)
        await execute_run(run.pk, owner="test", model_name="offline")
        return str(await in_database(self.last_answer))

    def _say(self, text: str) -> None:
        services.accept_guest_message(text=text, client_id=uuid4().hex, **self.here)

    def last_answer(self) -> str:
        return self.conversation.messages.filter(speaker="assistant").last().text  # type: ignore[union-attr]

    def last_notice(self) -> str:
        return self.conversation.messages.filter(speaker="notice").last().text  # type: ignore[union-attr]

    def claim(self, order: str = "O-204", contact: str = LIN_MAIL) -> None:
        verify.ask_for_code(order=order, contact=contact, **self.here)

    def enter(self, code: str) -> None:
        verify.enter_code(code=code, **self.here)

    def proved(self) -> tuple[str, ...]:
        return guests.verified_orders(self.account.pk, now=timezone.now())


@pytest.fixture
def visit() -> Visit:
    return Visit()


async def deliver() -> None:
    """What the sweep does with the claims that wait."""
    for event in await in_database(lambda: list(Event.objects.order_by("pk"))):
        if event.name == "order.claimed":
            await verify.mail_code(event)


def code_in(message: Any) -> str:
    found = re.search(r"\b\d{6}\b", message.body)
    assert found
    return found[0]


async def prove(visit: Visit, order: str = "O-204", contact: str = LIN_MAIL) -> None:
    await in_database(visit.claim, order, contact)
    await deliver()
    await in_database(visit.enter, code_in(mail.outbox[-1]))


# ---- who they are


def test_a_visitor_is_a_user_that_nobody_can_log_in_as(visit: Visit) -> None:
    user = visit.account.user
    assert visit.account.role == Role.GUEST
    assert not user.has_usable_password()
    assert (user.is_staff, user.is_superuser) == (False, False)
    for password in ("", "!", user.password):
        assert not Client().login(username=user.username, password=password)
    page = visit.client.get(f"/chat/{visit.conversation.pk}/")
    assert page.status_code == 200
    assert not page.wsgi_request.user.is_authenticated


def test_nothing_is_made_by_looking() -> None:
    client = Client()
    assert client.get("/").status_code == 200
    assert client.get("/accounts/login/").status_code == 200
    assert client.get("/chat/guest/").status_code == 405
    assert client.get(f"/chat/{uuid4()}/").status_code == 302
    assert not Guest.objects.exists()
    assert not User.objects.exists()


def test_coming_back_is_the_same_visitor(visit: Visit) -> None:
    visit.client.post(reverse("guest"))
    assert visit.client.get("/")["Location"] == f"/chat/{visit.conversation.pk}/"
    assert Guest.objects.count() == 1


def test_the_session_gets_a_new_key() -> None:
    client = Client()
    client.get("/")
    session = client.session
    session["seen"] = 1
    session.save()
    before = session.session_key
    client.post(reverse("guest"))
    assert client.session.session_key != before


@pytest.mark.parametrize(
    "path",
    ["/admin/", "/admin/chat/run/", "/admin/chat/conversation/", "/admin/logout/"],
)
def test_the_admin_knows_no_visitor(visit: Visit, path: str) -> None:
    reply = visit.client.get(path)
    assert reply.status_code in (302, 405)
    assert reply.headers.get("Location", "/admin/").startswith("/admin/")


@pytest.mark.parametrize("page", ["", "transcript/"])
def test_a_visitor_sees_their_own_conversations_alone(
    visit: Visit, lin: Person, page: str
) -> None:
    other = Visit()
    hers = services.start_conversation(account=lin.account, now=timezone.now())
    own = f"/chat/{visit.conversation.pk}/{page}"
    assert visit.client.get(own).status_code == 200
    for conversation in (other.conversation, hers):
        path = f"/chat/{conversation.pk}/{page}"
        assert visit.client.get(path).status_code == 404
    assert Client().get(own).status_code == 302


def test_a_socket_is_opened_to_their_own_conversation_alone(
    visit: Visit, lin: Person
) -> None:
    admitted = admit(visit.session_key, visit.conversation.pk, address="10.0.0.9")
    assert admitted.visitor.is_guest
    assert still_signed_in([admitted.visitor]) == {admitted.visitor}
    assert as_visitor(admitted.visitor, lambda: 1) == 1
    hers = services.start_conversation(account=lin.account, now=timezone.now())
    with pytest.raises(Forbidden):
        admit(visit.session_key, hers.pk)
    assert AuditEntry.objects.filter(kind="conversation.refused").count() == 1


def test_signing_in_leaves_the_visit_behind(visit: Visit, lin: Person) -> None:
    visitor = admit(visit.session_key, visit.conversation.pk).visitor
    path = f"/chat/{visit.conversation.pk}/"
    data = {"username": "lin", "password": PASSWORD}
    assert visit.client.post("/accounts/login/", data).status_code == 302
    assert guests.SESSION_KEY not in visit.client.session
    assert visit.client.get(path).status_code == 404
    with pytest.raises(NotSignedIn):
        as_visitor(visitor, lambda: 1)
    assert still_signed_in([visitor]) == set()
    visit.conversation.refresh_from_db()
    assert visit.conversation.account == visit.account
    assert not lin.account.conversations.exists()
    visit.client.post("/accounts/logout/")
    assert visit.client.get(path).status_code == 302


def test_the_end_of_the_visit_closes_it(visit: Visit) -> None:
    visitor = admit(visit.session_key, visit.conversation.pk).visitor
    visit.client.post("/accounts/logout/")
    with pytest.raises(NotSignedIn):
        as_visitor(visitor, lambda: 1)
    assert visit.client.get(f"/chat/{visit.conversation.pk}/").status_code == 302


def test_an_installation_may_have_no_visitors(visit: Visit, settings: Settings) -> None:
    settings.GUEST_CHAT = False
    assert visit.client.get(f"/chat/{visit.conversation.pk}/").status_code == 302
    assert Client().post(reverse("guest")).status_code == 404
    for path in ("/", "/accounts/login/"):
        assert b"/chat/guest/" not in Client().get(path).content


def test_an_address_sends_only_so_many_visitors(settings: Settings) -> None:
    settings.GUEST_NEW_PER_HOUR = 2
    assert [Visit("10.1.1.1").reply.status_code for _ in range(3)] == [302, 302, 429]
    assert Visit("10.1.1.2").reply.status_code == 302
    assert Guest.objects.count() == 3


def test_an_address_says_only_so_much(settings: Settings) -> None:
    settings.GUEST_ADDRESS_MESSAGES_PER_MINUTE = 2
    one, two, far = Visit("10.1.1.1"), Visit("10.1.1.1"), Visit("10.1.1.2")
    one._say("hello")
    two._say("hello")
    for visit in (one, two):
        with pytest.raises(Problem, match="too_many"):
            visit._say("hello")
    far._say("hello")


# ---- what they are told


async def test_a_rule_is_everybodys() -> None:
    await in_database(seed_help)
    visit = await _visit()
    answer = await visit.ask("How do I return something?")
    assert "How to return an item" in answer


async def _visit(**options: str) -> Visit:
    return await in_database(lambda: Visit(**options))


@pytest.mark.parametrize("order", ["O-204", "O-305", "O-999"])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_order_is_told_to_nobody_without_proof(
    order: str, language: str
) -> None:
    visit = await _visit()
    text = f"Where is {order}?" if language == "en" else f"订单 {order} 到哪了？"
    assert await visit.ask(text) == VERIFY_FIRST[language]  # type: ignore[index]


async def test_the_proved_order_is_told_and_no_other() -> None:
    visit = await _visit()
    await prove(visit)
    answer = await visit.ask("Has O-204 shipped?")
    assert "shipped" in answer
    for other in ("O-205", "O-305", "O-999"):
        assert await visit.ask(f"Has {other} shipped?") == VERIFY_FIRST["en"]
    assert await visit.ask("Cancel O-204 please") == SIGN_IN_FIRST["en"]


async def test_only_status_fields_are_told() -> None:
    visit = await _visit()
    await prove(visit)
    await visit.ask("Where is O-204 and what did it cost?")
    run = await in_database(the_run, visit.conversation)
    steps = await in_database(lambda: list(run.steps.filter(kind="observed")))
    fields = {
        name: value
        for step in steps
        for name, value in step.body["observation"]["fields"].items()
    }
    assert fields["status"]
    assert not {"items", "total", "ship_to", "note", "place", "events"} & fields.keys()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Has O-204 shipped, and where is it now?", "not shown without a log-in"),
        ("订单 O-204 到哪了？", "未登录时无法查看"),
    ],
)
async def test_a_place_that_is_not_shown_is_not_called_unknown(
    question: str, said: str
) -> None:
    visit = await _visit()
    await prove(visit)
    assert said in await visit.ask(question)
    run = await in_database(the_run, visit.conversation)
    assert run.stop_reason == "answered"


async def test_the_question_that_waited_is_answered_by_the_proof() -> None:
    visit = await _visit()
    assert await visit.ask("Has O-204 shipped?") == VERIFY_FIRST["en"]
    await prove(visit)
    run = await in_database(the_run, visit.conversation)
    assert run.phase == "queued"
    await execute_run(run.pk, owner="test", model_name="offline")
    assert "O-204 shipped" in await in_database(visit.last_answer)


async def test_a_proof_ends_with_its_time(settings: Settings) -> None:
    visit = await _visit()
    await prove(visit)
    past = timezone.now() - timedelta(seconds=1)
    await in_database(lambda: OrderProof.objects.update(verified_until=past))
    assert await visit.ask("Has O-204 shipped?") == VERIFY_FIRST["en"]


async def test_a_proof_is_this_visits_alone() -> None:
    visit, other = await _visit(), await _visit()
    await prove(visit)
    assert await in_database(other.proved) == ()
    assert await other.ask("Has O-204 shipped?") == VERIFY_FIRST["en"]


# ---- the code

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
    visit = await _visit()
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
    visit = await _visit()
    await in_database(visit.claim, "O-305", "13900001305")
    await deliver()
    assert mail.outbox == []
    assert "a person has to help" in await in_database(visit.last_notice)


async def test_a_code_is_used_once() -> None:
    visit = await _visit()
    await prove(visit)
    with pytest.raises(Problem, match="code_refused"):
        await in_database(visit.enter, code_in(mail.outbox[0]))
    assert await in_database(visit.proved) == ("O-204",)


async def test_a_code_is_another_visitors_nothing() -> None:
    visit, other = await _visit(), await _visit()
    await in_database(visit.claim)
    await in_database(other.claim, "O-204", "c-mei@example.com")
    await deliver()
    with pytest.raises(Problem, match="code_refused"):
        await in_database(other.enter, code_in(mail.outbox[0]))


async def test_a_code_of_before_is_void_once_another_is_asked_for() -> None:
    visit = await _visit()
    await in_database(visit.claim)
    await deliver()
    await in_database(visit.claim, "O-305", LIN_MAIL)
    with pytest.raises(Problem, match="code_refused"):
        await in_database(visit.enter, code_in(mail.outbox[0]))


async def test_a_code_that_is_late_is_refused() -> None:
    visit = await _visit()
    await in_database(visit.claim)
    await deliver()
    late = timezone.now() - timedelta(seconds=1)
    await in_database(lambda: OrderProof.objects.update(expires_at=late))
    with pytest.raises(Problem, match="code_refused"):
        await in_database(visit.enter, code_in(mail.outbox[0]))


async def test_a_code_is_guessed_only_so_often(settings: Settings) -> None:
    settings.GUEST_CODE_TRIES = 2
    visit = await _visit()
    await in_database(visit.claim)
    await deliver()
    code = code_in(mail.outbox[0])
    wrong = "000000" if code != "000000" else "111111"
    for guess in (wrong, wrong, code):
        with pytest.raises(Problem, match="code_refused"):
            await in_database(visit.enter, guess)
    assert await in_database(visit.proved) == ()


def test_a_code_without_a_claim_is_refused_in_the_same_words(visit: Visit) -> None:
    with pytest.raises(Problem, match="code_refused"):
        visit.enter("123456")


async def test_the_right_code_strikes_its_tries_out() -> None:
    visit = await _visit()
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
        visit = await _visit(address=f"10.2.0.{number}")
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


# ---- numbers in the chat


async def test_numbers_that_are_tried_out_lock_the_visitor_and_the_address(
    settings: Settings,
) -> None:
    visit = await _visit(address="10.3.0.1")
    answers = {await visit.ask(f"Where is O-{number}?") for number in range(900, 908)}
    assert answers == {VERIFY_FIRST["en"]}
    entries = await in_database(
        lambda: list(AuditEntry.objects.filter(kind="lookup_lock"))
    )
    assert [entry.chain for entry in entries] == [str(visit.conversation.pk)]
    near = await _visit(address="10.3.0.1")
    far = await _visit(address="10.3.0.2")
    await in_database(near.claim)
    await deliver()
    assert mail.outbox == []
    await in_database(far.claim)
    await deliver()
    assert len(mail.outbox) == 1


async def test_the_same_number_again_is_no_further_try() -> None:
    visit = await _visit()
    for _ in range(8):
        await visit.ask("Where is O-204?")
    locked = LookupGate.objects.exclude(locked_until=None)
    assert not await in_database(locked.exists)


# ---- the end


def test_visitors_are_forgotten_in_time(settings: Settings) -> None:
    now = timezone.now()
    silent, old, kept = Visit("10.4.0.1"), Visit("10.4.0.2"), Visit("10.4.0.3")
    old._say("hello")
    kept._say("hello")
    long_ago = now - timedelta(days=settings.GUEST_KEEP_DAYS + 1)
    Guest.objects.filter(user=silent.account.user).update(
        created_at=now - timedelta(days=2)
    )
    Guest.objects.filter(user=old.account.user).update(created_at=long_ago)
    Conversation.objects.filter(pk=old.conversation.pk).update(updated_at=long_ago)
    Guest.objects.filter(user=kept.account.user).update(created_at=long_ago)
    assert guests.forget_guests(now=now) == 2
    assert [guest.user for guest in Guest.objects.all()] == [kept.account.user]
    assert [c.pk for c in Conversation.objects.all()] == [kept.conversation.pk]
