"""The pages of a case: where they are, who opens them, what was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from chatbot.chat.models import HandOver, Run
from chatbot.evals.cases import adapter
from chatbot.evals.cases.browser import Eyes, Sight
from chatbot.evals.cases.client import Visitor
from chatbot.evals.cases.format import Case, NotSupported
from chatbot.evals.cases.world import conversation_of, photograph

# What a customer asks about who has not asked anything yet.
OWN_ORDER = {"alice": "O-205", "bob": "O-305", "carol": "O-404"}


@dataclass(slots=True)
class Pages:
    """``sights`` are what a browser had; ``unseen`` says, by the name of a page, why
    none had it. ``ask`` has a customer ask for an order, to the end of the run."""

    case: Case
    subject: str
    url: str
    eyes: Eyes
    ask: Callable[[str, str], None]
    sights: list[tuple[str, Sight]] = field(default_factory=list)
    unseen: dict[str, str] = field(default_factory=dict)

    def request(self, visitor: Visitor, method: str, path: str, body: Any) -> None:
        page, address = self._address(path)
        visitor.fetch(page, method, address, body)

    def open(self, page: str, visitor: Visitor) -> None:
        """Look at a page in a browser; where there is none, at its bare text."""
        name, address = self._address(page)
        cookie = {
            "name": settings.SESSION_COOKIE_NAME,
            "value": visitor.session,
            "url": self.url,
        }
        live = name in ("chat", "conversation")
        try:
            seen = self.eyes.look(self.url + address, cookie, live=live)
        except NotSupported as missing:
            self.unseen[name] = str(missing)
            visitor.fetch(name, "GET", address, None)
            return
        self.sights.append((name, seen))

    def _address(self, path: str) -> tuple[str, str]:
        """A page's logical name and its address here."""
        if path.startswith("/"):
            return path, path
        name, *rest = path.split("/")
        if name not in adapter.PAGES:
            raise NotSupported(f"a page named {name!r}")
        view, given = adapter.PAGES[name]
        try:
            return name, reverse(view, args=self._arguments(given, rest))
        except NoReverseMatch:
            raise NotSupported(f"the page {name!r}") from None

    def _arguments(self, given: str, rest: list[str]) -> list[Any]:
        whose = rest[0] if rest else self.subject
        match given:
            case "conversation":
                return [conversation_of(adapter.person(whose).name).pk]
            case "run":
                return [self._some_run(adapter.person(whose).name).pk]
            case "order":
                number = rest[0] if rest else self._order_of_the_case()
                return [photograph()["orders"][number]["pk"]]
            case _:
                return []

    def _order_of_the_case(self) -> str:
        named = [path.split(".")[0] for path in self.case.data]
        orders = [name for name in named if name.startswith("O-")]
        return orders[0] if orders else OWN_ORDER["alice"]

    def _some_run(self, name: str) -> Run:
        """The newest run of a customer; where there is none, they ask for an order.

        Staff see the conversations that were handed to them: this one is.
        """
        conversation = conversation_of(name)
        if not conversation.runs.exists():
            own = OWN_ORDER[name]
            self.ask(name, self._order_of_the_case() if name == self.subject else own)
        run = conversation.runs.latest("created_at")
        hand_to_staff(run)
        return run


def hand_to_staff(run: Run) -> None:
    HandOver.objects.get_or_create(
        run=run,
        defaults={
            "conversation_id": run.conversation_id,
            "reason": "held by an agent",
            "created_at": timezone.now(),
        },
    )
