"""Plays a scripted customer on the whole path: message, run, tools, answer."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.utils import timezone

from chatbot.assistant.wiring import RunParts, build_run
from chatbot.chat import services
from chatbot.chat.models import Account, Conversation, HandOver, Message, Run, Speaker
from chatbot.chat.runner import execute_run
from chatbot.chat.stored import stored_event
from chatbot.evals.dialogue_cases import DialogueCase, TurnCase
from chatbot.react.types import Observed
from tools.actions.states import RequestState
from tools.contracts import Observation, ObservationStatus, Role, ToolCall
from tools.database import in_database
from tools.models import ActionRequest

_FAILURES = (
    ObservationStatus.TIMEOUT,
    ObservationStatus.UNAVAILABLE,
    ObservationStatus.BAD_RESULT,
)
_TIME_ZONES = {"zh": "Asia/Shanghai", "en": "Europe/London"}
# Nobody in these dialogues confirms a card: whatever got beyond it was never agreed to.
_AGREED_TO = frozenset(
    state
    for state in RequestState
    if state.value in ("approved", "executing", "retry_wait", "succeeded", "unknown")
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What makes one run through the dialogues unlike the others.

    Number 0 is undisturbed. In the others a lookup fails in about half of the
    dialogues, and messages are sent twice, in bursts and again in the middle of a run.
    """

    number: int
    seed: int = 1

    def chance(self, case: DialogueCase) -> random.Random:
        return random.Random(f"{self.seed}:{self.number}:{case.id}")  # noqa: S311


@dataclass(slots=True)
class Disturbance:
    """What goes wrong in one turn: the lookup ``fails_at`` fails, counted from 0."""

    fails_at: int | None = None
    status: ObservationStatus = ObservationStatus.TIMEOUT
    resends: bool = False
    repeats: bool = False
    repeats_midway: bool = False


@dataclass(slots=True)
class TurnPlayed:
    case: TurnCase
    disturbance: Disturbance
    answer: str = ""
    stop: str = ""
    options: tuple[str, ...] = ()
    observations: list[Observation] = field(default_factory=list)
    failed_tool: str = ""
    tokens: int = 0
    seconds: float = 0.0
    answers: int = 0


@dataclass(slots=True)
class DialoguePlayed:
    case: DialogueCase
    trial: Trial
    time_zone: str
    turns: list[TurnPlayed] = field(default_factory=list)
    handed_over: bool = False
    unsafe_effects: int = 0
    sent: int = 0
    stored: int = 0


def disturbances(case: DialogueCase, trial: Trial) -> list[Disturbance]:
    """One for each turn, the same for the same trial."""
    found = [Disturbance() for _ in case.turns]
    if trial.number == 0:
        return found
    chance = trial.chance(case)
    if chance.random() < 0.5:
        failing = chance.choice(found)
        failing.fails_at = chance.choice((0, 0, 1, 2))
        failing.status = chance.choice(_FAILURES)
    for one in found:
        one.resends = chance.random() < 0.3
        one.repeats = chance.random() < 0.15
        one.repeats_midway = chance.random() < 0.15
    return found


async def play(
    case: DialogueCase, trial: Trial, *, model_name: str | None
) -> DialoguePlayed:
    """Say everything, wait for each answer, and look at what is left behind."""
    time_zone = _TIME_ZONES[case.language]
    conversation = await in_database(_conversation, case, time_zone)
    played = DialoguePlayed(case, trial, time_zone)
    plans = disturbances(case, trial)
    for turn, disturbance in zip(case.turns, plans, strict=True):
        player = _Player(conversation, TurnPlayed(turn, disturbance), model_name)
        await player.play()
        played.turns.append(player.turn)
        played.sent += player.sent
    await in_database(_look_back, conversation, played)
    return played


def _conversation(case: DialogueCase, time_zone: str) -> Conversation:
    about = {"language": case.language, "time_zone": time_zone}
    account = Account.objects.filter(customer_id=case.customer).first()
    if account is None:
        user = User.objects.create(username=f"dialogue-{case.customer.lower()}")
        account = Account.objects.create(
            user=user, role=Role.CUSTOMER, customer_id=case.customer, **about
        )
    # Each is a customer of its own: what another one guessed wrong is paid for.
    Account.objects.filter(pk=account.pk).update(
        lookups_locked_until=timezone.now(), **about
    )
    return services.start_conversation(account=account, now=timezone.now())


