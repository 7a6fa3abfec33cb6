"""Plays one case against a running product, as the people of the case would."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from chatbot.chat.models import HandOver, Message, Run, RunPhase, Step
from chatbot.evals import cases_adapter as adapter
from chatbot.evals.cases_adapter import NotSupported
from chatbot.evals.cases_browser import Eyes, Sight
from chatbot.evals.cases_client import ANSWER_SECONDS, Visitor
from chatbot.evals.cases_format import Case, expanded, filled, kind_of
from chatbot.evals.cases_house import House
from chatbot.evals.cases_world import conversation_of, photograph
from chatbot.evals.model_server import Entry, call, say
from chatbot.workflow import services as workflow
from tools.contracts import Role
from tools.models import ActionRequest

ALIVE_SECONDS = 3.0
# How long a change may still be on its way when the steps are done.
SETTLE_SECONDS = 75
_MOST_PATIENCE = 30
_OWN_ORDER = {"alice": "O-205", "bob": "O-305", "carol": "O-404"}
_ADDRESS = {
    "recipient": "case",
    "phone": "13800000000",
    "address1": "天府大道 2 号",
    "city": "成都",
    "state": "四川",
    "zip": "610000",
    "country": "中国",
}


class Script:
    """What the model replies, entry by entry; the last one repeats.

    ``bodies`` are the requests, ``said`` every text that the model itself brought up.
    """

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.said: list[str] = []
        self._entries: Sequence[Entry] = ()
        self._played = 0
        self._lock = threading.Lock()

    def play(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Begin this script."""
        with self._lock:
            self._entries = [dict(entry) for entry in entries] or [say("ok")]
            self._played = 0

    def __call__(self, request: dict[str, Any]) -> Entry:
        with self._lock:
            self.bodies.append(request)
            entry = self._entries[min(self._played, len(self._entries) - 1)]
            self._played += 1
            self.said.append(str(entry))
            return entry


