"""Plays one case against a running product, as the people of the case would."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connections
from django.utils import timezone

from chatbot.chat.models import Message, Run, RunPhase, Step
from chatbot.evals.cases import adapter, talk
from chatbot.evals.cases.browser import Eyes
from chatbot.evals.cases.client import Visitor
from chatbot.evals.cases.format import Case, NotSupported, expanded, filled, kind_of
from chatbot.evals.cases.house import House
from chatbot.evals.cases.pages import OWN_ORDER, Pages, hand_to_staff
from chatbot.evals.cases.script import Script, part_of
from chatbot.evals.cases.world import conversation_of
from chatbot.evals.model_server import call, say
from chatbot.react.types import StopReason

ALIVE_SECONDS = 3.0
# How long a change may still be on its way when the steps are done.
SETTLE_SECONDS = 75
_ASKED = {"cancel": "取消", "refund": "申请退款", "address": "修改收货地址"}


@dataclass(slots=True)
class Stage:
    """One case being played, and what of it is not in the database."""

    case: Case
    house: House
    script: Script
    eyes: Eyes
    # Order number -> the shop's id of whose it is.
    owners: Mapping[str, str]
    visitors: dict[str, Visitor] = field(default_factory=dict)
    pages: Pages = field(init=False)
    answered_in: float | None = None
    memory_before: float | None = None
    # Frames whose fate must be told, and by whom they were sent.
    sent: list[tuple[Visitor, dict[str, Any]]] = field(default_factory=list)
    # What the prior steps had written when the input began.
    last_message: int = 0
    last_step: int = 0

    def __post_init__(self) -> None:
        self.pages = Pages(
            self.case, self.subject, self.house.url, self.eyes, self._ask_for_an_order
        )

    # ---- people

    def visitor(self, name: str) -> Visitor:
        if name not in self.visitors:
            person = adapter.person(name)
            made = Visitor(name, self.house.url, list(adapter.PEOPLE).index(name))
            if person.chats:
                made.conversation = str(conversation_of(name).pk)
            self.visitors[name] = made
        return self.visitors[name]

    @property
    def acting(self) -> Visitor:
        return self.visitor(self.case.who)

    @property
    def subject(self) -> str:
        """The customer whom the case is about."""
        if adapter.person(self.case.who).chats:
            return self.case.who
        return "alice"

    # ---- the whole

    def play(self) -> None:
        for prior in self.case.prior:
            self._play_prior(prior)
        for name in self._taken():
            _hand_over(name)
        self.last_message = _newest(Message)
        self.last_step = _newest(Step)
        self._play_model(None)
        for step in self.case.steps:
            self._step(step, None)
        self._settle()
        self._open_what_is_asked_for()
        if any(atom.name == "alive" for atom in self.case.atoms):
            self._ask_as_another()

    def _taken(self) -> list[str]:
        """Whose conversations somebody will try to take over."""
        steps = self.case.all_steps()
        return sorted({step["takeover"] for step in steps if "takeover" in step})

    def _play_model(self, counter: int | None) -> None:
        self.script.play(part_of(self.case, counter, self.owners))

    def _play_prior(self, prior: str) -> None:
        found = re.fullmatch(r"(\w+) (O-\w+) (proposed|confirmed|approved)", prior)
        if found is None or found[1] not in adapter.PROPOSALS:
            raise NotSupported(f"the prior step {prior!r}")
        name, order, state = found.groups()
        proposal = call(adapter.PROPOSALS[name], order_id=order)
        self.script.play([adapter.model_entry(proposal), say("请在卡片上确认。")])
        customer = self.visitor(self.subject)
        talk.say_and_wait(customer, f"我要{_ASKED[name]}，订单 {order}")
        if state != "proposed":
            talk.confirm(customer)
        if state == "approved":
            talk.decide(self.visitor("wang"), approve=True)

    # ---- steps

    def _step(self, step: Mapping[str, Any], counter: int | None) -> None:
        value = step[kind_of(step)]
        match kind_of(step):
            case "send":
                self._send(step, counter)
            case "raw_text":
                text = expanded(filled(value, counter))
                self.acting.socket.send(adapter.frame(text))
            case "raw_hex":
                self.acting.socket.send(bytes.fromhex(value))
            case "connect":
                self._connect(value)
            case "http":
                self.pages.request(self.acting, *value)
            case "confirm":
                talk.confirm(self.visitor(step.get("by", self.subject)))
            case "approve" | "reject":
                who = self.visitor(step.get("by", "wang"))
                talk.decide(who, approve="approve" in step)
            case _:
                self._other_step(step, value, counter)

    def _other_step(
        self, step: Mapping[str, Any], value: Any, counter: int | None
    ) -> None:
        match kind_of(step):
            case "open":
                self.pages.open(value[0], self.visitor(value[1]))
            case "kill":
                self.house.kill(value)
            case "takeover":
                talk.take_over(self.visitor(step.get("by", adapter.AGENT)), of=value)
            case "wait":
                time.sleep(float(value))
            case "parallel":
                self._all_at_once(value, counter)
            case "repeat":
                for number in range(int(value[0])):
                    self._step(value[1], number)
            case other:
                raise NotSupported(f"the step {other!r}")

    def _all_at_once(
        self, steps: Sequence[Mapping[str, Any]], counter: int | None
    ) -> None:
        together = threading.Barrier(len(steps))
        problems: list[Exception] = []

        def work(step: Mapping[str, Any]) -> None:
            try:
                together.wait(30)
                self._step(step, counter)
            except Exception as problem:  # noqa: BLE001 - raised again below
                problems.append(problem)
            finally:
                connections.close_all()

        threads = [threading.Thread(target=work, args=(step,)) for step in steps]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]

    def _send(self, step: Mapping[str, Any], counter: int | None) -> None:
        text = expanded(filled(step["send"], counter))
        client_id = filled(step.get("cid"), counter)
        if counter is not None:
            # Each round meets a model that plays its part from the beginning.
            self._play_model(counter)
        if client_id is None:
            talk.say_and_wait(self.acting, text)
        else:
            # A frame of the client's own choice: it is sent, and nothing is awaited.
            frame = talk.send_message(self.acting, text, client_id)
            self.sent.append((self.acting, frame))

    def _connect(self, how: Mapping[str, Any]) -> None:
        cookie = how.get("cookie", self.case.who)
        visitor = self.visitor(cookie or self.case.who)
        origin = how.get("origin", "own")
        visitor.connect(origin=origin, cookie=cookie is not None)

    def _ask_for_an_order(self, name: str, number: str) -> None:
        self.script.play([call("get_order", order_id=number), say("请稍候。")])
        talk.say_and_wait(self.visitor(name), f"订单 {number} 怎么样了？")
        self._play_model(None)

    # ---- afterwards

    def _settle(self) -> None:
        """Until nothing is on its way any more, and every page has heard of it."""
        deadline = time.monotonic() + SETTLE_SECONDS
        visitors = list(self.visitors.values())
        for visitor in visitors:
            if visitor.sockets:
                _ = visitor.socket  # a page that was cut off comes back
        for visitor, frame in self.sent:
            talk.see_to_reply(visitor, frame)

        def is_calm() -> bool:
            return not (talk.unfinished_runs() or talk.unfinished_changes())

        talk.until(is_calm, deadline)
        heard, quiet_since = -1, time.monotonic()
        while time.monotonic() - quiet_since < 0.6 and time.monotonic() < deadline + 5:
            sockets = [socket for visitor in visitors for socket in visitor.sockets]
            now_heard = sum(len(socket.frames) for socket in sockets)
            if now_heard != heard:
                heard, quiet_since = now_heard, time.monotonic()
            time.sleep(0.1)

    def _open_what_is_asked_for(self) -> None:
        """The chat page, where only a page can tell and no step opened one."""
        asked = any(atom.name.startswith("dom.") for atom in self.case.atoms)
        opened = any(kind_of(step) == "open" for step in self.case.all_steps())
        if asked and not opened:
            self.pages.open("chat", self.visitor(self.subject))

    def _ask_as_another(self) -> None:
        other = "bob" if self.case.who != "bob" else "alice"
        number = OWN_ORDER[other]
        reply = f"订单 {number} 已付款，尚未发货。"
        self.script.play([call("get_order", order_id=number), say(reply)])
        visitor = self.visitor(other)
        _ = visitor.socket
        began = time.monotonic()
        talk.send_message(visitor, f"订单 {number} 发货了吗？", "alive")
        done = talk.until(lambda: visitor.frames("run.stopped"), began + 30)
        if done and done[-1]["reason"] == "answered":
            self.answered_in = time.monotonic() - began


def _newest(rows: type[Message] | type[Step]) -> int:
    newest = rows.objects.order_by("-id").values_list("id", flat=True).first()
    return newest or 0


def _hand_over(name: str) -> None:
    """A run of a while ago that asked for a person: agents see what was handed over."""
    now = timezone.now()
    run = Run.objects.create(
        conversation=conversation_of(name),
        phase=RunPhase.STOPPED,
        stop_reason=StopReason.HANDED_OVER,
        created_at=now,
        due_at=now,
        stopped_at=now,
    )
    hand_to_staff(run)
