"""A change proposed again: the card in front of the customer is the one that counts."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from chatbot.workflow import services as workflow
from chatbot.workflow.models import Event
from chatbot.workflow.services import NotPossible, Proposal
from tools.actions.states import RequestState
from tools.backends.store.changing import preview
from tools.backends.store.seeding.shop import seed_the_named
from tools.contracts import ActionKind, Actor, Json, Role
from tools.models import ActionRequest

pytestmark = pytest.mark.django_db(transaction=True)

LIN = Actor(Role.CUSTOMER, "C-LIN", language="en")
CANCEL: Mapping[str, Json] = {"order_id": "O-205", "reason": "no longer needed"}


@pytest.fixture(autouse=True)
def shop() -> None:
    seed_the_named(now=timezone.now())


def proposed(
    conversation_id: UUID,
    kind: ActionKind = ActionKind.CANCEL_ORDER,
    arguments: Mapping[str, Json] = CANCEL,
) -> ActionRequest:
    proposal = Proposal(kind, preview("C-LIN", kind, arguments), ())
    return workflow.request_approval(
        proposal,
        actor=LIN,
        conversation_id=conversation_id,
        run_id=uuid4(),
        now=timezone.now(),
    )


def confirmed(request: ActionRequest) -> ActionRequest:
    return workflow.confirm(
        request,
        actor=LIN,
        arguments_hash=request.arguments_hash,
        preview=preview("C-LIN", ActionKind.CANCEL_ORDER, request.arguments),
        now=timezone.now(),
    )


def test_a_card_of_another_conversation_gives_way_and_the_new_one_counts() -> None:
    there, here = uuid4(), uuid4()
    first = proposed(there)
    second = proposed(here)
    first.refresh_from_db()
    assert (first.state, first.reason) == (RequestState.WITHDRAWN, "replaced")
    assert Event.objects.filter(key=f"action.withdrawn:{first.pk}").exists()
    found = workflow.request_of(second.pk, conversation_id=here)
    assert confirmed(found).state == RequestState.APPROVED


def test_the_same_again_in_one_conversation_is_the_same_card() -> None:
    here = uuid4()
    assert proposed(here).pk == proposed(here).pk


def test_other_arguments_are_another_card() -> None:
    here = uuid4()
    first = proposed(here)
    second = proposed(here, arguments={**CANCEL, "reason": "ordered by mistake"})
    assert second.pk != first.pk
    assert second.arguments["reason"] == "ordered by mistake"


def test_what_was_agreed_to_is_not_replaced_but_said_to_be_open() -> None:
    first = confirmed(proposed(uuid4()))
    with pytest.raises(NotPossible) as refused:
        proposed(uuid4())
    assert refused.value.reason == "already_open"
    first.refresh_from_db()
    assert first.state == RequestState.APPROVED


def test_replaced_cards_use_up_nothing_of_the_days_requests() -> None:
    for _ in range(12):
        assert proposed(uuid4()).state == RequestState.PROPOSED
