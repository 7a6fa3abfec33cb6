"""The public retail benchmark, replayed: does every change end in the expected state?

Each task's gold writes go the whole way: worked out by the shop's code, proposed,
confirmed on the card, approved by staff where the rules say so, executed and announced.
The faults are those that a real deployment meets: an event delivered twice, a worker
that dies before or after the shop has done it, a reply that is lost.

The benchmark is that of "tau2-bench: Evaluating Conversational Agents in a Dual-Control
Environment" (Barres et al., 2025).
"""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from chatbot.chat.models import Account, Conversation
from chatbot.evals.scratch import scratch_database
from chatbot.workflow import services
from tools.actions.faults import Died, Fault, FaultyShop
from tools.actions.performing import LEASE
from tools.actions.states import RequestState
from tools.contracts import ActionKind, Actor, Json, Role, ToolCall
from tools.database import in_database
from tools.models import ActionRequest

# The benchmark's writes under their names here.
KINDS: Mapping[str, ActionKind] = {
    "cancel_pending_order": ActionKind.CANCEL_ORDER,
    "modify_pending_order_address": ActionKind.CHANGE_ADDRESS,
    "modify_pending_order_payment": ActionKind.CHANGE_PAYMENT,
    "modify_pending_order_items": ActionKind.CHANGE_ITEMS,
    "return_delivered_order_items": ActionKind.RETURN_ITEMS,
    "exchange_delivered_order_items": ActionKind.EXCHANGE_ITEMS,
    "modify_user_address": ActionKind.CHANGE_PROFILE_ADDRESS,
}
_ARGUMENTS = {
    "item_ids": "items",
    "new_item_ids": "new_items",
    "payment_method_id": "payment_method",
}
FAULTS = ("double", "kill", "timeout")
_MAX_ATTEMPTS = 8


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--db", required=True, help="the benchmark's db.json")
    parser.add_argument("--tasks", required=True, help="its tasks.jsonl")
    parser.add_argument(
        "--faults", default="", help=f"any of {','.join(FAULTS)}, with commas"
    )
    parser.add_argument("--limit", type=int, default=0, help="only the first so many")
    parser.add_argument("--json", action="store_true")


