"""Changes of the embedded shop: what is allowed, done once, and told truthfully."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone, translation

from tools import gateway
from tools.actions import performing, requests
from tools.actions.models import ActionRequest
from tools.actions.policy import change_policy
from tools.actions.requests import RequestRefused
from tools.actions.states import MOVES, OPEN, RequestState
from tools.backends.changes import ChangeResult, Preview
from tools.backends.store.changing import StoreChanges, execute, preview
from tools.backends.store.ledger import paid_less_refunded
from tools.backends.store.models import Order, Payment, PaymentMethod, StoreEffect
from tools.backends.store.seeding.shop import seed_the_named
from tools.contracts import (
    ActionKind,
    Actor,
    Effect,
    Json,
    ObservationStatus,
    Role,
    ToolCall,
)
from tools.errors import BadResult, ToolTimeout, ToolUnavailable

pytestmark = pytest.mark.django_db(transaction=True)

LIN = Actor(Role.CUSTOMER, "C-LIN", language="zh")
MEI = Actor(Role.CUSTOMER, "C-MEI")
CANCEL = ActionKind.CANCEL_ORDER
ARGUMENTS: Mapping[str, Json] = {"order_id": "O-205", "reason": "no longer needed"}


@pytest.fixture(autouse=True)
def shop() -> None:
    seed_the_named(now=timezone.now())


def requested(
    kind: ActionKind = CANCEL, arguments: Mapping[str, Json] = ARGUMENTS
) -> ActionRequest:
    return gateway.request(
        kind,
        preview("C-LIN", kind, arguments),
        actor=LIN,
        conversation_id=uuid4(),
        run_id=uuid4(),
        now=timezone.now(),
    )


def confirmed(request: ActionRequest | None = None) -> ActionRequest:
    one = request or requested()
    return requests.confirm(
        one,
        customer_id="C-LIN",
        arguments_hash=one.arguments_hash,
        preview=preview("C-LIN", ActionKind(one.kind), one.arguments),
        now=timezone.now(),
    )


def perform(
    request: ActionRequest, *, shop: Any = None, now: datetime | None = None
) -> ActionRequest:
    return asyncio.run(
        performing.perform(
            request.pk, shop=shop or StoreChanges(), now=now or timezone.now()
        )
    )


def executed(kind: ActionKind, arguments: Mapping[str, Json], key: str) -> ChangeResult:
    """Made as it would be shown now."""
    agreed = preview("C-LIN", kind, arguments).terms
    return execute("C-LIN", kind, arguments, key, agreed)


# ---- what may be asked for


def test_inside_the_loop_a_change_is_only_previewed() -> None:
    call = ToolCall("c", CANCEL.value, ARGUMENTS)
    seen = asyncio.run(gateway.observe(call, actor=LIN, observation_id="o"))
    assert seen.status is ObservationStatus.OK
    assert seen.fields["eligible"] is True
    assert seen.fields["direction"] == "refund"
    assert Order.objects.get(number="O-205").status == "paid"
    assert not ActionRequest.objects.exists()


def test_someone_elses_order_is_no_order() -> None:
    call = ToolCall("c", CANCEL.value, ARGUMENTS)
    seen = asyncio.run(gateway.observe(call, actor=MEI, observation_id="o"))
    assert (seen.status, seen.fields) == (ObservationStatus.NOT_FOUND, {})


@pytest.mark.parametrize(
    ("kind", "arguments", "reason"),
    [
        (CANCEL, {"order_id": "O-204"}, "already_shipped"),
        (CANCEL, {"order_id": "O-205", "reason": "boring"}, "reason_not_accepted"),
        (ActionKind.CHANGE_ADDRESS, {"order_id": "O-204"}, "already_shipped"),
        (ActionKind.RETURN_ITEMS, {"order_id": "O-204"}, "not_delivered"),
        (ActionKind.REQUEST_REFUND, {"order_id": "O-205"}, "cancel_instead"),
        (
            ActionKind.REQUEST_REFUND,
            {"order_id": "O-204", "amount": "99999.00"},
            "more_than_was_paid",
        ),
        (
            ActionKind.REQUEST_REFUND,
            {"order_id": "O-204", "amount": "5", "currency": "USD"},
            "other_currency",
        ),
        (
            ActionKind.REQUEST_REFUND,
            {"order_id": "O-204", "amount": "1e9"},
            "amount_not_readable",
        ),
        (
            ActionKind.CHANGE_PAYMENT,
            {"order_id": "O-205", "payment_method": "someone-elses"},
            "no_such_payment_method",
        ),
    ],
)
def test_the_shop_says_why_not(
    kind: ActionKind, arguments: Mapping[str, Json], reason: str
) -> None:
    found = preview("C-LIN", kind, arguments)
    assert (found.eligible, found.reason) == (False, reason)
    with pytest.raises(RequestRefused, match=reason):
        requested(kind, arguments)
    result = executed(kind, arguments, "key")
    assert (result.succeeded, result.reason) == (False, reason)


def test_a_request_freezes_what_was_shown_and_changes_nothing() -> None:
    request = requested()
    assert request.state == RequestState.PROPOSED
    assert request.amount == Order.objects.get(number="O-205").total
    assert request.arguments == ARGUMENTS
    assert Order.objects.get(number="O-205").status == "paid"


def test_the_same_thing_asked_twice_is_one_request() -> None:
    assert requested() == requested()
    assert ActionRequest.objects.count() == 1


def test_more_open_requests_than_three_are_refused() -> None:
    for number in range(3):
        ActionRequest.objects.create(
            kind=CANCEL,
            customer_id="C-LIN",
            subject=f"O{number}",
            arguments_hash="x",
            policy=requested().policy if number == 0 else requested_policy(),
            proposed_by="x",
            created_at=timezone.now(),
            expires_at=timezone.now() + timedelta(hours=1),
        )
    ActionRequest.objects.filter(subject="O205").delete()
    with pytest.raises(RequestRefused, match="too_many_open"):
        requested()


def requested_policy() -> Any:
    from tools.actions.policy import current_policy

    return current_policy(CANCEL)


# ---- who must agree


def test_a_customers_confirmation_is_enough_below_the_limit() -> None:
    change_policy(CANCEL, by=staff("o"), now=timezone.now(), supervisor_above=10**9)
    assert confirmed().state == RequestState.APPROVED


def staff(name: str) -> User:
    return User.objects.create_user(name, is_staff=True)


def above_the_limit() -> ActionRequest:
    change_policy(CANCEL, by=staff("o"), now=timezone.now(), supervisor_above=1)
    return confirmed()


def decide(request: ActionRequest, by: User, **more: Any) -> ActionRequest:
    known: dict[str, Any] = {
        "role": Role.SUPERVISOR,
        "approve": True,
        "arguments_hash": request.arguments_hash,
        "reason": "checked",
        **more,
    }
    with transaction.atomic():
        return requests.decide(request, approver=by, now=timezone.now(), **known)


def test_above_the_limit_a_supervisor_must_agree() -> None:
    request = above_the_limit()
    assert request.state == RequestState.CONFIRMED
    assert perform(request).state == RequestState.CONFIRMED
    with pytest.raises(RequestRefused, match="supervisor_needed"):
        decide(request, staff("ada"), role=Role.AGENT)
    with pytest.raises(RequestRefused, match="reason_required"):
        decide(request, staff("x"), reason=" ")
    with pytest.raises(RequestRefused, match="changed_since_shown"):
        decide(request, staff("y"), arguments_hash="0" * 64)
    assert decide(request, staff("sam")).state == RequestState.APPROVED


def test_two_people_means_two_different_people() -> None:
    change_policy(CANCEL, by=staff("o"), now=timezone.now(), two_people_above=1)
    request, sam = confirmed(), staff("sam")
    assert decide(request, sam).state == RequestState.CONFIRMED
    with pytest.raises(RequestRefused, match="already_decided"):
        decide(request, sam)
    assert decide(request, staff("sun")).state == RequestState.APPROVED


def test_nobody_approves_what_they_asked_for() -> None:
    request, sam = above_the_limit(), staff("sam")
    ActionRequest.objects.update(proposed_by=f"staff:{sam.pk}")
    request.refresh_from_db()
    with pytest.raises(RequestRefused, match="own_request"):
        decide(request, sam)


def test_of_approve_and_decline_the_first_counts() -> None:
    request = above_the_limit()
    assert decide(request, staff("a"), approve=False).state == RequestState.DECLINED
    assert decide(request, staff("b")).state == RequestState.DECLINED
    assert perform(request).state == RequestState.DECLINED
    assert not StoreEffect.objects.exists()


def test_a_customer_may_take_it_back_until_it_is_sent() -> None:
    request = above_the_limit()
    taken = requests.withdraw(request, customer_id="C-LIN", now=timezone.now())
    assert taken.state == RequestState.WITHDRAWN
    with pytest.raises(RequestRefused, match="not_found"):
        requests.withdraw(requested(), customer_id="C-MEI", now=timezone.now())


def test_what_is_too_old_is_not_confirmed() -> None:
    request = requested()
    late = timezone.now() + timedelta(hours=25)
    done = requests.confirm(
        request,
        customer_id="C-LIN",
        arguments_hash=request.arguments_hash,
        preview=preview("C-LIN", CANCEL, ARGUMENTS),
        now=late,
    )
    assert done.state == RequestState.EXPIRED


def test_no_move_leads_out_of_an_end_and_open_ones_have_a_way_out() -> None:
    assert set(MOVES) == set(RequestState)
    for state, moves in MOVES.items():
        assert bool(moves) is (state in OPEN)


def test_the_database_itself_refuses_execution_without_approval() -> None:
    request = requested()
    with pytest.raises(IntegrityError), transaction.atomic():
        ActionRequest.objects.filter(pk=request.pk).update(state="executing")


# ---- once, and honest


@pytest.fixture
def approved() -> ActionRequest:
    change_policy(CANCEL, by=staff("o"), now=timezone.now(), supervisor_above=10**9)
    return confirmed()


def test_it_is_done_once_with_its_money(approved: ActionRequest) -> None:
    assert perform(approved).state == RequestState.SUCCEEDED
    assert perform(approved).state == RequestState.SUCCEEDED
    order = Order.objects.get(number="O-205")
    assert order.status == "cancelled"
    assert paid_less_refunded(order) == 0
    assert StoreEffect.objects.count() == 1
    assert Payment.objects.filter(order=order, direction="refund").count() == 1


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        ({"arguments": {"order_id": "O-204"}}, "arguments_changed"),
        ({"expires_at": timezone.now() - timedelta(days=1)}, "expired"),
        ({"approvals_needed": 1}, "approval_no_longer_valid"),
    ],
)
def test_an_approval_of_something_else_counts_for_nothing(
    approved: ActionRequest, spoil: dict[str, Any], reason: str
) -> None:
    ActionRequest.objects.update(**spoil)
    done = perform(approved)
    assert (done.state, done.reason) == (RequestState.REFUSED, reason)
    assert not StoreEffect.objects.exists()


def test_an_order_that_changed_meanwhile_is_refused(approved: ActionRequest) -> None:
    Order.objects.filter(number="O-205").update(status="shipped")
    done = perform(approved)
    assert (done.state, done.reason) == (RequestState.REFUSED, "already_shipped")
    assert not StoreEffect.objects.exists()


class Shop(StoreChanges):
    """The real shop behind a bad line: each attempt meets the next fault."""

    def __init__(self, *faults: str) -> None:
        self.faults = list(faults)
        self.asked = 0

    async def execute(self, *args: Any, **kwargs: Any) -> ChangeResult:
        self.asked += 1
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "before":
            raise ToolUnavailable("503")
        if fault == "final":
            raise BadResult("no JSON")
        result = await super().execute(*args, **kwargs)
        if fault == "after":
            raise ToolTimeout("the reply was lost")
        return result


def attempts(
    request: ActionRequest, shop: Shop, count: int = 10
) -> tuple[ActionRequest, list[float]]:
    """Try whenever it is due; the waits that were set between attempts."""
    now, waits = timezone.now(), []
    for _ in range(count):
        request = perform(request, shop=shop, now=now)
        if request.state != RequestState.RETRY_WAIT:
            break
        assert request.next_attempt_at is not None
        waits.append((request.next_attempt_at - now).total_seconds())
        assert perform(request, shop=shop, now=now).state == RequestState.RETRY_WAIT
        now = request.next_attempt_at
    return request, waits


def test_a_lost_reply_is_looked_up_and_never_done_again(
    approved: ActionRequest,
) -> None:
    shop = Shop("after", "after", "after")
    done, waits = attempts(approved, shop)
    assert done.state == RequestState.SUCCEEDED
    assert done.outcome["repeated"] is True
    assert (shop.asked, waits) == (1, [1.0])
    assert StoreEffect.objects.count() == 1


def test_a_shop_that_is_away_is_asked_six_times_and_then_left_to_a_person(
    approved: ActionRequest,
) -> None:
    shop = Shop(*["before"] * 10)
    done, waits = attempts(approved, shop)
    assert done.state == RequestState.UNKNOWN
    assert (shop.asked, waits) == (6, [1.0, 2.0, 4.0, 8.0, 16.0])
    assert not StoreEffect.objects.exists()


def test_an_unknown_outcome_is_settled_by_asking_not_by_doing(
    approved: ActionRequest,
) -> None:
    done, _ = attempts(approved, Shop("final"))
    assert done.state == RequestState.UNKNOWN
    again = performing.reconcile(approved.pk, shop=Shop(), now=timezone.now())
    assert asyncio.run(again).state == RequestState.UNKNOWN
    executed(CANCEL, ARGUMENTS, str(approved.pk))
    settled = performing.reconcile(approved.pk, shop=Shop(), now=timezone.now())
    assert asyncio.run(settled).state == RequestState.SUCCEEDED


class Dies(BaseException):
    """The process is gone in the middle."""


class DyingShop(StoreChanges):
    def __init__(self, *, after: bool) -> None:
        self.after = after

    async def execute(self, *args: Any, **kwargs: Any) -> ChangeResult:
        if self.after:
            await super().execute(*args, **kwargs)
        raise Dies


@pytest.mark.parametrize("after", [False, True])
def test_a_process_that_dies_in_the_middle_leaves_one_effect(
    approved: ActionRequest, after: bool
) -> None:
    with pytest.raises(Dies):
        perform(approved, shop=DyingShop(after=after))
    assert perform(approved).state == RequestState.EXECUTING
    later = timezone.now() + performing.LEASE * 2
    done = perform(approved, now=later)
    assert done.state == RequestState.SUCCEEDED
    assert (done.crashes, StoreEffect.objects.count()) == (1, 1)


def test_a_request_that_kills_each_process_is_left_to_a_person(
    approved: ActionRequest,
) -> None:
    now = timezone.now()
    for _ in range(performing.MAX_CRASHES):
        with pytest.raises(Dies):
            perform(approved, shop=DyingShop(after=False), now=now)
        now += performing.LEASE * 2
    assert perform(approved, now=now).state == RequestState.UNKNOWN


def test_the_late_word_of_a_dead_process_counts_for_nothing(
    approved: ActionRequest,
) -> None:
    turn = performing._claim(approved.pk, now=timezone.now())
    assert isinstance(turn, performing.Turn)
    later = timezone.now() + performing.LEASE * 2
    assert perform(approved, now=later).state == RequestState.SUCCEEDED
    performing._record(turn.request, ChangeResult(False, "late"), now=later)
    approved.refresh_from_db()
    assert approved.state == RequestState.SUCCEEDED


def test_the_same_key_is_one_change_also_when_it_comes_at_once() -> None:
    first = executed(CANCEL, ARGUMENTS, "one")
    again = executed(CANCEL, ARGUMENTS, "one")
    assert first.succeeded
    assert (again.succeeded, again.repeated) == (True, True)
    assert StoreEffect.objects.count() == 1


def a_line_was_added(order: Order) -> None:
    line = order.lines.first()
    assert line is not None
    line.pk, line.title = None, "Gift wrap"
    line.save(force_insert=True)


def a_part_was_refunded(order: Order) -> None:
    paid = order.payments.filter(direction="payment").get()
    paid.pk, paid.direction, paid.amount = None, "refund", 100
    paid.save(force_insert=True)


def it_goes_elsewhere_now(order: Order) -> None:
    order.city = "Nanjing"
    order.save()


ADDRESS: Mapping[str, Json] = {
    "order_id": "O-205",
    "address1": "1 Quay Road",
    "city": "Ningbo",
    "zip": "315000",
    "country": "China",
}


@pytest.mark.parametrize(
    ("kind", "arguments", "meanwhile", "reason"),
    [
        (CANCEL, ARGUMENTS, a_line_was_added, "stale_approval"),
        (CANCEL, ARGUMENTS, a_part_was_refunded, "stale_approval"),
        (ActionKind.CHANGE_ADDRESS, ADDRESS, it_goes_elsewhere_now, "stale_approval"),
        (
            ActionKind.REQUEST_REFUND,
            {"order_id": "O-204"},
            a_part_was_refunded,
            "more_than_was_paid",
        ),
    ],
)
def test_what_would_by_now_do_something_else_is_not_done(
    kind: ActionKind,
    arguments: Mapping[str, Json],
    meanwhile: Callable[[Order], None],
    reason: str,
) -> None:
    request = requested(kind, arguments)
    frozen = ActionRequest.objects.filter(pk=request.pk)
    frozen.update(
        state=RequestState.APPROVED,
        approvals_needed=0,
        confirmed_at=timezone.now(),
        approved_at=timezone.now(),
    )
    order = Order.objects.get(number=arguments["order_id"])
    meanwhile(order)
    before = (Order.objects.values().get(pk=order.pk), order.payments.count())
    done = perform(request)
    assert (done.state, done.reason) == (RequestState.REFUSED, reason)
    assert before == (Order.objects.values().get(pk=order.pk), order.payments.count())
    assert not StoreEffect.objects.exists()


def test_what_is_agreed_to_is_the_same_in_every_language() -> None:
    """A card is worked out by the page's process, the change by another."""
    for kind in ActionKind:
        for number in ("O-204", "O-205"):
            told = []
            for language in ("en", "zh-hans"):
                with translation.override(language):
                    told.append(preview("C-LIN", kind, {"order_id": number}).terms)
            assert told[0] == told[1]


