"""How each run ends for the customer: one table, and the text that code writes from it.

A limit is a normal end: the text says what was found, what was not and what happens
next. It never says that something was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from chatbot.react import outcomes
from chatbot.react import state as known
from chatbot.react.regret import regret
from chatbot.react.types import (
    AskCustomer,
    Coverage,
    FinalAnswer,
    HandOver,
    HandOverMode,
    Rules,
    RunState,
    SlotState,
    Stop,
    Stopped,
    StopReason,
    Suspend,
    Usage,
)
from chatbot.understanding.needs import Language, Need


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
    "zh": "需要的话，我可以帮您转人工客服，说一声就行。",
}
_RETRY_OR_PERSON: Mapping[Language, str] = {
    "en": "You can try again in a moment, or ask for a colleague.",
    "zh": "您可以稍后点“重试”，也可以让我转人工客服。",
}
_PERSON_WILL_LOOK: Mapping[Language, str] = {
    "en": "A colleague will look at this and answer here.",
    "zh": "接下来由人工客服为您查看，并在这里回复您。",
}

# In place of a closing, where a run is queued that asks the model again by itself.
_ASKS_AGAIN: Mapping[Language, str] = {
    "en": "I will try again by myself and answer here; you need do nothing.",
    "zh": "稍后我会自动重新查询，并在这里回复您，您不需要再问一遍。",
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
            "zh": "您问的内容，我这边无法全部查到。",
        },
        _OFFER,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.TOOL_FAILED: Ending(
        {
            "en": "One of our systems is not answering at the moment, "
            "so part of this is still open.",
            "zh": "有个系统暂时没有响应，所以有些信息现在还查不到。",
        },
        _RETRY_OR_PERSON,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.STEP_LIMIT: Ending(
        {
            "en": "This took more steps than I may use for one question, "
            "so I stopped here.",
            "zh": "这个问题要查的步骤太多，我先查到这里。",
        },
        _OFFER,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.TIME_LIMIT: Ending(
        {
            "en": "This took longer than it should, so I stopped here.",
            "zh": "这次查询花的时间太长，我先停在这里。",
        },
        _RETRY_OR_PERSON,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.TOKEN_LIMIT: Ending(
        {
            "en": "This was more than I can work through at once, so I stopped here.",
            "zh": "这个问题内容较多，超出了我一次能处理的量，我先停在这里。",
        },
        _OFFER,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.BUDGET_LIMIT: Ending(
        {
            "en": "The assistant has used up what it may do today.",
            "zh": "智能助手今天的用量已到上限。",
        },
        _PERSON_WILL_LOOK,
        hand_over=HandOverMode.MADE,
    ),
    StopReason.REPEATED_ACTION: Ending(
        {
            "en": "I kept looking up the same thing, so I stopped here.",
            "zh": "我一直在重复同样的查询，就先停下来了。",
        },
        _OFFER,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.NO_PROGRESS: Ending(
        {
            "en": "Looking further brought nothing new, so I stopped here.",
            "zh": "再查下去也没有新的信息，我先停在这里。",
        },
        _OFFER,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.REFUSED_ACTION: Ending(
        {
            "en": "I found no way of looking this up that I am allowed to take, "
            "so I stopped here.",
            "zh": "我没能用允许的方式查到结果，先停在这里。",
        },
        _OFFER,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.MODEL_ERROR: Ending(
        {
            "en": "The assistant cannot be reached at the moment. "
            "Your message is kept.",
            "zh": "智能助手暂时连接不上，您的消息已经保存。",
        },
        _RETRY_OR_PERSON,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.INTERNAL_ERROR: Ending(
        {
            "en": "Something went wrong on our side. Your message is kept.",
            "zh": "我们这边出了点问题，您的消息已经保存。",
        },
        _RETRY_OR_PERSON,
        can_retry=True,
        hand_over=HandOverMode.OFFERED,
    ),
    StopReason.HANDED_OVER: Ending(
        _NOTHING, _PERSON_WILL_LOOK, hand_over=HandOverMode.MADE
    ),
    StopReason.CANCELLED: Ending(
        {"en": "Stopped, as you asked.", "zh": "好的，已经停下来了。"},
        {"en": "You can ask again at any time.", "zh": "您随时可以接着问。"},
        can_retry=True,
    ),
}

# What a card is about, and so is not told beside it.
_ON_THE_CARD = frozenset(
    {Need.CANCEL, Need.CHANGE_ADDRESS, Need.RETURN, Need.REFUND_STATUS}
)

NUDGE: Mapping[Language, str] = {
    "en": "Nothing new: change the approach, or answer with what is known.",
    "zh": "没有新的信息：请换一种方法，或者根据已知的信息回答。",
}
# Where the run did not mean to find out the rest, only what was found is told.
_TELLS_ONLY_FINDINGS = frozenset(
    {StopReason.CANCELLED, StopReason.HANDED_OVER, StopReason.AWAITING_APPROVAL}
)


def ended(
    end: Stop | Suspend,
    state: RunState,
    rules: Rules,
    *,
    step: int,
    at: datetime,
    usage: Usage | None = None,
    model_ms: int = 0,
) -> Stopped:
    """The last event of a run: its reason, and what the customer reads."""
    stop = Stop(StopReason.AWAITING_APPROVAL) if isinstance(end, Suspend) else end
    ending = _ending_for(stop, state)
    answer, coverage = _answer(stop, ending, state, rules)
    asked = stop.proposal if isinstance(stop.proposal, AskCustomer) else None
    return Stopped(
        step,
        stop.reason,
        answer,
        at,
        coverage=coverage,
        options=asked.options if asked else (),
        form=asked.form if asked else None,
        hand_over=ending.hand_over,
        hand_over_reason=_hand_over_reason(stop, ending, state),
        can_retry=ending.can_retry,
        request=end.call if isinstance(end, Suspend) else None,
        usage=usage or Usage(),
        model_ms=model_ms,
    )


def broken(state: RunState, problem: str, *, at: datetime) -> Stopped:
    """The end of a run in which our own code failed; ``problem`` is for staff.

    Built from the table alone: whatever failed may fail again.
    """
    ending = ENDINGS[StopReason.INTERNAL_ERROR]
    language = known.language_of(state)
    return Stopped(
        state.step,
        StopReason.INTERNAL_ERROR,
        _joined(language, ending.opening[language], "", ending.closing[language]),
        at,
        hand_over=ending.hand_over,
        can_retry=ending.can_retry,
        problem=problem,
    )


def model_away(stopped: Stopped, state: RunState, *, asks_again: bool) -> Stopped:
    """The end of a run whose model is away, once it is known what follows.

    Either a run that asks again stands in the same transaction, or a person will look.
    Where a person was asked for anyway it stays as it is.
    """
    if stopped.hand_over is HandOverMode.MADE:
        return stopped
    language = known.language_of(state)
    closing = ENDINGS[StopReason.MODEL_ERROR].closing[language]
    instead = (_ASKS_AGAIN if asks_again else _PERSON_WILL_LOOK)[language]
    made = HandOverMode.NONE if asks_again else HandOverMode.MADE
    return replace(
        stopped,
        answer=stopped.answer.removesuffix(closing) + instead,
        hand_over=made,
        hand_over_reason="" if asks_again else "the model was away too long",
        can_retry=False,
    )


def _ending_for(stop: Stop, state: RunState) -> Ending:
    """The row of the table; a person who was asked for comes however the run ends."""
    ending = ENDINGS[stop.reason]
    if ending.hand_over is HandOverMode.OFFERED and _wants_person(state):
        return replace(ending, closing=_PERSON_WILL_LOOK, hand_over=HandOverMode.MADE)
    return ending


def _wants_person(state: RunState) -> bool:
    return state.question is not None and Need.HUMAN in state.question.needs


def _answer(
    stop: Stop, ending: Ending, state: RunState, rules: Rules
) -> tuple[str, Coverage]:
    """A draft that passed is told as it is; everything else is worded here."""
    language = known.language_of(state)
    closing = ending.closing[language]
    if isinstance(stop.proposal, FinalAnswer | AskCustomer):
        made = ending.hand_over is HandOverMode.MADE
        told = _joined(
            language, "", stop.proposal.text.strip(), closing if made else ""
        )
        return told, stop.coverage or Coverage()
    slots = outcomes.slots_so_far(state, rules)
    if stop.reason is StopReason.AWAITING_APPROVAL:
        # The card tells what would be done; "I cannot do that myself" is untrue of it.
        slots = tuple(slot for slot in slots if slot.need not in _ON_THE_CARD)
        # Of an order that nobody named it has to be said which one the card is about.
        slots = slots or outcomes.how_it_stands(state, rules)
    if stop.reason in _TELLS_ONLY_FINDINGS:
        slots = tuple(slot for slot in slots if slot.state is not SlotState.OPEN)
    found = outcomes.told_by_code(slots, state)
    # Its claims tie what is told to the observations that prove it.
    claims = outcomes.check(found, state, rules).claims if found else ()
    opening = ending.opening[language]
    if stop.reason is StopReason.HANDED_OVER:
        opening = regret(known.question_of(state))
    answer = _joined(language, opening, found, closing)
    return answer, Coverage(outcomes.slots_so_far(state, rules), claims)


def _joined(language: Language, opening: str, found: str, closing: str) -> str:
    parts = [part for part in (opening, found, closing) if part]
    sentence_gap = " " if language == "en" else ""
    return ("\n\n" if found else sentence_gap).join(parts)


def _hand_over_reason(stop: Stop, ending: Ending, state: RunState) -> str:
    if isinstance(stop.proposal, HandOver):
        return stop.proposal.reason
    if ending.hand_over is not HandOverMode.MADE:
        return ""
    return "the customer asks for a person" if _wants_person(state) else stop.reason
