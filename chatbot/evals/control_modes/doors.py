"""The way of all modes to the same tools, the same gateway and the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from chatbot.assistant.wiring import RunParts, build_run
from chatbot.react.types import Background
from chatbot.understanding.needs import Language
from chatbot.workflow import outbox, services
from tools.contracts import Actor, Effect, Json, Observation, Role, ToolCall, ToolSpec
from tools.database import in_database
from tools.models import ActionRequest

# How often the events are looked at before a change counts as not settled.
_MOST_SWEEPS = 20


@dataclass(slots=True)
class Doors:
    """Of one actor in one conversation. ``unapproved`` counts the writes that were
    tried although nobody had agreed."""

    actor: Actor
    conversation_id: UUID
    said: Sequence[str]
    language: Language
    unapproved: int = 0
    _observed: int = 0
    parts: RunParts = field(init=False)

    def __post_init__(self) -> None:
        background = Background(language=self.language, time_zone="Asia/Shanghai")
        self.parts = build_run(
            actor=self.actor, background=background, model_name="offline"
        )

    @property
    def tools(self) -> Mapping[str, ToolSpec]:
        return {spec.name: spec for spec in self.parts.tools}

    @property
    def writes(self) -> tuple[str, ...]:
        return tuple(
            name for name, spec in self.tools.items() if spec.effect is Effect.WRITE
        )

    async def observe(self, name: str, arguments: Mapping[str, Json]) -> Observation:
        """One look through the gateway; of a write it is a preview."""
        self._observed += 1
        call = ToolCall(f"look-{self._observed}", name, arguments)
        return await self.parts.observe(call, f"obs-{self._observed}")

    async def ask_approval(self, name: str, arguments: Mapping[str, Json]) -> UUID:
        """A request that waits for people; ``NotPossible`` where the shop refuses."""
        call = ToolCall("wish", name, arguments)
        proposal = await services.work_out(call, actor=self.actor, said=self.said)
        if not proposal.preview.eligible:
            raise services.NotPossible(proposal.preview.reason)
        return await in_database(self._request, proposal)

    def _request(self, proposal: services.Proposal) -> UUID:
        with transaction.atomic():
            request = services.request_approval(
                proposal,
                actor=self.actor,
                conversation_id=self.conversation_id,
                run_id=uuid4(),
                now=timezone.now(),
            )
        return request.pk

    async def state_of(self, request_id: UUID) -> str:
        return str((await self._row(request_id)).state)

    async def perform(self, request_id: UUID) -> str:
        """Ask the gateway to do it; the request's state afterwards."""
        before = await self.state_of(request_id)
        if before in ("proposed", "confirmed"):
            self.unapproved += 1
        request = await services.carry_out(request_id, now=timezone.now())
        return str(request.state)

    async def people_agree(self, request_id: UUID, *, approver: str) -> None:
        """The customer confirms the card, then one of the staff approves."""
        row = await self._row(request_id)
        preview = await services.preview_again(row, actor=self.actor, fields={})
        row = await in_database(
            services.confirm,
            row,
            actor=self.actor,
            arguments_hash=row.arguments_hash,
            preview=preview,
            now=timezone.now(),
        )
        await in_database(_approve, row, approver)

    async def let_events_run(self, request_id: UUID) -> str:
        """What workers do: deliver what is due until the request has ended."""
        for _ in range(_MOST_SWEEPS):
            state = await self.state_of(request_id)
            if state in ("succeeded", "refused", "unknown"):
                return state
            await outbox.sweep(owner="control-modes")
        return await self.state_of(request_id)

    async def attempts(self) -> int:
        """How often the shop was asked to make a change."""
        rows = await in_database(lambda: list(ActionRequest.objects.all()))
        return sum(row.attempts for row in rows)

    async def _row(self, request_id: UUID) -> ActionRequest:
        return await in_database(
            ActionRequest.objects.select_related("policy").get, pk=request_id
        )


def _approve(request: ActionRequest, approver: str) -> None:
    services.decide(
        request.pk,
        approver=User.objects.get(username=approver),
        role=Role.SUPERVISOR,
        approve=True,
        arguments_hash=request.arguments_hash,
        reason="the customer asked for it",
        now=timezone.now(),
    )