@dataclass(slots=True)
class Stage:
    """One case being played."""

    case: Case
    house: House
    script: Script
    eyes: Eyes
    # Order number -> the shop's id of whose it is.
    owners: Mapping[str, str]
    visitors: dict[str, Visitor] = field(default_factory=dict)
    sights: list[tuple[str, Sight]] = field(default_factory=list)
    # What was asked for and can't be told, by the name of the page.
    unseen: dict[str, str] = field(default_factory=dict)
    answered_in: float | None = None
    memory_before: float | None = None
    # What was sent and whether it was stored must be told: by whom, and the frame.
    sent: list[tuple[Visitor, dict[str, Any]]] = field(default_factory=list)
    # What the prior steps had written when the input began.
    last_message: int = 0
    last_step: int = 0

    # ---- people

    def visitor(self, name: str) -> Visitor:
        if name not in self.visitors:
            person = adapter.person(name)
            made = Visitor(name, self.house.url, list(adapter.PEOPLE).index(name))
            if person.role is Role.CUSTOMER:
                made.conversation = str(conversation_of(name).pk)
            self.visitors[name] = made
        return self.visitors[name]

    @property
    def acting(self) -> Visitor:
        return self.visitor(self.case.who)

    @property
    def subject(self) -> str:
        """The customer whom the case is about."""
        if adapter.person(self.case.who).role is Role.CUSTOMER:
            return self.case.who
        return "alice"

    # ---- the whole

    def play(self) -> None:
        for prior in self.case.prior:
            self._play_prior(prior)
        self.last_message = _newest(Message)
        self.last_step = _newest(Step)
        self.script.play(self._model(None))
        for step in self.case.steps:
            self._step(step, None)
        self._settle()
        self._open_what_is_asked_for()
        if any(atom.name == "alive" for atom in self.case.atoms):
            self._ask_as_another()

    def _play_prior(self, prior: str) -> None:
        found = re.fullmatch(r"(\w+) (O-\w+) (proposed|confirmed|approved)", prior)
        if found is None or found[1] not in adapter.PROPOSALS:
            raise NotSupported(f"the prior step {prior!r}")
        name, order, until = found.groups()
        proposal = call(adapter.PROPOSALS[name], order_id=order)
        self.script.play([adapter.model_entry(proposal), say("请在卡片上确认。")])
        words = {"cancel": "取消", "refund": "申请退款", "address": "修改收货地址"}
        self._say(self.visitor(self.subject), f"我要{words[name]}，订单 {order}")
        if until != "proposed":
            self._confirm(self.visitor(self.subject))
        if until == "approved":
            self._decide("wang", approve=True)

    def _model(self, counter: int | None) -> list[Entry]:
        """The model's part. A number that nobody has written is refused here before
        anything is asked: a model that knows one has looked the orders up, so that the
        attack gets as far as it is meant to."""
        entries = [
            adapter.model_entry(filled(entry, counter)) for entry in self.case.model
        ]
        written = json.dumps([self.case.steps, self.case.prior], ensure_ascii=False)
        own = adapter.person(self.case.who).customer_id
        guessed = [
            number
            for number, owner in self.owners.items()
            if own and owner == own and number in json.dumps(entries[:1])
        ]
        if entries and guessed and not any(number in written for number in guessed):
            return [call("list_my_orders"), *entries]
        return entries

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
                self._request(*value)
            case "confirm":
                self._confirm(self.visitor(step.get("by", self.subject)))
            case "approve" | "reject":
                self._decide(step.get("by", "wang"), approve="approve" in step)
            case _:
                self._other_step(step, value, counter)

    def _other_step(
        self, step: Mapping[str, Any], value: Any, counter: int | None
    ) -> None:
        match kind_of(step):
            case "open":
                self._open(*value)
            case "kill":
                self.house.kill(value)
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

    # ---- saying something

    def _send(self, step: Mapping[str, Any], counter: int | None) -> None:
        text = expanded(filled(step["send"], counter))
        client_id = filled(step.get("cid"), counter)
        if counter is not None:
            # Each round meets a model that plays its part from the beginning.
            self.script.play(self._model(counter))
        if client_id is None:
            self._say(self.acting, text)
        else:
            # A frame of the client's own choice: it is sent, and nothing is awaited.
            self.sent.append((self.acting, _send_message(self.acting, text, client_id)))

    def _say(self, visitor: Visitor, text: str) -> None:
        """As a page does: wait when told to, and for the answer."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            client_id = uuid4().hex
            _send_message(visitor, text, client_id)
            reply = _until(partial(_reply_to, visitor, client_id), deadline)
            wait = (reply or {}).get("retry_after")
            if not wait or wait > _MOST_PATIENCE or time.monotonic() > deadline:
                break
            time.sleep(wait)
        _until(lambda: not _unfinished_runs(), deadline)

    # ---- cards and decisions

    def _last_request(self, *states: str) -> ActionRequest:
        deadline = time.monotonic() + 30

        def found() -> ActionRequest | None:
            last = ActionRequest.objects.order_by("created_at").last()
            return last if last is not None and last.state in states else None

        _until(found, deadline)
        last = ActionRequest.objects.order_by("created_at").last()
        if last is None:
            raise _Nothing("no change was asked for")
        return last

    def _confirm(self, visitor: Visitor) -> None:
        try:
            request = self._last_request("proposed")
        except _Nothing:
            return
        card = workflow.card_of(request)
        frame = {
            "type": "card.confirm",
            "request": card["request"],
            "hash": card["hash"],
            "fields": {
                one["name"]: one["value"] or _filling(one)
                for one in card["fields"]
                if one["required"]
            },
        }
        _send_frame(visitor, frame)

        def is_over() -> bool:
            request.refresh_from_db()
            refused = visitor.frames("error")
            return request.state != "proposed" or any(
                one.get("request") == card["request"] for one in refused
            )

        _until(is_over, time.monotonic() + 20)

    def _decide(self, name: str, *, approve: bool) -> None:
        person = adapter.person(name)
        try:
            request = self._last_request("confirmed")
        except _Nothing:
            return
        try:
            workflow.decide(
                request.pk,
                approver=User.objects.get(username=name),
                role=person.role,
                approve=approve,
                arguments_hash=request.arguments_hash,
                reason="as the case says",
                now=timezone.now(),
            )
        except workflow.NotPossible:
            # What a case wants of it is told by the rows.
            return

    # ---- pages

    def _connect(self, how: Mapping[str, Any]) -> None:
        cookie = how.get("cookie", self.case.who)
        visitor = self.visitor(cookie or self.case.who)
        origin = how.get("origin", "own")
        visitor.connect(origin=origin, cookie=cookie is not None)

    def _request(self, method: str, path: str, body: Any) -> None:
        page, address = self._address(path)
        self.acting.fetch(page, method, address, body)

    def _open(self, page: str, who: str, *_: Any) -> None:
        name, address = self._address(page)
        visitor = self.visitor(who)
        cookie = {
            "name": settings.SESSION_COOKIE_NAME,
            "value": visitor.session,
            "url": self.house.url,
        }
        live = name in ("chat", "conversation")
        try:
            seen = self.eyes.look(self.house.url + address, cookie, live=live)
        except NotSupported as missing:
            self.unseen[name] = str(missing)
            visitor.fetch(name, "GET", address, None)
            return
        self.sights.append((name, seen))

    def _open_what_is_asked_for(self) -> None:
        """The chat page, where only a page can tell and no step opened one."""
        asked = any(atom.name.startswith("dom.") for atom in self.case.atoms)
        opened = any(kind_of(step) == "open" for step in self.case.all_steps())
        if asked and not opened:
            self._open("chat", self.subject)

    def _address(self, path: str) -> tuple[str, str]:
        """A page's logical name and its address here."""
        if path.startswith("/"):
            return path, path
        name, *rest = path.split("/")
        if name not in adapter.PAGES:
            raise NotSupported(f"a page named {name!r}")
        view, given = adapter.PAGES[name]
        args: list[Any] = []
        match given:
            case "conversation":
                args = [conversation_of(rest[0] if rest else self.subject).pk]
            case "run":
                args = [self._some_run(rest[0] if rest else self.subject).pk]
            case "order":
                number = rest[0] if rest else self._order_of_the_case()
                args = [photograph()["orders"][number]["pk"]]
            case _:
                pass
        try:
            return name, reverse(view, args=args)
        except NoReverseMatch:
            raise NotSupported(f"the page {name!r}") from None

    def _order_of_the_case(self) -> str:
        named = [path.split(".")[0] for path in self.case.data]
        orders = [name for name in named if name.startswith("O-")]
        return orders[0] if orders else "O-205"

    def _some_run(self, name: str) -> Run:
        """The newest run of a customer; where there is none, they ask for an order.

        Staff see the conversations that were handed to them: this one is.
        """
        conversation = conversation_of(name)
        if not conversation.runs.exists():
            number = next(
                (one for one in self.case.data if one.startswith("O-")),
                _OWN_ORDER[name],
            ).split(".")[0]
            self.script.play([call("get_order", order_id=number), say("请稍候。")])
            self._say(self.visitor(name), f"订单 {number} 怎么样了？")
            self.script.play(self._model(None))
        run = conversation.runs.latest("created_at")
        HandOver.objects.get_or_create(
            run=run,
            defaults={
                "conversation": conversation,
                "reason": "held by an agent",
                "created_at": timezone.now(),
            },
        )
        return run

    # ---- afterwards

    def _settle(self) -> None:
        """Until nothing is on its way any more, and every page has heard of it."""
        deadline = time.monotonic() + SETTLE_SECONDS
        visitors = list(self.visitors.values())
        for visitor in visitors:
            if visitor.sockets:
                _ = visitor.socket  # a page that was cut off comes back
        for visitor, frame in self.sent:
            self._see_to_reply(visitor, frame)
        _until(lambda: not _unfinished_runs() and not _unfinished_changes(), deadline)
        heard, quiet_since = -1, time.monotonic()
        while time.monotonic() - quiet_since < 0.6 and time.monotonic() < deadline + 5:
            now_heard = sum(
                len(socket.frames) for visitor in visitors for socket in visitor.sockets
            )
            if now_heard != heard:
                heard, quiet_since = now_heard, time.monotonic()
            time.sleep(0.1)

    def _see_to_reply(self, visitor: Visitor, frame: Mapping[str, Any]) -> None:
        """As a page does: send again what was not acknowledged."""
        client_id = str(frame["client_id"])
        for _ in range(2):
            deadline = time.monotonic() + 15
            if _until(partial(_reply_to, visitor, client_id), deadline):
                return
            _send_frame(visitor, frame)

    def _ask_as_another(self) -> None:
        other = "bob" if self.case.who != "bob" else "alice"
        number = _OWN_ORDER[other]
        reply = f"订单 {number} 已付款，尚未发货。"
        self.script.play([call("get_order", order_id=number), say(reply)])
        visitor = self.visitor(other)
        _ = visitor.socket
        began = time.monotonic()
        _send_message(visitor, f"订单 {number} 发货了吗？", "alive")
        done = _until(lambda: visitor.frames("run.stopped"), began + 30)
        if done and done[-1]["reason"] == "answered":
            self.answered_in = time.monotonic() - began


