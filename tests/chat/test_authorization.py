"""Who may do what: every cell of the matrix is one try, allowed or refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from django.conf import settings
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from chatbot.assistant.wiring import build_run
from chatbot.chat import services, takeover
from chatbot.chat.guards import Observer
from chatbot.chat.models import Conversation, HandOver, Run, RunPhase
from chatbot.chat.problems import Problem
from chatbot.chat.rebuild import rebuild_run
from chatbot.chat.roles import GROUPS, PERMISSIONS, make_groups
from chatbot.react.types import Background
from chatbot.workflow import rules, switches
from chatbot.workflow import services as workflow
from chatbot.workflow.audit import record_audit
from chatbot.workflow.models import (
    Alert,
    AuditEntry,
    Delivery,
    Event,
    SwitchName,
)
from tests.cast import Person, person
from tests.chat.visits import Visit
from tests.workflow.conftest import confirm, propose
from tools.actions.states import RequestState
from tools.authorization import MATRIX, Action, Grant, Party, may, roles_that
from tools.backends.store.seeding.shop import seed_the_named
from tools.contracts import Actor, Json, ObservationStatus, Role, ToolCall
from tools.help_seed import seed_help
from tools.models import ActionPolicy, ActionRequest

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "what was said in confidence"
STAFF = {Party.AGENT: "ada", Party.SUPERVISOR: "sam", Party.OPERATOR: "olga"}


@dataclass
class World:
    """What there is to do something with, and whoever tries to."""

    party: Party
    lin: Person
    conversation: Conversation
    run: Run
    visit: Visit

    @property
    def client(self) -> Client:
        """A browser as this party has it; a run has none, and no session."""
        if self.party is Party.GUEST:
            return self.visit.client
        client = Client()
        if self.party is not Party.RUN:
            name = STAFF.get(self.party, "lin")
            client.force_login(person(name).user)
        return client

    @property
    def actor(self) -> Actor:
        if self.party is Party.GUEST:
            return Actor(Role.GUEST, verified_orders=frozenset({"O204"}))
        name = STAFF.get(self.party, "lin")
        return person(name).actor

    def observe(self, tool: str, **arguments: Json) -> bool:
        """Whether a call of this party's comes through the door."""
        parts = build_run(actor=self.actor, background=Background())
        call = ToolCall("c1", tool, arguments)
        shown = tool in {spec.name for spec in parts.tools}
        seen = asyncio.run(self._observe(parts.observe, call))
        assert shown or not seen, "a tool that is not shown came through"
        return shown and seen

    async def _observe(self, observe: Observer, call: ToolCall) -> bool:
        return (await observe(call, "obs-1")).status is ObservationStatus.OK

    def page(self, path: str) -> str:
        reply = self.client.get(path)
        return reply.content.decode() if reply.status_code == 200 else ""

    def press(self, path: str, **form: str) -> None:
        self.client.post(path, form)

    def waiting(self) -> ActionRequest:
        request = propose(
            self.conversation, self.lin, "request_refund", {"order_id": "O-204"}
        )
        return confirm(request, self.lin)

    def decides(self) -> bool:
        request = self.waiting()
        self.press(
            f"/admin/workflow/changerequest/{request.pk}/change/",
            do="approve",
            reason="checked",
            hash=request.arguments_hash,
        )
        return bool(request.approvals.filter(approved=True).exists())

    @property
    def own(self) -> Conversation:
        """The conversation that this party may be in."""
        if self.party is Party.GUEST:
            return self.visit.conversation
        return self.conversation

    @property
    def log(self) -> str:
        return f"/admin/chat/conversation/{self.conversation.pk}/change/"


# ---- one try for each action


def ask_rules(world: World) -> bool:
    seed_help()
    return world.observe("search_help", query="return")


def read_order(world: World) -> bool:
    return world.observe("get_order", order_id="O-204")


def list_orders(world: World) -> bool:
    return world.observe("list_my_orders")


def read_refund(world: World) -> bool:
    return world.observe("get_refund", order_id="O-204")


