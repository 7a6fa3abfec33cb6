"""Visitors who are not signed in: rules for everybody, an order after its proof."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from chatbot.accounts.models import Guest, LookupGate, OrderProof
from chatbot.chat import guests, services
from chatbot.chat.gate import admit, as_visitor, still_signed_in
from chatbot.chat.models import Conversation, Run
from chatbot.chat.problems import Forbidden, NotSignedIn, Problem
from chatbot.chat.runner import execute_run
from chatbot.react.guests import SIGN_IN_FIRST, VERIFY_FIRST
from chatbot.workflow.models import AuditEntry
from tests.cast import PASSWORD, Person
from tests.chat.conftest import the_run
from tests.chat.visits import Visit, come, deliver, prove
from tools.contracts import Role
from tools.database import in_database
from tools.help_seed import seed_help

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("patient_shop"),
]


@pytest.fixture
def visit() -> Visit:
    return Visit()


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
    visit = await come()
    answer = await visit.ask("How do I return something?")
    assert "How to return an item" in answer


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("hi", "known to be yours"),
        ("你好", "确认订单是您本人的之后"),
        ("你能做什么", "修改订单和退款需要登录"),
        ("Who will win the election?", "I cannot help with that"),
    ],
)
async def test_a_visitor_is_promised_only_what_they_can_have(
    said: str, told: str
) -> None:
    visit = await come()
    answer = await visit.ask(said)
    assert told in answer
    assert "your orders, parcels and refunds" not in answer
    run = await in_database(the_run, visit.conversation)
    assert run.stop_reason == "answered"


@pytest.mark.parametrize("order", ["O-204", "O-305", "O-999"])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_order_is_told_to_nobody_without_proof(
    order: str, language: str
) -> None:
    visit = await come()
    text = f"Where is {order}?" if language == "en" else f"订单 {order} 到哪了？"
    assert await visit.ask(text) == VERIFY_FIRST[language]  # type: ignore[index]


async def test_the_proved_order_is_told_and_no_other() -> None:
    visit = await come()
    await prove(visit)
    answer = await visit.ask("Has O-204 shipped?")
    assert "shipped" in answer
    for other in ("O-205", "O-305", "O-999"):
        assert await visit.ask(f"Has {other} shipped?") == VERIFY_FIRST["en"]
    assert await visit.ask("Cancel O-204 please") == SIGN_IN_FIRST["en"]


async def test_only_status_fields_are_told() -> None:
    visit = await come()
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
    visit = await come()
    await prove(visit)
    assert said in await visit.ask(question)
    run = await in_database(the_run, visit.conversation)
    assert run.stop_reason == "answered"


async def test_the_question_that_waited_is_answered_by_the_proof() -> None:
    visit = await come()
    assert await visit.ask("Has O-204 shipped?") == VERIFY_FIRST["en"]
    await prove(visit)
    run = await in_database(the_run, visit.conversation)
    assert run.phase == "queued"
    await execute_run(run.pk, owner="test", model_name="offline")
    assert "O-204 shipped" in await in_database(visit.last_answer)


async def test_a_proof_ends_with_its_time(settings: Settings) -> None:
    visit = await come()
    await prove(visit)
    past = timezone.now() - timedelta(seconds=1)
    await in_database(lambda: OrderProof.objects.update(verified_until=past))
    assert await visit.ask("Has O-204 shipped?") == VERIFY_FIRST["en"]


async def test_a_proof_is_this_visits_alone() -> None:
    visit, other = await come(), await come()
    await prove(visit)
    assert await in_database(other.proved) == ()
    assert await other.ask("Has O-204 shipped?") == VERIFY_FIRST["en"]


# ---- what they may cost


@pytest.mark.parametrize(
    ("limit", "whose"), [("BUDGET_GUEST_TOKENS", 0), ("BUDGET_ADDRESS_TOKENS", 1)]
)
async def test_the_tokens_of_a_visitor_and_of_an_address_are_limited(
    settings: Settings, limit: str, whose: int
) -> None:
    visits = [await come(address="10.6.0.1") for _ in range(2)]
    await visits[whose].ask("hello")
    run = await in_database(the_run, visits[whose].conversation)
    await in_database(Run.objects.filter(pk=run.pk).update, prompt_tokens=1_000)
    for at, ends in ((1_001, "answered"), (1_000, "budget_limit")):
        setattr(settings, limit, at)
        await visits[0].ask("hello")
        run = await in_database(the_run, visits[0].conversation)
        assert run.stop_reason == ends


# ---- numbers in the chat


async def test_numbers_that_are_tried_out_lock_the_visitor_and_the_address(
    settings: Settings,
) -> None:
    visit = await come(address="10.3.0.1")
    answers = {await visit.ask(f"Where is O-{number}?") for number in range(900, 908)}
    assert answers == {VERIFY_FIRST["en"]}
    entries = await in_database(
        lambda: list(AuditEntry.objects.filter(kind="lookup_lock"))
    )
    assert [entry.chain for entry in entries] == [str(visit.conversation.pk)]
    near = await come(address="10.3.0.1")
    far = await come(address="10.3.0.2")
    await in_database(near.claim)
    await deliver()
    assert mail.outbox == []
    await in_database(far.claim)
    await deliver()
    assert len(mail.outbox) == 1


async def test_parcels_that_are_not_the_orders_own_count_too(
    settings: Settings,
) -> None:
    settings.CHAT_LOOKUP_FAILURES = 3
    visit = await come()
    await prove(visit)
    for number in range(4):
        answer = await visit.ask(f"Where is parcel N-90{number}?")
        assert "N-90" in answer
    locked = LookupGate.objects.exclude(locked_until=None)
    assert await in_database(locked.count) == 2
    assert "shipped" in await visit.ask("Has O-204 shipped?")


async def test_the_same_number_again_is_no_further_try() -> None:
    visit = await come()
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
