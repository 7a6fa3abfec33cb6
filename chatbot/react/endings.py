"""How each run ends for the customer: one table, and the text that code writes from it.

A limit is a normal end: the text says what was found, what was not and what happens
next. It never says that something was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from chatbot.react import state as known
from chatbot.react.decisions import Rules, check, language_of
from chatbot.react.types import (
    AskCustomer,
    Coverage,
    FinalAnswer,
    HandOver,
    HandOverMode,
    RunState,
    Slot,
    SlotState,
    Stop,
    Stopped,
    StopReason,
    Usage,
)
from chatbot.react.wording import answer_from_slots
from chatbot.understanding.needs import Language
from tools.contracts import ToolCall


@dataclass(frozen=True, slots=True)
class Ending:
    """What the customer is told around the facts, and what the page offers.

    ``opening`` comes before what was found, ``closing`` after it, by language.
    """

    opening: Mapping[Language, str]
    closing: Mapping[Language, str]
    can_retry: bool = False
    hand_over: HandOverMode = HandOverMode.NONE


_NOTHING: Mapping[Language, str] = {"en": "", "zh": ""}
_OFFER: Mapping[Language, str] = {
    "en": "If you like, a colleague can take a look: just say so.",
    "zh": "需要的话，我可以请人工客服来看，说一声就行。",
}
_RETRY_OR_PERSON: Mapping[Language, str] = {
    "en": "You can try again, or ask for a colleague.",
    "zh": "您可以点“重试”，也可以让我转人工客服。",
}
_PERSON_WILL_LOOK: Mapping[Language, str] = {
    "en": "A colleague will look at this and answer here.",
    "zh": "人工客服会来查看，并在这里回复您。",
}

ENDINGS: Mapping[StopReason, Ending] = {
    StopReason.ANSWERED: Ending(_NOTHING, _NOTHING),
    StopReason.NEEDS_CUSTOMER: Ending(_NOTHING, _NOTHING),
    StopReason.AWAITING_APPROVAL: Ending(
        {
            "en": "Nothing has been changed yet. Please check the details on the card.",
            "zh": "目前还没有做任何改动，请先核对卡片上的内容。",
        },
        {
            "en": "It only goes ahead once it is confirmed.",
            "zh": "确认之后才会办理。",
        },
    ),
    StopReason.INSUFFICIENT_EVIDENCE: Ending(
        {
            "en": "I could not find everything that you asked for.",
            "zh": "您问的内容，我没能全部查到。",
        },
        _OFFER,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.TOOL_FAILED: Ending(
        {
            "en": "One of the systems did not answer, so part of this is unknown.",
            "zh": "有系统暂时没有回应，所以有些信息现在还无法确认。",
        },
        _RETRY_OR_PERSON,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.STEP_LIMIT: Ending(
        {
            "en": "I stopped here, since this took more steps than I may use.",
            "zh": "查询步骤已到上限，我先停在这里。",
        },
        _OFFER,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.TIME_LIMIT: Ending(
        {
            "en": "I stopped here, since this took too long.",
            "zh": "查询用时太久，我先停在这里。",
        },
        _RETRY_OR_PERSON,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.TOKEN_LIMIT: Ending(
        {
            "en": "I stopped here, since this took more work than I may do at once.",
            "zh": "这个问题的处理量超出了单次上限，我先停在这里。",
        },
        _OFFER,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.BUDGET_LIMIT: Ending(
        {
            "en": "The assistant has reached its limit for today.",
            "zh": "智能助手今天的用量已到上限。",
        },
        _PERSON_WILL_LOOK,
        hand_over=HandOverMode.MADE,
    ),
    StopReason.REPEATED_ACTION: Ending(
        {
            "en": "I kept looking up the same thing, so I stopped here.",
            "zh": "我在重复同样的查询，所以先停下来了。",
        },
        _OFFER,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.NO_PROGRESS: Ending(
        {
            "en": "Looking further brought nothing new, so I stopped here.",
            "zh": "继续查询没有得到新的信息，我先停在这里。",
        },
        _OFFER,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.REFUSED_ACTION: Ending(
        {
            "en": "I could not continue with this safely, so I stopped.",
            "zh": "为了安全，我没有继续处理下去。",
        },
        _OFFER,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.MODEL_ERROR: Ending(
        {
            "en": "The assistant is not available at the moment. Your message is kept.",
            "zh": "智能助手暂时不可用，您的消息已保留。",
        },
        _RETRY_OR_PERSON,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.INTERNAL_ERROR: Ending(
        {
            "en": "Something went wrong on our side. Your message is kept.",
            "zh": "我们这边出了点问题，您的消息已保留。",
        },
        _RETRY_OR_PERSON,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.HANDED_OVER: Ending(
        _NOTHING, _PERSON_WILL_LOOK, hand_over=HandOverMode.MADE
    ),
    StopReason.CANCELLED: Ending(
        {"en": "Stopped, as you asked.", "zh": "已按您的要求停止。"},
        _NOTHING,
        can_retry=True,
    ),
}

NUDGE: Mapping[Language, str] = {
    "en": "Nothing new: change the approach, or answer with what is known.",
    "zh": "没有新的信息：请换一种方法，或者根据已知的信息回答。",
}


def ended(
    stop: Stop,
    state: RunState,
    rules: Rules,
    *,
    step: int,
    at: datetime,
    request: ToolCall | None = None,
    usage: Usage | None = None,
    model_ms: int = 0,
    problem: str = "",
) -> Stopped:
    """The last event of a run: its reason, and what the customer reads."""
    coverage = stop.coverage or _what_was_found(state, rules)
    ending = ENDINGS[stop.reason]
    proposal = stop.proposal
    return Stopped(
        step,
        stop.reason,
        _answer(stop, ending, state, coverage),
        at,
        coverage=coverage,
        options=proposal.options if isinstance(proposal, AskCustomer) else (),
        hand_over=ending.hand_over,
        hand_over_reason=_hand_over_reason(stop, ending),
        can_retry=ending.can_retry,
        request=request,
        usage=usage or Usage(),
        model_ms=model_ms,
        problem=problem,
    )


def _answer(stop: Stop, ending: Ending, state: RunState, coverage: Coverage) -> str:
    """A draft that passed is told as it is; everything else is worded here."""
    if isinstance(stop.proposal, FinalAnswer | AskCustomer):
        return stop.proposal.text.strip()
    language = language_of(state)
    found = answer_from_slots(
        _worth_telling(stop.reason, coverage),
        known.observations(state),
        language=language,
        time_zone=state.background.time_zone,
    )
    parts = (ending.opening[language], found, ending.closing[language])
    gap = "\n\n" if found else " " if language == "en" else ""
    return gap.join(part for part in parts if part)


def _worth_telling(reason: StopReason, coverage: Coverage) -> tuple[Slot, ...]:
    """What was not looked at is told only where the run meant to find it out."""
    if reason in (StopReason.CANCELLED, StopReason.HANDED_OVER) or (
        reason is StopReason.AWAITING_APPROVAL
    ):
        return tuple(s for s in coverage.slots if s.state is not SlotState.OPEN)
    return coverage.slots


def _hand_over_reason(stop: Stop, ending: Ending) -> str:
    if isinstance(stop.proposal, HandOver):
        return stop.proposal.reason
    return stop.reason if ending.hand_over is HandOverMode.MADE else ""


def _what_was_found(state: RunState, rules: Rules) -> Coverage:
    """The slots as the observations fill them, without any draft."""
    if state.question is None:
        return Coverage()
    return Coverage(slots=check("", state, rules).slots)
