"""A visitor's page: what it may send, how many there may be, what comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from django.core import mail
from django.utils import timezone
from pytest_django import Settings

from chatbot.chat.models import Conversation
from chatbot.llm.scripted_model import answer
from tests.cast import Person
from tests.chat.conftest import Browser, Page, World
from tests.chat.visits import LIN_MAIL, Visit, code_in, deliver
from tools.backends.store.seeding.shop import seed_the_named
from tools.database import in_database

pytestmark = pytest.mark.django_db(transaction=True)


class GuestBrowser(Browser):
    def __init__(self, visit: Visit) -> None:
        self.client = visit.client
        self.pages: list[Page] = []


@pytest.fixture
async def visit(world: World) -> Visit:
    await in_database(seed_the_named, now=timezone.now())
    world.plays(answer("Hello."))
    return await in_database(Visit)


@pytest.fixture
async def guest(visit: Visit) -> AsyncIterator[GuestBrowser]:
    made = GuestBrowser(visit)
    yield made
    for page in made.pages:
        if not page.socket.future.done():
            await page.leave()


async def test_an_order_is_proved_over_the_socket(
    guest: GuestBrowser, visit: Visit
) -> None:
    page = await guest.opened(visit.conversation)
    await page.send("verify.start", order="o 204", contact=LIN_MAIL)
    notice = await page.hear_until("message")
    assert notice["speaker"] == "notice"
    assert notice["extras"]["guest"]["form"] == "code"
    await deliver()
    await page.send("verify.code", code="x")
    assert (await page.hear_until("error"))["code"] == "code_refused"
    await page.send("verify.code", code=code_in(mail.outbox[0]))
    notice = await page.hear_until("message")
    assert notice["extras"]["guest"]["form"] == "proved"
    assert notice["extras"]["guest"]["order"] == "O 204"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("verify.start", {}),
        ("verify.start", {"order": "O-204"}),
        ("verify.start", {"order": "", "contact": LIN_MAIL}),
        ("verify.start", {"order": "O-204", "contact": " "}),
        ("verify.start", {"order": "O-204", "contact": "a\nb@example.com"}),
        ("verify.start", {"order": "O" * 65, "contact": LIN_MAIL}),
        ("verify.start", {"order": "O-204", "contact": "a" * 255}),
        ("verify.start", {"order": 204, "contact": LIN_MAIL}),
        ("verify.code", {}),
        ("verify.code", {"code": 123456}),
        ("verify.code", {"code": "1" * 13}),
    ],
)
async def test_a_form_that_is_not_well_formed_is_refused(
    guest: GuestBrowser, visit: Visit, kind: str, fields: dict[str, object]
) -> None:
    page = await guest.opened(visit.conversation)
    await page.send(kind, **fields)
    assert (await page.hear_until("error"))["code"] == "bad_frame"
    assert page.log == []


async def test_a_customer_has_nothing_to_prove(
    browser: Browser, conversation: Conversation, lin: Person
) -> None:
    page = await browser.opened(conversation)
    await page.send("verify.start", order="O-204", contact=LIN_MAIL)
    assert (await page.hear_until("error"))["code"] == "no_guest"
    await page.send("verify.code", code="123456")
    assert (await page.hear_until("error"))["code"] == "no_guest"


async def test_a_visitor_has_two_pages(guest: GuestBrowser, visit: Visit) -> None:
    first = await guest.opened(visit.conversation)
    second = await guest.opened(visit.conversation)
    third = await guest.opened(visit.conversation)
    assert (await first.hear())["code"] == 4409
    for page in (second, third):
        await page.send("ping")
        assert (await page.hear())["type"] == "pong"


async def test_codes_are_asked_for_only_so_fast(
    guest: GuestBrowser, visit: Visit, settings: Settings
) -> None:
    settings.CHAT_MESSAGES_BURST = 1
    page = await guest.opened(visit.conversation)
    await page.send("verify.start", order="O-204", contact=LIN_MAIL)
    await page.hear_until("message")
    await page.send("verify.start", order="O-204", contact=LIN_MAIL)
    refused = await page.hear_until("error")
    assert refused["code"] == "too_many"
    assert refused["retry_after"] > 0
