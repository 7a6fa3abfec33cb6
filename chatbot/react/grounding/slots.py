"""What the question needs, slot by slot, and which observation fills each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from chatbot.react.facts import Fact, canonical
from chatbot.react.grounding.evidence import Evidence, Subject
from chatbot.react.types import Background, Proof, Slot, SlotState
from chatbot.understanding.needs import Need, Question
from chatbot.understanding.references import points_elsewhere, resolve_orders
from tools.contracts import (
    ActionKind,
    Json,
    Observation,
    ObservationStatus,
    canonical_number,
)

# Needs that are not about one order: the help centre answers them.
_GENERAL = frozenset({Need.POLICY, Need.INVOICE})
# Needs that each parcel of an order answers for itself.
_BY_PARCEL = frozenset({Need.LOCATION, Need.ETA})
# The changes that a need is a wish for, by their tools.
_CHANGES: Mapping[Need, tuple[ActionKind, ...]] = {
    Need.CANCEL: (ActionKind.CANCEL_ORDER,),
    Need.CHANGE_ADDRESS: (ActionKind.CHANGE_ADDRESS,),
    Need.RETURN: (ActionKind.RETURN_ITEMS, ActionKind.EXCHANGE_ITEMS),
}
_NO_ANSWER = frozenset(
    {
        ObservationStatus.TIMEOUT,
        ObservationStatus.UNAVAILABLE,
        ObservationStatus.BAD_RESULT,
    }
)
_MAX_PARCELS = 4
_MAX_LISTED = 8
_INDEX = re.compile(r"\[\d+\]")


def slots_of(
    answer_numbers: Sequence[str],
    *,
    question: Question,
    evidence: Evidence,
    proofs: Sequence[Proof],
    background: Background,
) -> tuple[Slot, ...]:
    """One slot for each need of the question about each order it is about.

    ``answer_numbers`` are the canonical orders that the draft names: where the question
    names none and a list of orders was observed, they tell which ones are meant.
    """
    needs = [need for need in question.needs if need is not Need.NONE]
    if not needs:
        return ()
    subjects = subjects_of(
        answer_numbers, question=question, evidence=evidence, background=background
    )
    slots: list[Slot] = []
    for need in needs:
        if need is Need.HUMAN:
            slots.append(Slot(need, None, SlotState.OPEN, why="not_asked"))
        elif need in _GENERAL:
            slots.append(_general_slot(need, evidence, proofs))
        else:
            meant = tuple(one for one in subjects if _is_asked(need, one, question))
            if meant or not subjects:
                slots.extend(_order_slots(need, meant, evidence, proofs))
    # A slot's value may be a list, so a set would not hold it.
    return tuple(slot for i, slot in enumerate(slots) if slot not in slots[:i])


def _is_asked(need: Need, subject: Subject, question: Question) -> bool:
    return subject.order is None or need in question.needs_of(subject.order)


def subjects_of(
    answer_numbers: Sequence[str],
    *,
    question: Question,
    evidence: Evidence,
    background: Background,
) -> tuple[Subject, ...]:
    """The orders or parcels that the question is about; empty where nothing tells."""
    tracking = tuple(
        evidence.subject_of(key) or Subject(None, key)
        for number in question.tracking_numbers
        if (key := canonical(number))
    )
    named = tuple(Subject(key) for n in question.order_numbers if (key := canonical(n)))
    if named or tracking:
        covered = {one.order for one in named}
        return (
            *named,
            *(one for one in tracking if one.order not in covered or not one.order),
        )
    looked_at = _looked_at(evidence)
    if points_elsewhere(question.text):
        return looked_at
    own = [evidence.spelling[key] for key in evidence.orders]
    meant = tuple(
        Subject(key)
        for number in resolve_orders(
            question, earlier=background.earlier_questions, own_orders=own
        )
        if (key := canonical(number))
    )
    if meant and (
        question.refers_back
        or question.fragment
        or not looked_at
        or any(one in looked_at for one in meant)
        or question.bare_numbers
    ):
        return meant
    if looked_at:
        return looked_at
    return _listed(answer_numbers, evidence)


def _looked_at(evidence: Evidence) -> tuple[Subject, ...]:
    """The orders that were asked for one by one."""
    found: dict[Subject, None] = {}
    for one in evidence.observations:
        if one.tool in ("get_order", "get_refund"):
            key = canonical(one.arguments.get("order_id"))
            if key:
                found[Subject(key)] = None
        elif one.tool == "track_shipment":
            key = canonical(one.arguments.get("tracking_id"))
            order = canonical(one.fields.get("order_id")) or (
                evidence.order_of_parcel.get(key) if key else None
            )
            if order or key:
                found[Subject(order) if order else Subject(None, key)] = None
    return tuple(found)


def _listed(answer_numbers: Sequence[str], evidence: Evidence) -> tuple[Subject, ...]:
    named = tuple(Subject(n) for n in answer_numbers if n in evidence.orders)
    if named:
        return named
    return tuple(Subject(key) for key in evidence.orders[:_MAX_LISTED])


def _general_slot(need: Need, evidence: Evidence, proofs: Sequence[Proof]) -> Slot:
    tools = {proof.tool for proof in proofs if proof.need is need}
    asked = [one for one in evidence.observations if one.tool in tools]
    for fact in evidence.facts:
        if _proves(need, fact, proofs):
            return _filled(need, None, None, (fact,), evidence)
    # One search without an answer, and "no article" is not known.
    failed = [one for one in asked if one.status is not ObservationStatus.OK]
    return _unfilled(need, None, None, failed or asked)


def _order_slots(
    need: Need,
    subjects: Sequence[Subject],
    evidence: Evidence,
    proofs: Sequence[Proof],
) -> Iterable[Slot]:
    if not subjects:
        if need is Need.RETURN and _searched(evidence):
            yield _general_slot(need, evidence, proofs)
            return
        listings = [one for one in evidence.ok if one.tool == "list_my_orders"]
        failed = [one for one in evidence.observations if one not in evidence.ok]
        if listings:
            yield _from(
                Slot(need, None, SlotState.UNFILLABLE, why="not_found"), listings[-1]
            )
        else:
            yield _unfilled(need, None, None, failed)
        return
    for subject in subjects:
        parcels = evidence.parcels_of(subject.order) if subject.order else ()
        if need in _BY_PARCEL and not subject.tracking and len(parcels) > 1:
            for parcel in parcels[:_MAX_PARCELS]:
                yield _slot(need, Subject(subject.order, parcel), evidence, proofs)
        else:
            yield _slot(need, subject, evidence, proofs)


def _change_not_known(
    need: Need, subject: Subject, evidence: Evidence
) -> Observation | None:
    """The look whether a change is possible that brought no answer, if there is one."""
    for kind in _CHANGES.get(need, ()):
        for one in evidence.calls(kind, "order_id", subject.order or ""):
            if one.status in _NO_ANSWER:
                return one
    return None


def _searched(evidence: Evidence) -> bool:
    return any(one.tool == "search_help" for one in evidence.observations)


def _slot(
    need: Need, subject: Subject, evidence: Evidence, proofs: Sequence[Proof]
) -> Slot:
    if (failed := _change_not_known(need, subject, evidence)) is not None:
        return _unfilled(need, subject, None, [failed], evidence)
    facts = evidence.about(subject)
    for proof in (one for one in proofs if one.need is need):
        proved = tuple(fact for fact in facts if _proves(need, fact, (proof,)))
        if proved:
            return _filled(need, subject, proof, proved, evidence)
    if need is Need.RETURN and evidence.articles:
        return _general_slot(need, evidence, proofs)
    return _unfilled_about(need, subject, evidence, proofs)


def _unfilled_about(
    need: Need, subject: Subject, evidence: Evidence, proofs: Sequence[Proof]
) -> Slot:
    """Why nothing fills this need: a failure, an absent field, or nobody asked."""
    tools = {proof.tool for proof in proofs if proof.need is need}
    parcels = (
        (subject.tracking,)
        if subject.tracking
        else evidence.parcels_of(subject.order)
        if subject.order
        else ()
    )
    tracked = [
        one
        for parcel in parcels
        for one in evidence.calls("track_shipment", "tracking_id", parcel)
    ]
    order = subject.order or ""
    orders = list(evidence.calls("get_order", "order_id", order)) if order else []
    refunds = list(evidence.calls("get_refund", "order_id", order)) if order else []
    listed = (
        [
            one
            for one in evidence.ok
            if one.tool == "list_my_orders" and order in evidence.orders
        ]
        if order
        else []
    )
    asked: list[Observation] = []
    if "track_shipment" in tools:
        asked += tracked
        if not parcels:
            # Nothing can be tracked: the order itself shows that there is no parcel.
            asked += orders
    if "get_order" in tools:
        asked += orders
    if "get_refund" in tools:
        asked += refunds or [
            one for one in orders if one.status is not ObservationStatus.OK
        ]
    if not asked and not orders and "list_my_orders" in tools:
        asked += listed
    return _unfilled(need, subject, parcels[0] if parcels else None, asked, evidence)


def _unfilled(
    need: Need,
    subject: Subject | None,
    parcel: str | None,
    asked: Sequence[Observation],
    evidence: Evidence | None = None,
) -> Slot:
    order = _spelled(subject.order if subject else None, evidence)
    tracking = _spelled(parcel, evidence)
    if not asked:
        return Slot(need, order, SlotState.OPEN, why="not_asked", tracking_id=tracking)
    last = asked[-1]
    why = "missing_field" if last.status is ObservationStatus.OK else last.status.value
    slot = Slot(need, order, SlotState.UNFILLABLE, why=why, tracking_id=tracking)
    return _from(slot, last)


def _from(slot: Slot, observation: Observation) -> Slot:
    return Slot(
        need=slot.need,
        order=slot.order,
        state=slot.state,
        observation_id=observation.id,
        observed_at=observation.observed_at,
        source=observation.source,
        why=slot.why,
        tracking_id=slot.tracking_id,
    )


def _filled(
    need: Need,
    subject: Subject | None,
    proof: Proof | None,
    facts: Sequence[Fact],
    evidence: Evidence,
) -> Slot:
    fact = facts[0]
    observation = evidence.by_id[fact.observation_id]
    several = proof is not None and "[]" in proof.path and len(facts) > 1
    value: Json = (
        [_json(one) for one in facts if one.name == fact.name]
        if several
        else _json(fact)
    )
    return Slot(
        need=need,
        order=_spelled(subject.order if subject else None, evidence),
        state=SlotState.FILLED,
        observation_id=fact.observation_id,
        path=fact.path,
        value=value,
        observed_at=observation.observed_at,
        source=observation.source,
        tracking_id=_spelled(fact.tracking, evidence),
    )


def _json(fact: Fact) -> Json:
    value = fact.value
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _spelled(number: str | None, evidence: Evidence | None) -> str | None:
    if number is None or evidence is None:
        return number
    return evidence.spelling.get(number) or evidence.written.get(number, number)


def _proves(need: Need, fact: Fact, proofs: Sequence[Proof]) -> bool:
    if fact.value is None or fact.value == "":
        return False
    path = _INDEX.sub("[]", fact.path)
    return any(
        proof.need is need and proof.tool == fact.tool and proof.path == path
        for proof in proofs
    )


def canonical_set(numbers: Iterable[str]) -> frozenset[str]:
    return frozenset(canonical_number(number) for number in numbers)
