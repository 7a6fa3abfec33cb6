"""Which move comes next: look something up, ask back, hand over, or answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from chatbot.llm.offline import care, changes, compose
from chatbot.llm.offline.phrases import NOTES, phrases_for
from chatbot.llm.offline.seen import Seen, has_article, tracking_ids
from chatbot.llm.offline.target import Target, find_target
from chatbot.react.types import (
    AskCustomer,
    FinalAnswer,
    HandOver,
    Proposal,
    RunState,
    Turn,
)
from chatbot.understanding.kinds import PARCEL_TROUBLE
from chatbot.understanding.needs import Need, Question, Topic
from tools.contracts import Json, ObservationStatus, ToolCall, ToolSpec

MAX_ORDERS = 3
MAX_PARCELS = 3
MAX_QUERY = 200
# Enough for the longest question, and well under any limit of a run.
MAX_CALLS = 7

Call: TypeAlias = tuple[str, Mapping[str, Json]]

_WANT_PERSON = {
    Topic.LEGAL_THREAT: "the customer threatens legal steps",
    Topic.SAFETY: "the customer writes of danger or injury",
    Topic.ANGRY: "the customer is angry",
}
_TRACKED = frozenset({Need.LOCATION, Need.ETA, Need.SHIPPED, Need.ORDER_STATUS})
_LOOKED_UP = _TRACKED | {Need.TRACKING_ID, Need.REFUND_STATUS}
_TAKES_PERSON = re.compile(
    r"(?:\s*(?:好的?|好吧|可以|行|是的?|嗯+|要|需要|麻烦(?:你|您)?了?|转吧|请转|(?:转|要|找)?人工"
    r"|y|yes|yep|yeah|ok|okay|sure|please|yes please|please do"
    r"|(?:yes,? )?(?:an? )?(?:person|human|agent)(?: please)?)[\s,.!。！~～]*)+",
    re.IGNORECASE,
)


def next_move(state: RunState, tools: Sequence[ToolSpec]) -> Proposal:
    """The one proposal for this state; equal states give equal proposals."""
    question = state.question
    if question is None:
        raise ValueError("the run has no question yet")
    names = frozenset(tool.name for tool in tools)
    reason = _wants_person(state, question)
    if reason and not _facts_first(state, question):
        return HandOver(reason)
    return (not reason and _small_talk(state, question)) or _look_up_or_answer(
        state, question, names, reason
    )


# ---- a person


def _wants_person(state: RunState, question: Question) -> str:
    """Why a person has to come, for staff; "" where none has to."""
    for topic, reason in _WANT_PERSON.items():
        if topic in question.topics:
            return reason
    if Need.HUMAN in question.needs:
        return "the customer asks for a person"
    if _TAKES_PERSON.fullmatch(question.text) and _offered(state.background.turns):
        return "the customer takes the offer of a person"
    if not _understood(question) and _missed_before(state):
        return "two messages in a row were not understood"
    return ""


def _facts_first(state: RunState, question: Question) -> bool:
    """Whether what they ask of an order can be looked up before a person comes."""
    named = question.order_numbers or question.tracking_numbers
    asks = _LOOKED_UP & set(question.needs) or PARCEL_TROUBLE & question.topics
    if named and (asks or Topic.ANGRY in question.topics):
        return True
    angry = Topic.ANGRY in question.topics and Need.HUMAN not in question.needs
    return bool(angry and asks and find_target(state, Seen.of(state)).orders)


def _offered(turns: Sequence[Turn]) -> bool:
    last = next((turn for turn in reversed(turns) if turn.speaker == "assistant"), None)
    return last is not None and bool(re.search("人工|a person", last.text))


def _understood(question: Question) -> bool:
    return bool(
        question.needs != (Need.NONE,)
        or (question.out_of_scope and not _is_a_mumble(question))
        or question.topics
        or question.order_numbers
        or question.tracking_numbers
    )


def _is_a_mumble(question: Question) -> bool:
    """Whether a message is too short to be of any subject ("uhm well")."""
    words = re.findall(r"[A-Za-z]+|[\u4e00-\u9fff]{1,2}", question.text)
    return len(set(words)) <= 2 and not re.search("[?？]", question.text)


def _missed_before(state: RunState) -> bool:
    earlier = state.background.earlier_questions
    return bool(earlier) and not _understood(earlier[-1])


# ---- no order in it


def _small_talk(state: RunState, question: Question) -> Proposal | None:
    if question.needs != (Need.NONE,):
        return None
    guest = state.background.guest is not None
    say = phrases_for(question.language, guest=guest)
    if question.order_numbers or question.tracking_numbers:
        return None
    if question.out_of_scope and not _is_a_mumble(question):
        return FinalAnswer(say.out_of_scope)
    if question.bare_numbers:
        return None
    if question.topics & (PARCEL_TROUBLE | _HELP_TOPICS | _ORDER_TOPICS):
        return None
    if care.asks_something(question):
        return None
    for topic, words in (
        (Topic.CAPABILITIES, say.capabilities),
        (Topic.THANKS, say.thanks),
        (Topic.GREETING, say.greeting),
        (Topic.SMALL_TALK, say.small_talk),
    ):
        if topic in question.topics:
            return FinalAnswer(words)
    if question.refers_back and _points_at_orders(state):
        return None
    return AskCustomer(say.not_understood)


def _points_at_orders(state: RunState) -> bool:
    """Whether "it" has an order, or "the other one" may have: of several, one asks."""
    target = find_target(state, Seen.of(state))
    return bool(target.orders or target.must_list)


_HELP_TOPICS = frozenset({Topic.REFUND_REQUEST, Topic.EXCHANGE})
_ORDER_TOPICS = frozenset({Topic.MY_ORDERS, Topic.PAID_NO_ORDER, Topic.REFUND_LATE})


# ---- orders, parcels and articles


def _look_up_or_answer(
    state: RunState, question: Question, names: frozenset[str], person: str
) -> Proposal:
    seen = Seen.of(state)
    target = find_target(state, seen)
    if seen.calls < MAX_CALLS and not seen.sent_back:
        said = _said(state, question)
        for name, arguments in _calls(question, seen, target, said):
            value = next(iter(arguments.values()), "")
            if name in names and not seen.tried(name, str(value)):
                return _call(state, question, name, arguments)
    if person:
        # The end of the run tells what was found.
        return HandOver(person)
    if target.choices:
        return compose.ask_which(state, seen, target)
    return compose.answer(state, seen, target)


def _said(state: RunState, question: Question) -> str:
    """The customer's words: of a fragment, also those that it lives on."""
    earlier = state.background.earlier_questions
    if question.fragment and earlier:
        return f"{earlier[-1].text}\n{question.text}"
    return question.text


