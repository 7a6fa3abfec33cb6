"""Customers who have left are written to; who is there is not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from chatbot.chat import news
from chatbot.chat.gate import note_seen
from chatbot.chat.models import Account, Conversation, Message
from chatbot.chat.takeover import take_over
from chatbot.workflow.models import Delivery
from tests.cast import Person
from tests.workflow.conftest import confirm, later, propose, sweep

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def done(conversation: Conversation, lin: Person) -> Conversation:
    """A change that was made, and told in the conversation."""
    lin.user.email = "lin@shop.example"
    lin.user.save()
    confirm(propose(conversation, lin), lin)
    sweep()
    assert not mail.outbox
    return conversation


def wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news, "MAIL_AFTER", timedelta(0))
    later()
    sweep()


def test_who_has_left_is_written_to_once(
    done: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait(monkeypatch)
    [letter] = mail.outbox
    assert letter.to == ["lin@shop.example"]
    assert "O-205" in letter.body
    later()
    sweep()
    assert len(mail.outbox) == 1


def test_who_has_a_page_open_is_not_written_to(
    done: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_seen([done.account_id])
    wait(monkeypatch)
    assert not mail.outbox


def test_who_was_here_before_the_news_but_not_since_is_written_to(
    done: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Message.objects.filter(conversation=done).latest("seq").created_at
    Account.objects.update(seen_at=told - timedelta(minutes=1))
    wait(monkeypatch)
    assert len(mail.outbox) == 1


def test_a_mail_server_that_is_away_is_tried_again(
    done: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(**_: object) -> None:
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr(news, "send_mail", away)
        wait(patch)
        waits = Delivery.objects.get(handler__endswith="mail_customer")
        assert (waits.state, waits.attempts) == ("waiting", 1)
    monkeypatch.setattr(news, "MAIL_AFTER", timedelta(0))
    later()
    sweep()
    assert len(mail.outbox) == 1


def test_being_seen_is_written_down_only_now_and_then(lin: Person) -> None:
    note_seen([lin.account.pk])
    first = Account.objects.get(pk=lin.account.pk).seen_at
    note_seen([lin.account.pk])
    assert Account.objects.get(pk=lin.account.pk).seen_at == first
    assert first is not None
    assert first <= timezone.now()


@pytest.mark.parametrize(
    ("taken", "speakers"),
    [(False, ["notice", "assistant"]), (True, ["notice", "notice"])],
)
def test_the_assistant_tells_nothing_where_a_person_has_the_conversation(
    conversation: Conversation,
    lin: Person,
    ada: Person,
    taken: bool,
    speakers: list[str],
) -> None:
    if taken:
        take_over(conversation.pk, by=ada.user, now=timezone.now())
    confirm(propose(conversation, lin), lin)
    sweep()
    news_of_it = conversation.messages.filter(client_id__startswith="event.")
    assert [one.speaker for one in news_of_it.order_by("seq")] == speakers