def read_conversation(world: World) -> bool:
    if world.party in STAFF:
        return SECRET in world.page(world.log)
    if world.party is Party.RUN:
        said = services.accept_message(
            world.conversation.pk,
            account_id=world.lin.account.pk,
            client_id="next",
            text="And now?",
            now=timezone.now(),
        )
        assert said.run_id is not None
        basis = rebuild_run(said.run_id)
        turns = basis.state.background.turns if basis else ()
        return any(SECRET in turn.text for turn in turns)
    return bool(world.page(f"/chat/{world.own.pk}/transcript/"))


def read_trace(world: World) -> bool:
    return bool(world.page(f"/admin/chat/run/{world.run.pk}/change/"))


def read_any_trace(world: World) -> bool:
    HandOver.objects.all().delete()
    page = f"/admin/chat/run/{world.run.pk}/change/"
    client = world.client
    if client.get(page).status_code != 200:
        return False
    client.post(page, {"reason": "a complaint"})
    return client.get(page).status_code == 200


def propose_change(world: World) -> bool:
    return world.observe("cancel_order", order_id="O-205")


def confirm_change(world: World) -> bool:
    if world.party is Party.RUN:
        parts = build_run(actor=world.actor, background=Background())
        return any("confirm" in spec.name for spec in parts.tools)
    request = propose(world.conversation, world.lin)
    try:
        found = workflow.request_of(request.pk, conversation_id=world.own.pk)
        confirm(found, world_person(world))
    except (workflow.NotPossible, Problem):
        return False
    return ActionRequest.objects.get(pk=request.pk).state != RequestState.PROPOSED


def world_person(world: World) -> Person:
    return Person(world.lin.user, world.lin.account, world.actor)


def approve_change(world: World) -> bool:
    return world.decides()


def approve_large_change(world: World) -> bool:
    rules.current_policies()
    ActionPolicy.objects.filter(kind="request_refund").update(supervisor_above=100)
    return world.decides()


def take_over(world: World) -> bool:
    world.press(world.log, do="take")
    world.conversation.refresh_from_db()
    return world.conversation.taken_by is not None


def send_as_staff(world: World) -> bool:
    holder = person(STAFF.get(world.party, "ada")).user
    takeover.take_over(world.conversation.pk, by=holder, now=timezone.now())
    world.press(world.log, do="say", text="I am a person.")
    return world.conversation.messages.filter(text="I am a person.").exists()


def end_any_takeover(world: World) -> bool:
    other = person("sam" if world.party is Party.AGENT else "ada").user
    takeover.take_over(world.conversation.pk, by=other, now=timezone.now())
    world.press(world.log, do="release")
    world.conversation.refresh_from_db()
    return world.conversation.taken_by is None


def close_dead_letter(world: World) -> bool:
    event = Event.objects.create(
        name="action.finished", key="x", ids={}, created_at=timezone.now()
    )
    dead = Delivery.objects.create(
        event=event, handler="nobody", state="dead", due_at=timezone.now()
    )
    path = f"/admin/workflow/delivery/{dead.pk}/change/"
    world.press(path, do="resolve", reason="by hand")
    dead.refresh_from_db()
    return str(dead.state) == "resolved"


def read_audit(world: World) -> bool:
    note("order.proved")
    return "order.proved" in world.page("/admin/workflow/auditentry/")


def read_alerts(world: World) -> bool:
    Alert.objects.create(kind="x", key="x", text="look here", created_at=timezone.now())
    return "look here" in world.page("/admin/workflow/alert/")


def throw_switch(world: World) -> bool:
    switches.all_switches()
    world.press("/admin/workflow/switch/model/change/", is_off="on", reason="drill")
    return switches.is_off(SwitchName.MODEL)


def set_limits(world: World) -> bool:
    rules.current_policies()
    first = ActionPolicy.objects.get(kind="cancel_order")
    world.press(
        f"/admin/workflow/changepolicy/{first.pk}/change/",
        enabled="on",
        approver="staff",
        max_per_customer_per_day="2",
        valid_hours="12",
    )
    return ActionPolicy.objects.filter(kind="cancel_order").count() == 2


