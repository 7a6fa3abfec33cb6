"""Pages and models for the chat's tests: real consumers, a played model."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings as django_settings
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from chatbot.asgi import application
from chatbot.assistant.proofs import PROOFS
from chatbot.assistant.wiring import RunParts
from chatbot.chat import runner, services
from chatbot.chat import shared as shared_counts
from chatbot.chat.launch import launcher
from chatbot.chat.loops import make_home
from chatbot.chat.models import Conversation, Run, Step
from chatbot.chat.sockets import sockets
from chatbot.llm.scripted_model import Entry, ScriptedModel, answer, get_order, track
from chatbot.react.model import Model
from chatbot.react.types import Limits
from tests.cast import Person
from tests.react.play import TOOLS, Shop
from tools.backends.store.seeding.shop import seed_the_named
from tools.contracts import Observation, ToolCall
from tools.database import in_database

QUESTION = "Has O-204 shipped, and where is it now?"
ANSWER = "Yes, O-204 has shipped. Parcel N-88 is in transit in Wuhan."
TWO_STEPS: tuple[Entry, ...] = (get_order("O-204"), track("N-88"), answer(ANSWER))
ORIGIN = "http://127.0.0.1:8000"

T = TypeVar("T")


class Gate:
    """Holds whoever comes through until it is opened; open from the start."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.opened.set()
        self.reached = asyncio.Event()

    def shut(self) -> None:
        self.opened.clear()
        self.reached.clear()

    async def pass_through(self) -> None:
        self.reached.set()
        await self.opened.wait()


@dataclass
class World:
    """What the played runs meet: a script for each run, and one shop for all."""

    scripts: list[Sequence[Entry]] = field(default_factory=list)
    shop: Shop = field(default_factory=Shop)
    limits: Limits = field(default_factory=Limits)
    before_model: Gate = field(default_factory=Gate)
    before_tool: Gate = field(default_factory=Gate)
    models: list[ScriptedModel] = field(default_factory=list)
    backgrounds: list[Any] = field(default_factory=list)

    def plays(self, *script: Entry) -> None:
        """Add the script of one more run; the last one serves all that follow."""
        self.scripts.append(script)

    def parts(
        self, *, actor: Any, background: Any, model_name: str | None = None
    ) -> RunParts:
        number = min(len(self.models), len(self.scripts) - 1)
        model = ScriptedModel(*self.scripts[number])
        self.models.append(model)
        self.backgrounds.append(background)
        return RunParts(
            model=_Held(model, self.before_model),
            tools=TOOLS,
            observe=self.observe,
            limits=self.limits,
            proofs=PROOFS,
        )

    async def observe(self, call: ToolCall, observation_id: str) -> Observation:
        await self.before_tool.pass_through()
        return await self.shop.observe(call, observation_id)


class _Held:
    """A model that waits at a gate before each reply."""

    def __init__(self, model: Model, gate: Gate) -> None:
        self.name = model.name
        self._model = model
        self._gate = gate

    async def propose(self, state: Any, tools: Any) -> Any:
        await self._gate.pass_through()
        return await self._model.propose(state, tools)