def test_a_preview_never_writes() -> None:
    for kind in ActionKind:
        found = preview("C-LIN", kind, {"order_id": "O-205"})
        assert isinstance(found, Preview)
    assert not StoreEffect.objects.exists()
    assert all(
        tool.effect is Effect.READ or tool.approver != "nobody"
        for tool in gateway.visible_tools(LIN)
    )


def test_who_has_one_way_to_pay_has_none_to_change_to() -> None:
    order: Mapping[str, Json] = {"order_id": "O-205"}
    assert preview("C-LIN", ActionKind.CHANGE_PAYMENT, order).eligible
    PaymentMethod.objects.filter(id="alipay_C-LIN").delete()
    found = preview("C-LIN", ActionKind.CHANGE_PAYMENT, order)
    assert (found.eligible, found.reason) == (False, "no_other_payment_method")


@pytest.mark.parametrize("kind", list(ActionKind))
@pytest.mark.parametrize("number", ["O-187", "O-204", "O-205"])
def test_whatever_a_card_offers_can_be_chosen(kind: ActionKind, number: str) -> None:
    """A choice that is refused once it is made should not have been shown."""
    order: Mapping[str, Json] = {"order_id": number}
    found = preview("C-LIN", kind, order)
    for name in ("payment_method", "reason"):
        for choice in found.choices.get(name, ()):
            chosen = preview("C-LIN", kind, {**order, name: choice.value})
            assert chosen.eligible, (name, choice, chosen.reason)
