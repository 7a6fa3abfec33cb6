"""One task in each control mode, through the same doors; each gives its trace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.utils import timezone

from chatbot.evals.control_modes.doors import Doors
from chatbot.evals.control_modes.execute import DurableExecutor, NaiveExecutor, Waiting
from chatbot.evals.control_modes.journal import Journal
from chatbot.evals.control_modes.models import DONE, Counted
from chatbot.evals.control_modes.trace import Trace
from chatbot.llm.planning import PLAN_TOOL, plans, steps_of
from chatbot.react import state as known
from chatbot.react.loop import run_react
from chatbot.react.plan import read_plan
from chatbot.react.plan_check import Verdict, Word
from chatbot.react.signals import Signals
from chatbot.react.types import (
    Acted,
    Background,
    LoopEvent,
    Observed,
    Refused,
    RunState,
    SentBack,
    Started,
    Stopped,
)
from chatbot.understanding.needs import read_question
from chatbot.workflow.services import NotPossible

APPROVER = "wang"
MAX_PLANS = 3


def _state(doors: Doors) -> RunState:
    background = Background(language=doors.language, time_zone="Asia/Shanghai")
    question = read_question(doors.said[-1], language=doors.language)
    return RunState(background, question=question)


async def _agree_and_go_on(doors: Doors, trace: Trace, request: UUID) -> str:
    """What comes between an approval card and the end of the change, in every mode."""
    await doors.people_agree(request, approver=APPROVER)
    trace.add("person", "the customer confirms the card")
    trace.add("person", f"{APPROVER} approves the exact arguments")
    state = await doors.let_events_run(request)
    trace.add("code", "event action.approved: execute, once", state)
    return state


# ---- ReAct: the product's own loop


async def react(doors: Doors, model: Counted) -> Trace:
    """The model proposes one step after another; a write ends the run and waits."""
    trace = Trace("ReAct")
    visible = tuple(doors.tools)
    stopped: Stopped | None = None
    async for event in run_react(
        _state(doors),
        model=model,
        tools=doors.parts.tools,
        observe=doors.parts.observe,
        limits=doors.parts.limits,
        proofs=doors.parts.proofs,
        signals=Signals(),
        now=_now,
        secrets=doors.parts.secrets,
    ):
        _tell(trace, event, visible)
        if isinstance(event, Stopped):
            stopped = event
    if stopped is None:
        raise RuntimeError("a run ended without its last event")
    trace.stopped_by, trace.told = stopped.reason, stopped.answer
    if stopped.request is None:
        return trace
    request = await doors.ask_approval(stopped.request.name, stopped.request.arguments)
    trace.waited = True
    trace.add("code", "a request waits in the database; the run has ended")
    state = await _agree_and_go_on(doors, trace, request)
    if state == "succeeded":
        trace.told = DONE[doors.language]
    return trace


def _tell(trace: Trace, event: LoopEvent, visible: Sequence[str]) -> None:
    match event:
        case Started():
            trace.add("code", "show the tools that this customer may use")
        case Acted(call=call):
            trace.add("model", f"propose {call.name}", "accepted", visible)
        case Observed(observation=observation):
            eligible = observation.fields.get("eligible")
            seen = observation.status.value
            seen += "" if eligible is None else f", eligible: {str(eligible).lower()}"
            trace.add("code", f"look: {observation.tool}", seen)
        case Refused(code=code, tool=tool):
            trace.add(
                "model", f"propose {tool or 'something'}", f"refused: {code}", visible
            )
        case SentBack():
            trace.add("model", "answer", "sent back: not proved", visible)
        case Stopped(reason=reason):
            trace.add("code", "stop", reason)
        case _:
            pass


def _now() -> datetime:
    return timezone.now()


# ---- Plan-and-Execute


async def plan_and_execute(doors: Doors, model: Counted, folder: Path) -> Trace:
    """The model plans once, code checks the plan, an executor walks it; its ``await``
    ends the walk, and an event begins it again from the journal."""
    trace = Trace("Plan-and-Execute")
    verdict = await _planned(doors, model, trace)
    if verdict.plan is None:
        trace.stopped_by = f"plan {verdict.word}"
        return trace
    journal = Journal(folder / "plan.jsonl")
    journal.begin(verdict.plan)
    end = await DurableExecutor(journal, doors, trace).go_on()
    while isinstance(end, Waiting):
        trace.waited = True
        await _agree_and_go_on(doors, trace, end.request)
        # A new executor, as in a process that has never seen the plan.
        trace.add("code", "event action.finished: go on from the journal")
        end = await DurableExecutor(journal, doors, trace).go_on()
    trace.stopped_by, trace.told = end.why, end.told
    return trace


async def _planned(doors: Doors, model: Counted, trace: Trace) -> Verdict:
    verdict = Verdict(Word.REVISE, ("no plan",))
    made = plans(model, _state(doors), doors.parts.tools, most=MAX_PLANS)
    async for planned in made:
        verdict = planned.verdict
        told = "; ".join((verdict.word.value, *verdict.reasons))
        said = f"plan {planned.number}: {_in_short(planned.steps)}"
        trace.add("model", said, told, tuple(doors.tools))
    return verdict


def _in_short(raw: object) -> str:
    plan, problems = read_plan(raw)
    if plan is None:
        return "; ".join(problems)
    return ", ".join(
        f"{step.kind} {step.tool or step.approves}".strip() for step in plan.steps
    )


async def naive(doors: Doors, model: Counted) -> Trace:
    """The same planner without a check, and an executor that waits for nobody."""
    trace = Trace("naive executor")
    reply = await model.propose(_state(doors), [PLAN_TOOL, *doors.parts.tools])
    raw = steps_of(reply.proposals[0])
    trace.add("model", f"plan: {_in_short(raw)}", "not checked", tuple(doors.tools))
    plan, problems = read_plan(raw)
    if plan is None:
        trace.stopped_by = "; ".join(problems)
        return trace
    await NaiveExecutor(plan, doors, trace).run()
    return trace


# ---- Workflow


async def workflow(doors: Doors) -> Trace:
    """Named stages in code; a model would only read the question, and none is asked.

    "Wait" and "at once" are no stages: what the customer writes can't move them.
    """
    trace = Trace("Workflow")
    question = known.question_of(_state(doors))
    trace.add(
        "code", "stage read: what is asked, of which order", ", ".join(question.needs)
    )
    if not question.order_numbers:
        trace.stopped_by = "needs_customer"
        return trace
    order = question.order_numbers[0]
    seen = await doors.observe("get_order", {"order_id": order})
    trace.add("code", "stage gather: get_order", seen.status.value, ("get_order",))
    arguments = {"order_id": order, "reason": "no longer needed"}
    try:
        request = await doors.ask_approval("cancel_order", arguments)
    except NotPossible as refused:
        trace.add("code", "stage eligible: cancel_order", refused.reason)
        trace.stopped_by = "refused_action"
        return trace
    trace.add(
        "code", "stage eligible: cancel_order", "a request waits", ("cancel_order",)
    )
    trace.waited = True
    state = await _agree_and_go_on(doors, trace, request)
    trace.add("code", "stage tell", state)
    trace.stopped_by = "finished" if state == "succeeded" else state
    trace.told = DONE[doors.language] if state == "succeeded" else ""
    return trace
