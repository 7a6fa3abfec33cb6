"""The approval desk: who sees what, who decides, and what pressing a button does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from chatbot.chat.models import Conversation
from chatbot.chat.roles import make_groups
from chatbot.workflow.models import Alert, AuditEntry, Delivery, Event
from tests.cast import Person, person
from tests.workflow.conftest import confirm, effects, fresh, propose, sweep
from tools.models import ActionPolicy, ActionRequest

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/workflow/changerequest/"
Visit = Callable[[str], Client]


@pytest.fixture
def visit(transactional_db: None) -> Visit:
    make_groups()

    def as_person(name: str) -> Client:
        client = Client()
        client.force_login(person(name).user)
        return client

    return as_person


@pytest.fixture
def waiting(visit: Visit, conversation: Conversation, lin: Person) -> ActionRequest:
    request = propose(conversation, lin, "request_refund", {"order_id": "O-204"})
    return confirm(request, lin)


def press(client: Client, request: ActionRequest, button: str, **more: str) -> str:
    """The page that a supervisor sees after pressing a button."""
    data = {"do": button, "reason": "checked", "hash": request.arguments_hash, **more}
    reply = client.post(f"{LIST}{request.pk}/change/", data, follow=True)
    assert reply.status_code == 200
    return reply.content.decode()


def test_the_list_shows_what_waits_for_a_decision(
    visit: Visit, waiting: ActionRequest, conversation: Conversation, lin: Person
) -> None:
    propose(conversation, lin)
    page = visit("sam").get(LIST).content.decode()
    assert "O-204" in page
    assert "O-205" not in page
    assert "O-205" in visit("sam").get(LIST + "?state=all").content.decode()


def test_a_chinese_page_names_change_state_and_amount_in_chinese(
    visit: Visit, waiting: ActionRequest
) -> None:
    reply = visit("sam").get(
        f"{LIST}{waiting.pk}/change/", headers={"accept-language": "zh-CN"}
    )
    page = reply.content.decode()
    assert "退款 · O-204" in page
    assert ">待审批<" in page
    assert "¥199.00" in page


def test_the_page_shows_the_exact_arguments_and_their_hash(
    visit: Visit, waiting: ActionRequest
) -> None:
    page = visit("sam").get(f"{LIST}{waiting.pk}/change/").content.decode()
    assert "&quot;amount&quot;: &quot;199.00&quot;" in page
    assert waiting.arguments_hash in page
    assert "request_refund v1" in page


def test_sam_approves_and_it_is_done_once(visit: Visit, waiting: ActionRequest) -> None:
    sam = visit("sam")
    press(sam, waiting, "approve")
    press(sam, waiting, "approve")
    sweep()
    assert effects() == ["request_refund"]


def test_ada_declines_and_nothing_is_done(visit: Visit, waiting: ActionRequest) -> None:
    press(visit("ada"), waiting, "decline")
    sweep()
    assert (fresh(waiting).state, effects()) == ("declined", [])


def test_a_button_without_a_reason_or_of_another_page_decides_nothing(
    visit: Visit, waiting: ActionRequest
) -> None:
    sam = visit("sam")
    press(sam, waiting, "approve", reason=" ")
    press(sam, waiting, "approve", hash="0" * 64)
    press(sam, waiting, "requeue")
    press(sam, waiting, "nonsense")
    assert fresh(waiting).state == "confirmed"


@pytest.mark.parametrize("name", ["olga", "lin", "mei"])
def test_nobody_else_sees_or_decides(
    visit: Visit, waiting: ActionRequest, name: str
) -> None:
    client = visit(name)
    for url in (LIST, f"{LIST}{waiting.pk}/change/"):
        assert client.get(url).status_code in (302, 403, 404)
    client.post(f"{LIST}{waiting.pk}/change/", {"do": "approve", "reason": "x"})
    assert fresh(waiting).state == "confirmed"


def test_a_form_from_another_site_is_refused(
    visit: Visit, waiting: ActionRequest
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("sam").user)
    data = {"do": "approve", "reason": "x", "hash": waiting.arguments_hash}
    assert client.post(f"{LIST}{waiting.pk}/change/", data).status_code == 403
    assert fresh(waiting).state == "confirmed"


def test_a_page_that_is_opened_changes_nothing(
    visit: Visit, waiting: ActionRequest
) -> None:
    url = (
        f"{LIST}{waiting.pk}/change/?do=approve&reason=x&hash={waiting.arguments_hash}"
    )
    visit("sam").get(url)
    assert fresh(waiting).state == "confirmed"


# ---- dead letters, alerts, the audit


@pytest.fixture
def dead(visit: Visit) -> Delivery:
    event = Event.objects.create(
        name="action.finished", key="x", ids={}, created_at=timezone.now()
    )
    return Delivery.objects.create(
        event=event, handler="nobody", state="dead", due_at=timezone.now()
    )


def test_a_supervisor_requeues_or_resolves_a_dead_letter_with_a_reason(
    visit: Visit, dead: Delivery
) -> None:
    sam, url = visit("sam"), f"/admin/workflow/delivery/{dead.pk}/change/"
    sam.post(url, {"do": "resolve", "reason": ""})
    assert Delivery.objects.get().state == "dead"
    sam.post(url, {"do": "resolve", "reason": "by hand"})
    assert Delivery.objects.get().state == "resolved"
    assert AuditEntry.objects.get(kind="delivery.resolved").actor == "sam"
    Delivery.objects.update(state="dead")
    sam.post(url, {"do": "requeue", "reason": "mended"})
    assert Delivery.objects.get().state == "waiting"


def test_an_agent_does_not_see_dead_letters(visit: Visit, dead: Delivery) -> None:
    url = f"/admin/workflow/delivery/{dead.pk}/change/"
    assert visit("ada").get(url).status_code == 403
    visit("ada").post(url, {"do": "resolve", "reason": "x"})
    assert Delivery.objects.get().state == "dead"


def test_alerts_and_the_audit_are_there_to_read_and_for_nothing_else(
    visit: Visit, waiting: ActionRequest
) -> None:
    Alert.objects.create(kind="x", key="x", text="look here", created_at=timezone.now())
    sam = visit("sam")
    assert "look here" in sam.get("/admin/workflow/alert/").content.decode()
    assert "action.confirmed" in sam.get("/admin/workflow/auditentry/").content.decode()
    entry = AuditEntry.objects.order_by("pk")[0]
    for path in ("add/", f"{entry.pk}/delete/"):
        reply = sam.post(f"/admin/workflow/auditentry/{path}", {"post": "yes"})
        assert reply.status_code == 403
    assert AuditEntry.objects.filter(pk=entry.pk).exists()


# ---- the rules


def test_an_operator_changes_the_rules_as_a_new_version(visit: Visit) -> None:
    olga = visit("olga")
    assert olga.get("/admin/workflow/changepolicy/").status_code == 200
    first = ActionPolicy.objects.get(kind="cancel_order")
    form = {
        "enabled": "on",
        "approver": "staff",
        "max_per_customer_per_day": "2",
        "valid_hours": "12",
    }
    url = f"/admin/workflow/changepolicy/{first.pk}/change/"
    assert olga.post(url, form).status_code == 302
    newest = ActionPolicy.objects.filter(kind="cancel_order").order_by("version").last()
    assert newest is not None
    assert (newest.version, newest.approver, newest.valid_hours) == (2, "staff", 12)
    first.refresh_from_db()
    assert (first.version, first.approver) == (1, "customer")
    # Only the newest can be edited: history stays as it was.
    olga.post(url, {**form, "valid_hours": "1"})
    assert ActionPolicy.objects.filter(kind="cancel_order").count() == 2


def test_nobody_else_changes_the_rules(visit: Visit) -> None:
    visit("olga").get("/admin/workflow/changepolicy/")
    first = ActionPolicy.objects.get(kind="cancel_order")
    for name in ("sam", "ada", "lin"):
        client = visit(name)
        client.post(f"/admin/workflow/changepolicy/{first.pk}/change/", {})
        client.post(f"/admin/workflow/changepolicy/{first.pk}/delete/", {"post": "yes"})
    assert ActionPolicy.objects.filter(kind="cancel_order").count() == 1
