"""A change on its way: proposed, agreed to, executed once, told truthfully."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from chatbot.chat.models import Conversation
from chatbot.workflow import dead_letters, outbox, rules, services
from chatbot.workflow.audit import broken_links, record_audit
from chatbot.workflow.card import card_of
from chatbot.workflow.models import Alert, AuditEntry, Delivery, Event
from chatbot.workflow.services import NotPossible
from chatbot.workflow.taint import without_taint
from tests.cast import Person
from tests.workflow.conftest import (
    CANCEL,
    cards,
    confirm,
    effects,
    fresh,
    in_threads,
    later,
    propose,
    say,
    sweep,
    told,
)
from tools import gateway
from tools.actions import performing
from tools.backends.changes import ChangeResult, Preview, Terms
from tools.backends.store.changing import StoreChanges
from tools.backends.store.models import Order, Payment, Refund
from tools.contracts import ActionKind, Json, OrderStatus, Role
from tools.errors import ToolTimeout, ToolUnavailable
from tools.models import ActionRequest

pytestmark = pytest.mark.django_db(transaction=True)

REFUND: Mapping[str, Json] = {"order_id": "O-204"}


@pytest.fixture
def waiting(conversation: Conversation, lin: Person) -> ActionRequest:
    """A refund that the customer has confirmed and the staff has not."""
    request = propose(conversation, lin, "request_refund", REFUND)
    return confirm(request, lin)


def decide(request: ActionRequest, by: Person, **more: Any) -> ActionRequest:
    return services.decide(
        request.pk,
        **{
            "approver": by.user,
            "role": by.actor.role,
            "approve": True,
            "arguments_hash": request.arguments_hash,
            "reason": "as the rules say",
            "now": timezone.now(),
            **more,
        },
    )


# ---- one change, end to end


def test_a_confirmed_cancellation_is_done_once_and_told(
    conversation: Conversation, lin: Person
) -> None:
    request = confirm(propose(conversation, lin), lin)
    sweep()
    assert effects() == [CANCEL]
    assert Order.objects.get(number="O-205").status == OrderStatus.CANCELLED
    assert cards(conversation)[-1] == "succeeded"
    assert "订单 O-205 已取消。" in told(conversation)[-1]
    assert fresh(request).state == "succeeded"
    later()
    sweep()
    assert effects() == [CANCEL]


def test_each_delivery_twice_is_still_one_effect_and_one_message(
    conversation: Conversation, lin: Person
) -> None:
    confirm(propose(conversation, lin), lin)
    for _ in range(2):
        sweep()
        before = told(conversation)
        Delivery.objects.update(state="waiting", due_at=timezone.now())
    sweep()
    assert effects() == [CANCEL]
    assert told(conversation) == before
    assert Refund.objects.filter(order__number="O-205").count() == 1


def test_nothing_is_done_before_the_customer_has_confirmed(
    conversation: Conversation, lin: Person
) -> None:
    request = propose(conversation, lin)
    say(conversation, "yes")
    sweep()
    assert (fresh(request).state, effects()) == ("proposed", [])


def test_the_same_change_proposed_twice_is_one_request(
    conversation: Conversation, lin: Person
) -> None:
    assert propose(conversation, lin).pk == propose(conversation, lin).pk
    assert Event.objects.filter(name="action.proposed").count() == 1


def test_a_second_confirm_changes_nothing(
    conversation: Conversation, lin: Person
) -> None:
    request = propose(conversation, lin)
    confirm(request, lin)
    sweep()
    again = services.request_of(request.pk, conversation_id=conversation.pk)
    services.confirm(
        again,
        actor=lin.actor,
        arguments_hash=request.arguments_hash,
        preview=Preview(eligible=True),
        now=timezone.now(),
    )
    sweep()
    assert effects() == [CANCEL]


def test_two_confirms_at_once_are_one(conversation: Conversation, lin: Person) -> None:
    request = propose(conversation, lin)
    preview = asyncio.run(services.preview_again(request, actor=lin.actor, fields={}))
    press = partial(
        services.confirm,
        request,
        actor=lin.actor,
        arguments_hash=request.arguments_hash,
        preview=preview,
        now=timezone.now(),
    )
    asyncio.run(in_threads(press, press, press))
    sweep()
    assert effects() == [CANCEL]
    assert Event.objects.filter(name="action.approved").count() == 1


def test_a_card_of_other_arguments_is_not_confirmed(
    conversation: Conversation, lin: Person
) -> None:
    request = propose(conversation, lin)
    request.arguments_hash = "0" * 64
    with pytest.raises(NotPossible, match="changed_since_shown"):
        confirm(request, lin)
    assert effects() == []


def test_nobody_confirms_or_withdraws_what_is_anothers(
    conversation: Conversation, lin: Person, mei: Person
) -> None:
    request = propose(conversation, lin)
    with pytest.raises(NotPossible, match="not_found"):
        services.withdraw(request.pk, actor=mei.actor, now=timezone.now())
    with pytest.raises(NotPossible):
        confirm(request, mei)
    assert fresh(request).state == "proposed"


# ---- the customer's own words


ADDRESS: Mapping[str, Json] = {
    "order_id": "O-205",
    "address1": "1 Evil Street",
    "city": "Xiamen",
    "zip": "361000",
    "country": "China",
}


def test_an_address_that_the_customer_did_not_write_is_dropped(
    conversation: Conversation, lin: Person
) -> None:
    say(conversation, "change the address of O-205, city is  ＸＩＡＭＥＮ please")
    request = propose(conversation, lin, "change_address", ADDRESS)
    assert request.arguments["address1"] == ""
    assert request.arguments["city"] == "Xiamen"
    assert set(request.preview["missing"]) == {"address1", "zip", "country"}
    tainted = AuditEntry.objects.get(kind="action.tainted_argument")
    assert tainted.ids["arguments"] == "address1 zip country"
    card = card_of(request)
    opened = {field["name"]: field["value"] for field in card["fields"]}
    assert opened["address1"] == ""


@pytest.mark.parametrize(
    ("words", "amount"),
    [
        ("refund ５.00 yuan of O-204 please", "5"),
        ("O-204 please refund something, 1,005 yuan maybe", "5"),
        ("please refund O-205", "205"),
    ],
)
def test_a_sum_that_the_customer_did_not_write_is_dropped(
    conversation: Conversation, lin: Person, words: str, amount: str
) -> None:
    kept, tainted = without_taint(
        ActionKind.REQUEST_REFUND, {"order_id": "O-204", "amount": amount}, [words]
    )
    own = words.startswith("refund")
    assert ("amount" in kept, tainted) == (own, () if own else ("amount",))


def test_an_address_that_the_customer_wrote_stands_on_the_card(
    conversation: Conversation, lin: Person
) -> None:
    say(conversation, "新地址：8 Harbour Street, Xiamen, 361000, China")
    arguments = {**ADDRESS, "address1": "8 harbour street"}
    request = propose(conversation, lin, "change_address", arguments)
    assert request.preview["missing"] == []
    confirm(request, lin)
    sweep()
    assert Order.objects.get(number="O-205").address1 == "8 harbour street"


def test_words_of_anothers_conversation_or_of_the_assistant_are_not_the_customers(
    conversation: Conversation, lin: Person
) -> None:
    say(conversation, "change my address")
    conversation.messages.create(
        seq=99, speaker="assistant", text="1 Evil Street", created_at=timezone.now()
    )
    request = propose(conversation, lin, "change_address", ADDRESS)
    assert request.arguments["address1"] == ""


def test_only_fields_that_the_card_opened_may_be_filled_in(
    conversation: Conversation, lin: Person
) -> None:
    request = propose(conversation, lin)
    with pytest.raises(NotPossible, match="incomplete"):
        confirm(request, lin, {"order_id": "O-204"})
    assert effects() == []


def test_what_moves_money_is_shown_before_it_is_confirmed(
    conversation: Conversation, lin: Person
) -> None:
    request = propose(conversation, lin, "return_items", {"order_id": "O-187"})
    card = card_of(request)
    choices = {field["name"]: field["choices"] for field in card["fields"]}
    filled: dict[str, Json] = {
        "items": [choices["items"][0]["value"]],
        "payment_method": choices["payment_method"][0]["value"],
    }
    shown = confirm(request, lin, filled)
    assert (shown.state, shown.amount is not None) == ("proposed", True)
    assert shown.arguments_hash != request.arguments_hash
    sweep()
    assert (cards(conversation), effects()) == (["proposed"], [])
    confirm(shown, lin)
    sweep()
    assert effects() == ["return_items"]


# ---- approvals


def test_a_refund_waits_for_staff_and_is_done_once(
    conversation: Conversation, waiting: ActionRequest, sam: Person
) -> None:
    sweep()
    assert (waiting.state, effects()) == ("confirmed", [])
    assert "等待" in told(conversation)[-1]
    decide(waiting, sam)
    sweep()
    assert effects() == ["request_refund"]
    assert cards(conversation)[-1] == "succeeded"


def test_two_approvers_at_once_are_one_decision_and_one_effect(
    waiting: ActionRequest, sam: Person, ada: Person
) -> None:
    asyncio.run(
        in_threads(partial(decide, waiting, sam), partial(decide, waiting, ada))
    )
    sweep()
    assert effects() == ["request_refund"]
    assert Event.objects.filter(name="action.approved").count() == 1


def test_of_approve_and_decline_at_once_one_counts(
    conversation: Conversation, waiting: ActionRequest, sam: Person, ada: Person
) -> None:
    asyncio.run(
        in_threads(
            partial(decide, waiting, sam),
            partial(decide, waiting, ada, approve=False),
        )
    )
    sweep()
    decided = Event.objects.filter(name__in=["action.approved", "action.declined"])
    assert decided.count() == 1
    approved = decided.get().name == "action.approved"
    assert effects() == (["request_refund"] if approved else [])
    assert cards(conversation)[-1] == ("succeeded" if approved else "declined")


def test_a_decision_without_a_reason_is_none(
    waiting: ActionRequest, sam: Person
) -> None:
    with pytest.raises(NotPossible, match="reason_required"):
        decide(waiting, sam, reason="  ")
    assert fresh(waiting).state == "confirmed"


def test_an_agent_does_not_decide_above_the_limit(
    waiting: ActionRequest, ada: Person
) -> None:
    rules.change_policy(
        ActionKind.REQUEST_REFUND, by=ada.user, now=timezone.now(), supervisor_above=1
    )
    ActionRequest.objects.update(
        policy=rules.current_policies()[
            list(ActionKind).index(ActionKind.REQUEST_REFUND)
        ]
    )
    with pytest.raises(NotPossible, match="supervisor_needed"):
        decide(waiting, ada)
    with pytest.raises(NotPossible, match="not_allowed"):
        decide(waiting, ada, role=Role.OPERATOR)


def test_a_customer_takes_back_what_still_waits(
    conversation: Conversation, waiting: ActionRequest, lin: Person, sam: Person
) -> None:
    services.withdraw(waiting.pk, actor=lin.actor, now=timezone.now())
    decide(waiting, sam)
    sweep()
    assert (fresh(waiting).state, effects()) == ("withdrawn", [])
    assert cards(conversation)[-1] == "withdrawn"


def test_what_nobody_decided_in_time_expires_and_is_told(
    conversation: Conversation, waiting: ActionRequest, sam: Person
) -> None:
    ActionRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    asyncio.run(services.expire_due())
    decide(waiting, sam)
    sweep()
    assert (fresh(waiting).state, effects()) == ("expired", [])
    assert cards(conversation)[-1] == "expired"


def test_an_order_that_changed_after_the_approval_is_refused_with_its_reason(
    conversation: Conversation, waiting: ActionRequest, sam: Person
) -> None:
    decide(waiting, sam)
    Payment.objects.filter(order__number="O-204").delete()
    sweep()
    assert (fresh(waiting).state, effects()) == ("refused", [])
    assert "没有可以退的款项" in told(conversation)[-1]


def test_arguments_that_were_altered_after_the_approval_are_not_executed(
    conversation: Conversation, waiting: ActionRequest, sam: Person
) -> None:
    decide(waiting, sam)
    altered = {**waiting.arguments, "amount": "1.00"}
    ActionRequest.objects.update(arguments=altered)
    sweep()
    assert (fresh(waiting).state, effects()) == ("refused", [])
    assert fresh(waiting).reason == "arguments_changed"


def test_an_approver_who_has_left_meanwhile_counts_for_nothing(
    waiting: ActionRequest, sam: Person
) -> None:
    decide(waiting, sam)
    sam.user.is_active = False
    sam.user.save()
    sweep()
    assert (fresh(waiting).state, effects()) == ("refused", [])


# ---- a shop that fails


class BadLine:
    """The real shop behind a line that fails as often as it is told."""

    def __init__(self) -> None:
        self.shop = StoreChanges()
        self.before: list[Exception] = []
        self.after: list[Exception] = []
        self.away = False
        self.asked = 0

    async def preview(
        self, customer_id: str, kind: ActionKind, arguments: Mapping[str, Json]
    ) -> Preview:
        return await self.shop.preview(customer_id, kind, arguments)

    async def lookup(self, key: str) -> ChangeResult | None:
        if self.away:
            raise ToolUnavailable("503")
        return await self.shop.lookup(key)

    async def execute(
        self,
        customer_id: str,
        kind: ActionKind,
        arguments: Mapping[str, Json],
        *,
        key: str,
        agreed: Terms,
    ) -> ChangeResult:
        self.asked += 1
        if self.before:
            raise self.before.pop()
        result = await self.shop.execute(
            customer_id, kind, arguments, key=key, agreed=agreed
        )
        if self.after:
            raise self.after.pop()
        return result


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> BadLine:
    bad = BadLine()
    monkeypatch.setattr(gateway, "changing_backend", lambda: bad)
    return bad


def sweep_on(times: int = 10) -> None:
    for _ in range(times):
        sweep(1)
        later()


def never_told_as_failed(conversation: Conversation) -> bool:
    return not any("没有做任何改动" in text for text in told(conversation))


@pytest.mark.parametrize("failure", [ToolUnavailable("503"), ToolTimeout("late")])
def test_a_shop_that_fails_before_it_did_anything_is_asked_again(
    conversation: Conversation, lin: Person, line: BadLine, failure: Exception
) -> None:
    line.before = [failure, failure]
    confirm(propose(conversation, lin), lin)
    sweep_on()
    assert (effects(), line.asked) == ([CANCEL], 3)
    assert cards(conversation)[-1] == "succeeded"
    assert never_told_as_failed(conversation)


@pytest.mark.parametrize("failure", [ToolUnavailable("reset"), ToolTimeout("late")])
def test_a_reply_that_was_lost_is_looked_up_and_nothing_is_done_again(
    conversation: Conversation, lin: Person, line: BadLine, failure: Exception
) -> None:
    line.after = [failure]
    confirm(propose(conversation, lin), lin)
    sweep_on()
    assert (effects(), line.asked) == ([CANCEL], 1)
    assert cards(conversation)[-1] == "succeeded"
    assert never_told_as_failed(conversation)


def test_an_unknown_outcome_is_told_as_being_checked_with_an_alert_and_then_settled(
    conversation: Conversation, lin: Person, line: BadLine
) -> None:
    line.after, line.away = [ToolTimeout("late")], True
    request = confirm(propose(conversation, lin), lin)
    sweep_on(30)
    assert fresh(request).state == "unknown"
    assert "正在核实" in told(conversation)[-1]
    assert never_told_as_failed(conversation)
    assert Alert.objects.get(kind="unknown_outcome").ids["request"] == str(request.pk)
    line.away = False
    asyncio.run(services.look_up_unknown())
    sweep()
    assert (effects(), line.asked) == ([CANCEL], 1)
    assert cards(conversation)[-1] == "succeeded"


def test_a_person_requeues_an_unknown_outcome_with_a_reason(
    conversation: Conversation, lin: Person, sam: Person, line: BadLine
) -> None:
    line.before = [ToolTimeout("late")] * 6
    request = confirm(propose(conversation, lin), lin)
    sweep_on(12)
    assert (fresh(request).state, effects()) == ("unknown", [])
    with pytest.raises(NotPossible, match="reason_required"):
        dead_letters.requeue_unknown(
            request.pk, by=sam.user, reason="", now=timezone.now()
        )
    dead_letters.requeue_unknown(
        request.pk, by=sam.user, reason="shop is back", now=timezone.now()
    )
    later()
    asyncio.run(services.carry_out_due())
    sweep()
    assert effects() == [CANCEL]
    assert cards(conversation)[-1] == "succeeded"


def test_a_person_closes_an_unknown_outcome_by_hand(
    conversation: Conversation, lin: Person, sam: Person, line: BadLine
) -> None:
    line.before = [ToolTimeout("late")] * 6
    request = confirm(propose(conversation, lin), lin)
    sweep_on(12)
    dead_letters.resolve_unknown(
        request.pk, by=sam.user, reason="done by telephone", now=timezone.now()
    )
    sweep()
    assert cards(conversation)[-1] == "resolved"
    assert not any("telephone" in text for text in told(conversation))


# ---- processes that die


class Killed(BaseException):
    """The process is gone in the middle of what it did."""


@pytest.mark.parametrize("point", ["asking", "replied", "announcing", "noting"])
def test_a_process_that_dies_at_any_point_leaves_one_effect_and_one_message(
    conversation: Conversation,
    lin: Person,
    line: BadLine,
    monkeypatch: pytest.MonkeyPatch,
    point: str,
) -> None:
    request = confirm(propose(conversation, lin), lin)
    deaths = []

    def die(*_: object, **__: object) -> None:
        deaths.append(point)
        raise Killed

    with monkeypatch.context() as patch:
        match point:
            case "asking":
                patch.setattr(line.shop, "execute", die)
            case "replied":
                patch.setattr(performing, "_record", die)
            case "announcing":
                patch.setattr(services, "announce", die)
            case "noting":
                patch.setattr(outbox, "_done", die)
        with pytest.raises(Killed):
            sweep()
    assert deaths
    for _ in range(4):
        later()
        sweep()
    assert effects() == [CANCEL]
    assert fresh(request).state == "succeeded"
    done = [text for text in told(conversation) if "已取消。" in text]
    assert len(done) == 1


# ---- the audit


def test_every_step_of_a_change_stands_in_its_conversations_chain(
    conversation: Conversation, waiting: ActionRequest, sam: Person
) -> None:
    decide(waiting, sam)
    sweep()
    chain = AuditEntry.objects.filter(chain=str(conversation.pk)).order_by("position")
    assert [entry.kind for entry in chain] == [
        "action.proposed",
        "action.confirmed",
        "action.agreed",
        "action.approved",
        "action.finished",
    ]
    assert {entry.ids["hash"] for entry in chain} == {waiting.arguments_hash}
    assert list(broken_links(str(conversation.pk))) == []


def test_writers_of_one_chain_at_once_do_not_fork_it(shop: None) -> None:
    write = partial(
        record_audit, "x", chain="one", actor="a", ids={}, now=timezone.now()
    )
    asyncio.run(in_threads(*[write] * 8))
    assert AuditEntry.objects.filter(chain="one").count() == 8
    assert list(broken_links("one")) == []


def test_a_change_of_the_rules_is_a_version_and_an_entry(olga: Person) -> None:
    rules.change_policy(
        ActionKind.CANCEL_ORDER, by=olga.user, now=timezone.now(), max_amount=100
    )
    entry = AuditEntry.objects.get(chain="policy")
    assert entry.ids["changed"] == "max_amount: None -> 100"
    assert entry.actor == "olga"


def test_a_request_keeps_the_rules_under_which_it_was_made(
    conversation: Conversation, lin: Person, olga: Person
) -> None:
    request = propose(conversation, lin)
    rules.change_policy(
        ActionKind.CANCEL_ORDER, by=olga.user, now=timezone.now(), enabled=False
    )
    confirm(request, lin)
    sweep()
    assert (fresh(request).policy.version, effects()) == (1, [])
    assert fresh(request).reason == "not_offered"