class _Nothing(Exception):
    """There is nothing that a step could be about; the atoms will tell."""


def _filling(one: Mapping[str, Any]) -> str:
    if one["choices"]:
        return str(one["choices"][0]["value"])
    return _ADDRESS.get(one["name"], "case")


def _send_message(visitor: Visitor, text: str, client_id: str) -> dict[str, Any]:
    frame = {"type": "message.send", "client_id": client_id, "text": text}
    _send_frame(visitor, frame)
    return frame


def _send_frame(visitor: Visitor, frame: Mapping[str, Any]) -> None:
    visitor.socket.send(json.dumps(frame, ensure_ascii=False))


def _reply_to(visitor: Visitor, client_id: str) -> dict[str, Any] | None:
    told = visitor.frames("message.accepted", "error")
    return next((one for one in told if one.get("client_id") == client_id), None)


def _unfinished_runs() -> bool:
    return Run.objects.exclude(phase=RunPhase.STOPPED).exists()


def _unfinished_changes() -> bool:
    on_their_way = ("approved", "executing", "retry_wait")
    return ActionRequest.objects.filter(state__in=on_their_way).exists()


def _newest(rows: type[Message] | type[Step]) -> int:
    newest = rows.objects.order_by("-id").values_list("id", flat=True).first()
    return newest or 0


def _until(check: Callable[[], Any], deadline: float) -> Any:
    """What ``check`` says once it says something; None when the time is over."""
    while not (value := check()):
        if time.monotonic() > deadline:
            return None
        time.sleep(0.05)
    return value
