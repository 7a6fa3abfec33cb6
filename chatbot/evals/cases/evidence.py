"""The traces that a played case has left, each read once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from chatbot.chat.models import Message, Run, Speaker, Step
from chatbot.evals.cases.format import NotSupported
from chatbot.evals.cases.play import Stage
from chatbot.evals.cases.world import conversation_of, photograph
from tools.models import ActionRequest


class Evidence:
    """The traces of one played case, each read once."""

    def __init__(self, stage: Stage, broker: Sequence[str] | None) -> None:
        self.stage = stage
        # What went through Redis; None where there is none.
        self.broker = broker

    @cached_property
    def shop(self) -> Mapping[str, Any]:
        return photograph()

    @cached_property
    def messages(self) -> list[Message]:
        """Of the customer's conversation, since the input began."""
        own = conversation_of(self.stage.subject).messages
        return list(own.filter(id__gt=self.stage.last_message).order_by("seq"))

    @cached_property
    def steps(self) -> list[Step]:
        own = conversation_of(self.stage.subject).steps
        return list(own.filter(id__gt=self.stage.last_step).order_by("seq"))

    @cached_property
    def last_run(self) -> Run:
        run = conversation_of(self.stage.subject).runs.order_by("created_at").last()
        if run is None:
            raise NotSupported("a run: the case started none")
        return run

    @cached_property
    def frames(self) -> list[str]:
        """Every byte that the acting person was sent."""
        acting = self.stage.acting
        sent = [frame for socket in acting.sockets for frame in socket.frames]
        return sent + [response.body for response in acting.responses]

    @cached_property
    def said(self) -> list[str]:
        """What was said to the customer, oldest first."""
        return [one.text for one in self.messages if one.speaker != Speaker.CUSTOMER]

    @cached_property
    def final(self) -> list[str]:
        """What was said since the customer spoke last."""
        asked = [one.seq for one in self.messages if one.speaker == Speaker.CUSTOMER]
        after = asked[-1] if asked else 0
        return [
            one.text
            for one in self.messages
            if one.speaker != Speaker.CUSTOMER and one.seq > after
        ]

    @cached_property
    def model(self) -> list[str]:
        bodies = self.stage.script.bodies
        return [json.dumps(body, ensure_ascii=False) for body in bodies]

    @cached_property
    def last_request(self) -> ActionRequest:
        request = ActionRequest.objects.order_by("created_at").last()
        if request is None:
            raise NotSupported("a change: the case asked for none")
        return request

    def pages(self, name: str) -> list[str]:
        stage = self.stage
        if not stage.pages.sights and name in stage.pages.unseen:
            raise NotSupported(
                f"{stage.pages.unseen[name]}: page {name} is only half told"
            )
        shown = [(page, sight.html) for page, sight in stage.pages.sights]
        for visitor in stage.visitors.values():
            shown += [(one.page, one.body) for one in visitor.responses]
        wanted = [html for page, html in shown if name in ("any", page)]
        if not wanted and name != "any":
            raise NotSupported(f"page {name}: no step opened it")
        return wanted