def _look_back(conversation: Conversation, played: DialoguePlayed) -> None:
    played.handed_over = HandOver.objects.filter(conversation=conversation).exists()
    said = Message.objects.filter(conversation=conversation, speaker=Speaker.CUSTOMER)
    played.stored = said.count()
    requests = ActionRequest.objects.filter(conversation_id=conversation.pk)
    played.unsafe_effects = requests.filter(state__in=_AGREED_TO).count()
    # The next dialogue may ask the same of the same order.
    requests.exclude(state__in=_AGREED_TO).delete()


class _Player:
    """Plays one turn."""

    def __init__(
        self, conversation: Conversation, turn: TurnPlayed, model_name: str | None
    ) -> None:
        self.conversation = conversation
        self.turn = turn
        self.model_name = model_name
        self.sent = 0
        self._lookups = 0

    async def play(self) -> None:
        run_id: UUID | None = None
        texts = list(self.turn.case.says)
        if self.turn.disturbance.repeats:
            texts.append(texts[-1])
        for text in texts:
            run_id = await self._send(text, again=self.turn.disturbance.resends)
        while run_id is not None:
            following = await execute_run(
                run_id,
                owner="dialogues",
                model_name=self.model_name,
                build=self._build,
            )
            await in_database(self._take, run_id)
            run_id = following

    async def _send(self, text: str, *, again: bool = False) -> UUID | None:
        self.sent += 1
        client_id = uuid4().hex
        run_id = None
        for _ in range(2 if again else 1):
            accepted = await in_database(
                services.accept_message,
                self.conversation.pk,
                account_id=self.conversation.account_id,
                client_id=client_id,
                text=text,
                now=timezone.now(),
                limited=False,
            )
            run_id = run_id or accepted.run_id
        return run_id

    def _build(self, **about: Any) -> RunParts:
        parts = build_run(**about)
        return replace(parts, observe=self._with_faults(parts.observe))

    def _with_faults(self, observe: Callable[..., Any]) -> Callable[..., Any]:
        async def look(call: ToolCall, observation_id: str) -> Observation:
            number, self._lookups = self._lookups, self._lookups + 1
            if number == 0 and self.turn.disturbance.repeats_midway:
                await self._send(self.turn.case.says[-1])
            if number != self.turn.disturbance.fails_at:
                found: Observation = await observe(call, observation_id)
                return found
            self.turn.failed_tool = call.name
            return Observation(
                id=observation_id,
                call_id=call.id,
                tool=call.name,
                arguments=call.arguments,
                status=self.turn.disturbance.status,
                fields={},
                observed_at=datetime.now(UTC),
                source=_SOURCES.get(call.name, "shop"),
                message="a fault of the evaluation",
                retryable=True,
                duration_ms=0,
                attempts=2,
            )

        return look

    def _take(self, run_id: UUID) -> None:
        run = Run.objects.get(pk=run_id)
        answer = Message.objects.filter(run=run, speaker=Speaker.ASSISTANT).last()
        turn = self.turn
        for step in run.steps.filter(kind="observed").order_by("seq"):
            event = stored_event(step)
            if isinstance(event, Observed) and not event.repeated:
                turn.observations.append(event.observation)
        turn.stop = run.stop_reason
        turn.tokens += run.prompt_tokens + run.completion_tokens
        turn.seconds += (run.duration_ms or 0) / 1000
        if answer is not None:
            turn.answers += 1
            turn.answer = answer.text
            turn.options = tuple(answer.extras.get("options", ()))


_SOURCES = {"track_shipment": "carrier", "search_help": "help"}


def calls(observations: Sequence[Observation]) -> tuple[str, ...]:
    """The lookups of a turn as "tool argument"."""
    return tuple(
        " ".join([one.tool, *(str(v) for v in list(one.arguments.values())[:1])])
        for one in observations
    )