@dataclass(slots=True)
class Outcome:
    tasks: int = 0
    equal: int = 0
    differ: dict[str, list[str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    foreign_reads: int = 0
    double_effects: int = 0
    repeats_absorbed: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        return {
            "tasks": self.tasks,
            "equal": self.equal,
            "differ": self.differ,
            "skipped": self.skipped,
            "foreign_reads": self.foreign_reads,
            "double_effects": self.double_effects,
            "repeats_absorbed": self.repeats_absorbed,
            "faults": dict(self.faults),
        }


def run(options: Mapping[str, Any]) -> int:
    faults = [name for name in options["faults"].split(",") if name]
    if unknown := set(faults) - set(FAULTS):
        print(f"unknown faults: {', '.join(sorted(unknown))}")  # noqa: T201
        return 2
    tasks = list(_tasks(Path(options["tasks"])))
    database = json.loads(Path(options["db"]).read_text("utf-8"))
    outcome = Outcome()
    with scratch_database():
        call_command("retail_shop", "load", db=options["db"], stdout=StringIO())
        replay = Replay(options["db"], database, faults, outcome)
        for task in tasks[: options["limit"] or None]:
            replay.play(task)
    _print(outcome, as_json=options["json"])
    clean = not (outcome.differ or outcome.foreign_reads or outcome.double_effects)
    return 0 if clean else 1


def _tasks(path: Path) -> Iterator[Mapping[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


@dataclass(slots=True)
class Replay:
    """Plays one task after another, each on its customer as the file has them."""

    path: str
    database: Mapping[str, Any]
    faults: Sequence[str]
    outcome: Outcome
    staff: Sequence[User] = ()
    writes: int = 0

    def play(self, task: Mapping[str, Any]) -> None:
        self.outcome.tasks += 1
        if task.get("gold_action_errors"):
            self.outcome.skipped[task["id"]] = "a gold action fails"
            return
        if not self.staff:
            self.staff = [_staff(name) for name in ("benchmark-1", "benchmark-2")]
        user = task["user_id"]
        actor = Actor(Role.CUSTOMER, user)
        conversation = _conversation(user)
        refused = []
        for write in task["gold_write_actions"]:
            if reason := self._write(actor, conversation, write):
                refused.append(f"{write['name']}: {reason}")
        self.outcome.foreign_reads += self._foreign(actor)
        found = json.loads(call("photograph", user=user))
        differences = refused + different(self._expected(task), found)
        if differences:
            self.outcome.differ[task["id"]] = differences
        else:
            self.outcome.equal += 1
        call("reset", db=self.path, user=user)
        ActionRequest.objects.filter(customer_id=user).delete()

    def _expected(self, task: Mapping[str, Any]) -> dict[str, Any]:
        user = task["user_id"]
        orders = self.database["users"][user]["orders"]
        final = task["expected_final"]
        return {
            "users": {user: self.database["users"][user]} | final["users"],
            "orders": {key: self.database["orders"][key] for key in orders}
            | final["orders"],
        }

    def _write(
        self, actor: Actor, conversation: Conversation, write: Mapping[str, Any]
    ) -> str:
        """One gold write, all the way; why it did not end in an effect, or ""."""
        tool_call = ToolCall(str(uuid4()), KINDS[write["name"]], arguments_of(write))
        said = list(_texts(tool_call.arguments))
        try:
            request = _agreed(tool_call, actor, conversation, said, self.staff)
        except services.NotPossible as error:
            return error.reason
        request = self._carry_out(request)
        return "" if request.state == RequestState.SUCCEEDED else request.reason

    def _carry_out(self, request: ActionRequest) -> ActionRequest:
        now = timezone.now()
        shop = services.faulty_shop(self._next_fault())
        for _ in range(_MAX_ATTEMPTS):
            request = asyncio.run(self._attempt(request, shop, now))
            if request.state in (RequestState.SUCCEEDED, RequestState.REFUSED):
                break
            now += LEASE * 2
        self.outcome.faults.update({str(f): n for f, n in shop.happened.items()})
        self.outcome.double_effects += sum(
            count > 1 and not request.outcome.get("repeated")
            for count in shop.executed.values()
        )
        return request

    def _next_fault(self) -> Fault | None:
        """The fault of this write: they take turns, so that each meets every kind."""
        wanted: list[Fault | None] = []
        if "timeout" in self.faults:
            wanted.append(Fault.TIMEOUT)
        if "kill" in self.faults:
            wanted += [Fault.KILL_BEFORE, Fault.KILL_AFTER]
        if not wanted:
            return None
        self.writes += 1
        return wanted[self.writes % len(wanted)]

    async def _attempt(
        self, request: ActionRequest, shop: FaultyShop, now: datetime
    ) -> ActionRequest:
        """What the event's handler does; twice at once where events come twice."""
        times = 2 if "double" in self.faults else 1
        ends = await asyncio.gather(
            *(
                services.carry_out(request.pk, now=now, fault=shop)
                for _ in range(times)
            ),
            return_exceptions=True,
        )
        for end in ends:
            if isinstance(end, BaseException) and not isinstance(end, Died):
                raise end
        if times == 2:
            self.outcome.faults["double"] += 1
            # Once more, after the end: the first result comes back, nothing is done.
            after = await services.carry_out(request.pk, now=now, fault=shop)
            self.outcome.repeats_absorbed += after.state == RequestState.SUCCEEDED
        return await in_database(ActionRequest.objects.get, pk=request.pk)

    def _foreign(self, actor: Actor) -> int:
        """How many orders of somebody else this actor could preview a change of."""
        own = set(self.database["users"][str(actor.customer_id)]["orders"])
        other = next(number for number in self.database["orders"] if number not in own)
        tool_call = ToolCall("f", ActionKind.CANCEL_ORDER, {"order_id": other})
        seen = asyncio.run(services.work_out(tool_call, actor=actor, said=()))
        return int(seen.preview.reason != "not_found" or bool(seen.preview.items))


def _agreed(
    tool_call: ToolCall,
    actor: Actor,
    conversation: Conversation,
    said: Sequence[str],
    staff: Sequence[User],
) -> ActionRequest:
    """Proposed, confirmed and approved, as the benchmark's "yes" stands for."""
    now = timezone.now()
    proposal = asyncio.run(services.work_out(tool_call, actor=actor, said=said))
    with transaction.atomic():
        request = services.request_approval(
            proposal,
            actor=actor,
            conversation_id=conversation.pk,
            run_id=uuid4(),
            now=now,
        )
    preview = asyncio.run(services.preview_again(request, actor=actor, fields={}))
    request = services.confirm(
        request,
        actor=actor,
        arguments_hash=request.arguments_hash,
        preview=preview,
        now=now,
    )
    for person in staff:
        if request.state != RequestState.CONFIRMED:
            break
        request = services.decide(
            request.pk,
            approver=person,
            role=Role.SUPERVISOR,
            approve=True,
            arguments_hash=request.arguments_hash,
            reason="the benchmark's customer agreed",
            now=now,
        )
    return request


def arguments_of(write: Mapping[str, Any]) -> dict[str, Json]:
    return {
        _ARGUMENTS.get(name, name): value
        for name, value in write["arguments"].items()
        if name != "user_id"
    }


def _texts(arguments: Mapping[str, Json]) -> Iterator[str]:
    yield from (value for value in arguments.values() if isinstance(value, str))


def _staff(name: str) -> User:
    return User.objects.create_user(name, is_staff=True)


def _conversation(user_id: str) -> Conversation:
    now = timezone.now()
    user, _ = User.objects.get_or_create(username=user_id)
    account, _ = Account.objects.get_or_create(
        user=user, defaults={"customer_id": user_id}
    )
    return Conversation.objects.create(account=account, created_at=now, updated_at=now)


def call(what: str, **options: Any) -> str:
    out = StringIO()
    call_command("retail_shop", what, stdout=out, **options)
    return out.getvalue()


def different(expected: Any, found: Any, path: str = "") -> list[str]:
    """Where two states part; amounts are equal to the cent."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        keys = sorted({*expected, *found})
        return [
            line
            for key in keys
            for line in different(expected.get(key), found.get(key), f"{path}/{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) == len(found):
            pairs = enumerate(zip(expected, found, strict=True))
            return [
                line
                for index, (one, other) in pairs
                for line in different(one, other, f"{path}/{index}")
            ]
    elif isinstance(expected, float) or isinstance(found, float):
        if round((expected or 0) * 100) == round((found or 0) * 100):
            return []
    elif expected == found:
        return []
    return [f"{path}: expected {expected!r}, found {found!r}"]


def _print(outcome: Outcome, *, as_json: bool) -> None:
    report = outcome.as_json()
    if as_json:
        print(json.dumps(report, ensure_ascii=False))  # noqa: T201
        return
    for name, value in report.items():
        shown = len(value) if name in ("differ", "skipped") else value
        print(f"{name:<18}{shown}")  # noqa: T201
    for task, lines in outcome.differ.items():
        print(f"  {task}: {'; '.join(lines[:3])}")  # noqa: T201
