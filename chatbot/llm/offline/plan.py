"""Which move comes next: look something up, ask back, hand over, or answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from chatbot.llm.offline import compose
from chatbot.llm.offline.phrases import HELP_QUERIES, NOTES, phrases_for
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
from chatbot.understanding.needs import Need, Question, Topic
from tools.contracts import Json, ObservationStatus, ToolCall, ToolSpec

MAX_ORDERS = 3
MAX_PARCELS = 3
MAX_QUERY = 200
# Enough for the longest question, and well under any limit of a run.
MAX_CALLS = 7

_WANT_PERSON = {
    Topic.LEGAL_THREAT: "the customer threatens legal steps",
    Topic.SAFETY: "the customer writes of danger or injury",
    Topic.ANGRY: "the customer is angry",
}
_TRACKED = frozenset({Need.LOCATION, Need.ETA, Need.SHIPPED, Need.ORDER_STATUS})
_TRACKED_TOPICS = frozenset(
    {Topic.LATE, Topic.NOT_RECEIVED, Topic.DELIVERED_NOT_RECEIVED}
)
_READ_HELP = frozenset({Need.POLICY, Need.INVOICE, Need.RETURN})
_HELP_TOPICS = frozenset(
    {Topic.DAMAGED, Topic.MISSING_ITEM, Topic.WRONG_ITEM, Topic.REFUND_REQUEST}
) | {Topic.EXCHANGE}
_TAKES_PERSON = re.compile(
    r"\s*(?:好的?|好吧|可以|行|是的?|嗯+|要|需要|麻烦(?:你|您)?了?|转吧|请转|(?:转|要|找)?人工"
    r"|y|yes|yep|yeah|ok|okay|sure|please|yes please|please do"
    r"|(?:yes,? )?(?:an? )?(?:person|human|agent)(?: please)?)[\s,.!。！~～]*",
    re.IGNORECASE,
)


def next_move(state: RunState, tools: Sequence[ToolSpec]) -> Proposal:
    """The one proposal for this state; equal states give equal proposals."""
    question = state.question
    if question is None:
        raise ValueError("the run has no question yet")
    return (
        _person(state, question)
        or _small_talk(state, question)
        or _look_up_or_answer(state, question, frozenset(tool.name for tool in tools))
    )


# ---- a person


def _person(state: RunState, question: Question) -> HandOver | None:
    for topic, reason in _WANT_PERSON.items():
        if topic in question.topics and not _facts_first(state, question, topic):
            return HandOver(reason)
    if Need.HUMAN in question.needs:
        return HandOver("the customer asks for a person")
    if _TAKES_PERSON.fullmatch(question.text) and _offered(state.background.turns):
        return HandOver("the customer takes the offer of a person")
    if not _understood(question) and _missed_before(state):
        return HandOver("two messages in a row were not understood")
    return None


def _facts_first(state: RunState, question: Question, topic: Topic) -> bool:
    """Whether someone angry asks for something that can be looked up at once."""
    asks = question.needs not in ((Need.NONE,), (Need.HUMAN,))
    return (
        topic is Topic.ANGRY
        and asks
        and Need.HUMAN not in question.needs
        and bool(find_target(state, Seen.of(state)).orders)
    )


def _offered(turns: Sequence[Turn]) -> bool:
    last = next((turn for turn in reversed(turns) if turn.speaker == "assistant"), None)
    return last is not None and bool(re.search("人工|a person", last.text))


def _understood(question: Question) -> bool:
    return bool(
        question.needs != (Need.NONE,)
        or question.out_of_scope
        or question.topics
        or question.order_numbers
        or question.tracking_numbers
    )


def _missed_before(state: RunState) -> bool:
    earlier = state.background.earlier_questions
    return bool(earlier) and not _understood(earlier[-1])


# ---- no order in it


def _small_talk(state: RunState, question: Question) -> Proposal | None:
    if question.needs != (Need.NONE,):
        return None
    say = phrases_for(question.language)
    if question.out_of_scope:
        return FinalAnswer(say.out_of_scope)
    if question.order_numbers or question.tracking_numbers or question.bare_numbers:
        return None
    if question.topics & (_TRACKED_TOPICS | _HELP_TOPICS | _ORDER_TOPICS):
        return None
    for topic, words in (
        (Topic.CAPABILITIES, say.capabilities),
        (Topic.THANKS, say.thanks),
        (Topic.GREETING, say.greeting),
        (Topic.SMALL_TALK, say.small_talk),
    ):
        if topic in question.topics:
            return FinalAnswer(words)
    if question.refers_back and find_target(state, Seen.of(state)).orders:
        return None
    return AskCustomer(say.not_understood)


_ORDER_TOPICS = frozenset({Topic.MY_ORDERS, Topic.PAID_NO_ORDER, Topic.REFUND_LATE})


# ---- orders, parcels and articles


def _look_up_or_answer(
    state: RunState, question: Question, names: frozenset[str]
) -> Proposal:
    seen = Seen.of(state)
    target = find_target(state, seen)
    if seen.calls < MAX_CALLS and not seen.sent_back:
        wanted = _next_call(question, seen, target)
        for name, argument, value in wanted:
            if name in names and not seen.tried(name, value):
                return _call(state, question, name, argument, value)
    if target.choices:
        return _ask_which(question, target)
    answer = compose.answer(state, seen, target)
    if Topic.ANGRY in question.topics and isinstance(answer, FinalAnswer):
        # The end of the run tells what was found.
        return HandOver(_WANT_PERSON[Topic.ANGRY])
    return answer


def _next_call(
    question: Question, seen: Seen, target: Target
) -> Sequence[tuple[str, str, str]]:
    """The calls that the question needs, in order; those made already among them."""
    if target.must_list and seen.listed is None:
        return [("list_my_orders", "", "")]
    wanted: list[tuple[str, str, str]] = []
    for order in target.orders[:MAX_ORDERS]:
        wanted.append(("get_order", "order_id", order))
        if question_tracks(question):
            found = seen.get("get_order", order)
            for parcel in tracking_ids(found)[:MAX_PARCELS] if found else ():
                wanted.append(("track_shipment", "tracking_id", parcel))
        if question_refunds(question):
            wanted.append(("get_refund", "order_id", order))
    for parcel in question.tracking_numbers[:MAX_PARCELS]:
        wanted.append(("track_shipment", "tracking_id", parcel))
    if reads_help(question) and not target.choices:
        wanted += [
            ("search_help", "query", query) for query in _queries(question, seen)
        ]
    # What does not exist has neither parcels nor refunds.
    return [
        one
        for one in wanted
        if not (one[0] == "get_refund" and _is_missing(seen, one[2]))
    ]


def _queries(question: Question, seen: Seen) -> Iterator[str]:
    """What to search the help centre for; a second time only where nothing was found.

    A rule is looked for in the customer's own words, what is always the same (a return,
    an invoice) under its name.
    """
    names = HELP_QUERIES[question.language]
    wishes = frozenset(question.needs) | question.topics
    named = [query for wish, query in names.items() if wish in wishes]
    own_words = " ".join(question.text.split())[:MAX_QUERY]
    queries = [own_words] if Need.POLICY in question.needs or not named else []
    for query in [*queries, *named[:1]]:
        yield query
        found = seen.get("search_help", query)
        if found is None or has_article(found):
            return


def _is_missing(seen: Seen, order: str) -> bool:
    found = seen.get("get_order", order)
    return found is not None and found.status is not ObservationStatus.OK


def question_tracks(question: Question) -> bool:
    return bool(
        _TRACKED & set(question.needs)
        or _TRACKED_TOPICS & question.topics
        or question.needs == (Need.NONE,)
    )


def question_refunds(question: Question) -> bool:
    return Need.REFUND_STATUS in question.needs or Topic.REFUND_LATE in question.topics


def reads_help(question: Question) -> bool:
    return bool(_READ_HELP & set(question.needs) or _HELP_TOPICS & question.topics)


def _ask_which(question: Question, target: Target) -> AskCustomer:
    say = phrases_for(question.language)
    sorry = compose.sympathy(question)
    gap = " " if sorry and question.language == "en" else ""
    return AskCustomer(f"{sorry}{gap}{say.which_order}", target.choices)


def _call(
    state: RunState, question: Question, name: str, argument: str, value: str
) -> ToolCall:
    arguments: Mapping[str, Json] = {argument: value} if argument else {}
    return ToolCall(
        id=f"c{len(state.events):05d}000",
        name=name,
        arguments=arguments,
        thought=NOTES[question.language][name],
    )
