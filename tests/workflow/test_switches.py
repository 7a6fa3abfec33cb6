"""Changes off: nothing is confirmed, approved or executed until they are on again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from chatbot.chat.models import Conversation
from chatbot.chat.roles import make_groups
from chatbot.workflow import switches
from chatbot.workflow.audit import broken_links
from chatbot.workflow.models import AuditEntry, SwitchName
from chatbot.workflow.services import NotPossible
from tests.cast import Person, person
from tests.workflow.conftest import confirm, effects, fresh, later, propose, sweep

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/workflow/switch/"


def turn(name: SwitchName, *, off: bool) -> None:
    user = person("sam").user
    switches.throw(name, off=off, by=user, reason="drill", now=timezone.now())


@pytest.fixture(autouse=True)
def _groups(transactional_db: None) -> None:
    make_groups()


def visit(name: str) -> Client:
    client = Client()
    client.force_login(person(name).user)
    return client


def test_nothing_is_confirmed_while_changes_are_off(
    conversation: Conversation, lin: Person
) -> None:
    request = propose(conversation, lin)
    turn(SwitchName.ACTIONS, off=True)
    with pytest.raises(NotPossible, match="actions_off"):
        confirm(request, lin)
    assert fresh(request).state == "proposed"
    turn(SwitchName.ACTIONS, off=False)
    confirm(request, lin)
    sweep()
    assert effects() == ["cancel_order"]


def test_what_was_confirmed_before_waits_and_is_then_done_once(
    conversation: Conversation, lin: Person
) -> None:
    request = confirm(propose(conversation, lin), lin)
    turn(SwitchName.ACTIONS, off=True)
    sweep()
    assert effects() == []
    assert fresh(request).state == "approved"
    turn(SwitchName.ACTIONS, off=False)
    for _ in range(2):
        later()
        sweep()
    assert effects() == ["cancel_order"]


@pytest.mark.parametrize(("who", "may"), [("sam", 1), ("olga", 1), ("ada", 0)])
@pytest.mark.parametrize("name", list(SwitchName))
def test_supervisors_and_operators_throw_them_and_nobody_else(
    who: str, may: int, name: SwitchName
) -> None:
    switches.all_switches()
    client = visit(who)
    form = {"is_off": "on", "reason": "a strange answer"}
    client.post(f"{LIST}{name}/change/", form)
    assert switches.is_off(name) == bool(may)
    noted = AuditEntry.objects.filter(kind="switch.off", chain="switches")
    expected = [(who, {"switch": name, "reason": "a strange answer"})] * may
    assert list(noted.values_list("actor", "ids")) == expected
    assert list(broken_links("switches")) == []


def test_a_switch_is_not_thrown_without_a_reason() -> None:
    switches.all_switches()
    visit("sam").post(f"{LIST}model/change/", {"is_off": "on", "reason": " "})
    assert not switches.is_off(SwitchName.MODEL)


def test_no_other_group_may_throw_one() -> None:
    may = Permission.objects.get(codename="change_switch").group_set
    assert set(may.values_list("name", flat=True)) == {"supervisor", "operator"}


def test_nothing_is_approved_while_changes_are_off(
    conversation: Conversation, lin: Person
) -> None:
    request = propose(conversation, lin, "request_refund", {"order_id": "O-204"})
    confirm(request, lin)
    turn(SwitchName.ACTIONS, off=True)
    page = f"/admin/workflow/changerequest/{request.pk}/change/"
    press = {"reason": "checked", "hash": request.arguments_hash}
    reply = visit("sam").post(page, {"do": "approve", **press}, follow=True)
    assert "Changes are turned off" in reply.content.decode()
    assert fresh(request).state == "confirmed"
    visit("sam").post(page, {"do": "decline", **press})
    assert fresh(request).state == "declined"


def test_the_list_says_which_is_off() -> None:
    turn(SwitchName.MODEL, off=True)
    page = visit("olga").get(LIST).content.decode()
    assert page.count("Turned off") == 1
    assert "drill" in page