def change_audit(world: World) -> bool:
    entry = note("order.proved")
    page = f"/admin/workflow/auditentry/{entry.pk}"
    world.press(f"{page}/delete/", post="yes")
    world.press(f"{page}/change/", kind="nothing")
    kept = AuditEntry.objects.filter(pk=entry.pk, kind="order.proved").exists()
    # Nor does whoever has the application's own connection.
    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEntry.objects.filter(pk=entry.pk).update(kind="nothing")
    return not kept


def note(kind: str) -> AuditEntry:
    with transaction.atomic():
        return record_audit(kind, chain="x", actor="x", ids={}, now=timezone.now())


TRIES: Mapping[Action, Callable[[World], bool]] = {
    action: globals()[action.value] for action in Action
}


# ---- every cell


@pytest.fixture
def world(lin: Person, request: pytest.FixtureRequest) -> World:
    now = timezone.now()
    seed_the_named(now=now)
    make_groups()
    conversation = services.start_conversation(account=lin.account, now=now)
    accepted = services.accept_message(
        conversation.pk,
        account_id=lin.account.pk,
        client_id="first",
        text=SECRET,
        now=now,
    )
    assert accepted.run_id is not None
    run = conversation.runs.get(pk=accepted.run_id)
    Run.objects.filter(pk=run.pk).update(
        phase=RunPhase.STOPPED, stop_reason="answered", stopped_at=now
    )
    HandOver.objects.create(
        run=run, conversation=conversation, reason="a person", created_at=now
    )
    return World(request.param, lin, conversation, run, Visit())


CELLS = [
    pytest.param(party, action, id=f"{action}-{party}")
    for action in Action
    for party in Party
]


@pytest.mark.parametrize(("world", "action"), CELLS, indirect=["world"])
def test_a_cell_of_the_matrix_is_so(world: World, action: Action) -> None:
    assert TRIES[action](world) is may(world.party, action)


# ---- what a cell cannot say


@pytest.mark.parametrize(
    "tool", ["get_order", "track_shipment", "list_my_orders", "get_refund"]
)
@pytest.mark.parametrize("party", [Party.GUEST, Party.CUSTOMER], indirect=False)
def test_own_means_own(party: Party, tool: str, lin: Person) -> None:
    seed_the_named(now=timezone.now())
    actor = lin.actor
    if party is Party.GUEST:
        actor = Actor(Role.GUEST, verified_orders=frozenset({"O204"}))
    parts = build_run(actor=actor, background=Background())
    others = {"get_order": "O-305", "get_refund": "O-305", "track_shipment": "N-99"}
    names = {"track_shipment": "tracking_id"}
    arguments: dict[str, Json] = {}
    if tool in others:
        arguments = {names.get(tool, "order_id"): others[tool]}

    async def seen() -> object:
        return (await parts.observe(ToolCall("c1", tool, arguments), "obs-1")).fields

    assert "O-305" not in str(asyncio.run(seen()))


def test_every_cell_of_a_staff_role_is_carried_by_permissions() -> None:
    for action, names in PERMISSIONS.items():
        for role in (Role.AGENT, Role.SUPERVISOR, Role.OPERATOR):
            carried = set(names) <= set(GROUPS[role])
            assert carried is (role in roles_that(action)), (action, role)


def test_the_matrix_is_whole() -> None:
    assert set(MATRIX) == set(Action)
    for action, row in MATRIX.items():
        assert set(row) == set(Party), action
        assert all(isinstance(grant, Grant) for grant in row.values())


def test_the_page_about_it_says_the_same() -> None:
    page = (settings.BASE_DIR / "docs" / "authorization.md").read_text("utf-8")
    for action, row in MATRIX.items():
        cells = " | ".join(row[party] for party in Party)
        assert f"| `{action}` | {cells} |" in page
