"""Visitors who are not signed in, as tests have them: a browser, an order, a code."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chatbot.accounts.models import Guest
from chatbot.chat import guests, services, verify
from chatbot.chat.models import Account
from chatbot.chat.runner import execute_run
from chatbot.workflow.models import Event
from tests.chat.conftest import the_run
from tools.database import in_database

LIN_MAIL = "c-lin@example.com"


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


async def come(**options: str) -> Visit:
    return await in_database(lambda: Visit(**options))
