"""Which slots a draft leaves unsaid."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatbot.react.facts import canonical
from chatbot.react.grounding.check import Check, Checked
from chatbot.react.grounding.evidence import Subject
from chatbot.react.grounding.honesty import is_negative, names_person, negative_spots
from chatbot.react.grounding.places import same_place
from chatbot.react.grounding.status_words import State
from chatbot.react.types import Slot, SlotState
from chatbot.understanding.needs import Language, Need

_S = State
# A word that answers "has it shipped?", beside "not shipped" itself.
_TELLS_SHIPPED = frozenset(
    {
        _S.SHIPPED, _S.ON_THE_WAY, _S.PICKED_UP, _S.IN_TRANSIT, _S.OUT_FOR_DELIVERY,
        _S.DELIVERED, _S.DELIVERY_FAILED, _S.RETURNING, _S.RETURNED, _S.CANCELLED,
        _S.UNPAID, _S.PACKED, _S.PENDING, _S.REFUNDED, _S.UNSHIPPED,
    }
)  # fmt: skip
# States that explain by themselves why there is no place or arrival time.
_EXPLAINS_NONE = frozenset(
    {
        _S.UNPAID, _S.PAID, _S.PACKED, _S.CANCELLED, _S.DELIVERED, _S.RETURNED,
        _S.REFUNDED, _S.PENDING, _S.RETURNING, _S.UNSHIPPED,
    }
)  # fmt: skip
_HAN = re.compile(r"[\u4e00-\u9fff]")
_REFUND = frozenset(state for state in State if state.startswith("refund"))
_ACTIONS = frozenset({Need.CANCEL, Need.CHANGE_ADDRESS, Need.RETURN})


def unsaid(
    slots: Sequence[Slot], checked: Sequence[Checked], check: Check
) -> tuple[Slot, ...]:
    """The slots that are open, or that the draft does not speak of."""
    several = len({slot.order for slot in slots}) > 1
    return tuple(slot for slot in slots if not _is_said(slot, checked, check, several))


def _is_said(
    slot: Slot, checked: Sequence[Checked], check: Check, several: bool
) -> bool:
    if slot.need is Need.HUMAN:
        return names_person(check.draft.text)
    if slot.state is SlotState.OPEN:
        return False
    about = [one for one in checked if one.fact and _is_about(one, slot)]
    if slot.state is SlotState.UNFILLABLE:
        return _is_admitted(slot, about, check, several)
    return _is_told(slot, about, check)


def _is_about(one: Checked, slot: Slot) -> bool:
    order, parcel = canonical(slot.order), canonical(slot.tracking_id)
    if parcel and one.fact and one.fact.tracking not in (None, parcel):
        return False
    if slot.order is None and parcel is None:
        return True
    for subject in one.subjects:
        if order and subject.order == order:
            return True
        if not order and parcel and subject.tracking == parcel:
            return True
    fact = one.fact
    return fact is not None and not one.subjects and fact.order == order


def _is_admitted(
    slot: Slot, about: Sequence[Checked], check: Check, several: bool
) -> bool:
    if slot.why == "missing_field" and any(_explains(one) for one in about):
        return True
    text = check.draft.text
    if not several or slot.order is None:
        return is_negative(text)
    wanted = Subject(canonical(slot.order))
    return any(
        any(one.order == wanted.order for one in check.draft.about(spot).subjects)
        for spot in negative_spots(text)
    ) or any(
        mention.number == wanted.order and check.is_negative(mention.start)
        for mention in check.draft.numbers
    )


def _explains(one: Checked) -> bool:
    if one.state is None:
        return False
    if one.negated:
        return one.state in (_S.SHIPPED, _S.ON_THE_WAY)
    return one.state in _EXPLAINS_NONE


def _is_told(slot: Slot, about: Sequence[Checked], check: Check) -> bool:
    states = [one for one in about if one.state is not None]
    match slot.need:
        case Need.ORDER_STATUS:
            # Paid for long ago is no status.
            return any(one.fact and one.fact.name != "paid_at" for one in states)
        case Need.SHIPPED:
            return any(_tells_shipped(one) for one in states) or any(
                one.fact is not None and one.fact.name == "shipped_at" for one in about
            )
        case Need.LOCATION:
            return _place_is_told(slot, about) or _is_delivered(states)
        case Need.ETA:
            return any(
                one.fact is not None
                and one.fact.name in ("estimated_delivery_at", "delivered_at")
                and one.claim.kind == "date"
                for one in about
            ) or _is_delivered(states)
        case Need.TRACKING_ID:
            return _numbers_are_told(slot, check)
        case Need.REFUND_STATUS:
            return any(
                one.state in _REFUND and one.fact and one.fact.name != "requested_at"
                for one in states
            )
        case _:
            return _is_treated(slot, states, check)


def _tells_shipped(one: Checked) -> bool:
    if one.negated:
        return one.state in (_S.SHIPPED, _S.ON_THE_WAY)
    return one.state in _TELLS_SHIPPED


def _place_is_told(slot: Slot, about: Sequence[Checked]) -> bool:
    return any(
        one.fact is not None
        and one.claim.kind == "place"
        and same_place(str(one.fact.value), str(slot.value))
        for one in about
    )


def _is_delivered(states: Sequence[Checked]) -> bool:
    return any(one.state is _S.DELIVERED and not one.negated for one in states)


def _numbers_are_told(slot: Slot, check: Check) -> bool:
    values = slot.value if isinstance(slot.value, list) else [slot.value]
    said = {mention.number for mention in check.draft.numbers}
    return all(canonical(value) in said for value in values if value)


def _is_treated(slot: Slot, states: Sequence[Checked], check: Check) -> bool:
    """Policies and actions: told from an article, from the order's own status, or said
    plainly to be for a person."""
    text = check.draft.text
    if slot.need in _ACTIONS and (states or names_person(text)):
        return True
    if is_negative(text) and not check.articles.any:
        return True
    if not check.articles.any:
        return slot.need in _ACTIONS and is_negative(text)
    spoken: Language = "zh" if _HAN.search(text) else "en"
    # An article in the other language shares no words with its translation.
    return (
        check.articles.share(text) >= 0.3
        or check.articles.quoted_in(check.raw)
        or check.articles.is_foreign_to(spoken)
    )