@pytest.fixture
async def world(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> AsyncIterator[World]:
    """The process as it runs, but for model and shop; quick to look and sweep."""
    settings.RUN_SWEEP_SECONDS = 0.05
    settings.CHAT_POLL_SECONDS = 0.05
    settings.CHAT_NEW_SOCKETS_PER_MINUTE = 1000
    settings.CHAT_MESSAGES_BURST = 100
    # What other tests have counted in one Redis is none of this one's.
    monkeypatch.setattr(shared_counts, "PREFIX", f"test:{uuid4()}")
    made = World()
    monkeypatch.setattr(runner, "build_run", made.parts)
    make_home()
    yield made
    made.before_model.opened.set()
    made.before_tool.opened.set()
    await launcher().drain()
    await shared_counts.shared().close()


# ---- rows


@pytest.fixture
def patient_shop(transactional_db: None, settings: Settings) -> None:
    """The named orders, and no limit on how fast one person writes."""
    seed_the_named(now=timezone.now())
    settings.CHAT_MESSAGES_BURST = 1_000


@pytest.fixture
def conversation(lin: Person) -> Conversation:
    return services.start_conversation(account=lin.account, now=timezone.now())


_client_ids = itertools.count(1)


def accept(conversation: Conversation, text: str = QUESTION, **more: Any) -> Any:
    """One message of the conversation's owner, through the service."""
    return services.accept_message(
        conversation.pk,
        account_id=conversation.account_id,
        **{
            "client_id": f"c{next(_client_ids)}",
            "text": text,
            "now": timezone.now(),
            **more,
        },
    )


async def say(conversation: Conversation, text: str = QUESTION, **more: Any) -> Any:
    return await in_database(accept, conversation, text, **more)


def the_run(conversation: Conversation) -> Run:
    run = conversation.runs.order_by("created_at").last()
    assert run is not None
    return run


def kinds(conversation: Conversation) -> list[str]:
    """The log in short: who said something, and which steps were made."""
    said = {m.seq: m.speaker for m in conversation.messages.all()}
    done = {s.seq: s.kind for s in Step.objects.filter(conversation=conversation)}
    log = said | done
    assert sorted(log) == list(range(1, len(log) + 1)), "the log has a gap"
    return [log[seq] for seq in sorted(log)]


async def until(check: Callable[[], Awaitable[T | None]], *, seconds: float = 10) -> T:
    """Wait for what happens by itself; the time is a net, never a measure."""
    async with asyncio.timeout(seconds):
        # Whoever makes it happen may be another process: there is no event to wait for.
        while not (value := await check()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return value


async def until_stopped(conversation: Conversation) -> Run:
    async def stopped() -> Run | None:
        run = await in_database(the_run, conversation)
        return run if run.phase == "stopped" else None

    return await until(stopped)


# ---- pages


class Page:
    """One page of a conversation: a socket, and the log as its script would keep it."""

    def __init__(self, communicator: ApplicationCommunicator) -> None:
        self.socket = communicator
        self.log: list[dict[str, Any]] = []
        self.others: list[dict[str, Any]] = []
        self.code: int | None = None

    @property
    def last(self) -> int:
        return self.log[-1]["seq"] if self.log else 0

    @property
    def types(self) -> list[str]:
        return [entry["type"] for entry in self.log]

    async def send(self, type_: str, **fields: Any) -> None:
        await self.send_text(json.dumps({"type": type_, **fields}))

    async def send_text(self, text: str) -> None:
        await self.socket.send_input({"type": "websocket.receive", "text": text})

    async def say(self, text: str = QUESTION, client_id: str | None = None) -> str:
        client_id = client_id or f"p{next(_client_ids)}"
        await self.send("message.send", client_id=client_id, text=text)
        return client_id

    async def hear(self) -> dict[str, Any]:
        """The next frame, or {"type": "closed"}; a log entry must be the next one."""
        output = await self.socket.receive_output(timeout=10)
        if output["type"] == "websocket.close":
            self.code = output["code"]
            return {"type": "closed", "code": self.code}
        frame: dict[str, Any] = json.loads(output["text"])
        if "seq" in frame and frame["type"] != "message.accepted":
            assert frame["seq"] == self.last + 1, f"{frame['seq']} after {self.last}"
            self.log.append(frame)
        else:
            self.others.append(frame)
        return frame

    async def hear_until(self, *types: str) -> dict[str, Any]:
        while (frame := await self.hear())["type"] not in types:
            assert frame["type"] != "closed", f"closed with {self.code}"
        return frame

    async def leave(self) -> None:
        await self.socket.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.socket.wait(timeout=5)


class Browser:
    """One person's browser: its cookies, and the pages that it opens."""

    def __init__(self, person: Person) -> None:
        self.client = Client()
        self.client.force_login(person.user)
        self.pages: list[Page] = []

    @property
    def session_key(self) -> str:
        return self.client.cookies[django_settings.SESSION_COOKIE_NAME].value

    def communicator(
        self, conversation_id: UUID, last: int | str = 0, **headers: str
    ) -> ApplicationCommunicator:
        wanted = {
            "host": "127.0.0.1:8000",
            "origin": ORIGIN,
            "cookie": f"{django_settings.SESSION_COOKIE_NAME}={self.session_key}",
            **headers,
        }
        scope = {
            "type": "websocket",
            "path": f"/ws/chat/{conversation_id}/",
            "query_string": f"last={last}".encode(),
            "headers": [(k.encode(), v.encode()) for k, v in wanted.items() if v],
            "subprotocols": [],
            "client": ["127.0.0.1", 50000],
        }
        return ApplicationCommunicator(application, scope)

    async def open(
        self,
        conversation: Conversation | UUID,
        last: int | str = 0,
        **headers: str,
    ) -> Page:
        if isinstance(conversation, Conversation):
            conversation = conversation.pk
        page = Page(self.communicator(conversation, last, **headers))
        await page.socket.send_input({"type": "websocket.connect"})
        opening = await page.socket.receive_output(timeout=10)
        assert opening["type"] == "websocket.accept", opening
        self.pages.append(page)
        return page

    async def opened(self, conversation: Conversation | UUID, last: int = 0) -> Page:
        """A page that has its hello and its replay."""
        page = await self.open(conversation, last)
        page.log = [{"seq": last, "type": "before"}] if last else []
        await page.hear_until("caught_up")
        return page


@pytest.fixture
async def browser(lin: Person, world: World) -> AsyncIterator[Browser]:
    made = await in_database(Browser, lin)
    yield made
    for page in made.pages:
        if not page.socket.future.done():
            await page.leave()
    assert len(sockets()) == 0
