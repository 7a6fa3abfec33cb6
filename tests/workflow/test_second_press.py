"""Confirm pressed twice, or in two tabs: the second press blames nobody."""

from __future__ import annotations

import asyncio

import pytest
from django.utils import timezone

from chatbot.workflow import services as workflow
from chatbot.workflow.services import NotPossible
from tools import gateway
from tools.actions.models import ActionRequest
from tools.actions.states import RequestState
from tools.backends.store.changing import preview
from tools.backends.store.seeding.shop import seed_the_named
from tools.contracts import ActionKind, Actor, Role

pytestmark = pytest.mark.django_db(transaction=True)

LIN = Actor(Role.CUSTOMER, "C-LIN", language="en")
CANCEL = ActionKind.CANCEL_ORDER


@pytest.fixture
def card() -> ActionRequest:
    seed_the_named(now=timezone.now())
    return gateway.request(
        CANCEL,
        preview("C-LIN", CANCEL, {"order_id": "O-205"}),
        actor=LIN,
        conversation_id=None,
        run_id=None,
        now=timezone.now(),
    )


def previewed(card: ActionRequest, **fields: str) -> gateway.Preview:
    return asyncio.run(workflow.preview_again(card, actor=LIN, fields=fields))


def test_a_second_press_is_no_incomplete_card(card: ActionRequest) -> None:
    now = timezone.now()
    again = gateway.confirm_request(
        card.pk,
        actor=LIN,
        arguments_hash=card.arguments_hash,
        previewed=previewed(card, reason="no longer needed"),
        now=now,
    )
    assert again.state == RequestState.APPROVED
    late = previewed(again, reason="ordered by mistake")
    assert late.arguments["reason"] == "no longer needed"


def test_a_field_that_the_card_did_not_open_is_refused(card: ActionRequest) -> None:
    with pytest.raises(NotPossible, match="incomplete"):
        previewed(card, order_id="O-204")