def _calls(question: Question, seen: Seen, target: Target, said: str) -> Iterator[Call]:
    """The calls that the question needs, in order; those made already among them."""
    if target.must_list:
        yield "list_my_orders", {}
        if seen.listed is None:
            return
    for order in target.orders[:MAX_ORDERS]:
        yield from _calls_about(order, question, seen)
    for parcel in question.tracking_numbers[:MAX_PARCELS]:
        yield "track_shipment", {"tracking_id": parcel}
    for order, action in care.checks(question, seen, target):
        yield "check_action", {"order_id": order, "action": action}
    yield from changes.wanted(question, seen, target, said)
    for query in _queries(question, seen, target):
        yield "search_help", {"query": query}


def _calls_about(order: str, question: Question, seen: Seen) -> Iterator[Call]:
    yield "get_order", {"order_id": order}
    found = seen.get("get_order", order)
    needs = question.needs_of(order)
    if _tracks(needs, question):
        for parcel in tracking_ids(found)[:MAX_PARCELS] if found else ():
            yield "track_shipment", {"tracking_id": parcel}
    # What does not exist has no refunds either.
    there = found is None or found.status is ObservationStatus.OK
    if there and (Need.REFUND_STATUS in needs or Topic.REFUND_LATE in question.topics):
        yield "get_refund", {"order_id": order}


def _queries(question: Question, seen: Seen, target: Target) -> Iterator[str]:
    """What to search the help centre for; a second time only where nothing was found.

    A rule is looked for in the customer's own words, what is always the same (a return,
    an invoice, a damaged parcel) under its name, and how long things may take only once
    it is known how late they are.
    """
    if not care.reads_help(question):
        yield from care.late_queries(question, seen, target)
        return
    if target.choices and not question.topics & care.TROUBLE:
        return
    named = list(care.named_queries(question))
    own_words = " ".join(question.text.split())[:MAX_QUERY]
    queries = [own_words] if Need.POLICY in question.needs or not named else []
    for query in [*queries, *named]:
        yield query
        found = seen.get("search_help", query)
        if found is None or has_article(found):
            return


def _tracks(needs: Sequence[Need], question: Question) -> bool:
    return bool(
        _TRACKED & set(needs)
        or (
            PARCEL_TROUBLE & question.topics
            and Topic.REFUND_LATE not in question.topics
        )
        or tuple(needs) == (Need.NONE,)
    )


def _call(
    state: RunState, question: Question, name: str, arguments: Mapping[str, Json]
) -> ToolCall:
    return ToolCall(
        id=f"c{len(state.events):05d}000",
        name=name,
        arguments=arguments,
        thought=NOTES[question.language].get(name) or changes.note(question.language),
    )
