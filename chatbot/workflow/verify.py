"""Whether the audit is whole: every chain unbroken, every fact with its entry."""

from __future__ import annotations

from collections.abc import Iterator

from chatbot.workflow import facts
from chatbot.workflow.audit import broken_links
from chatbot.workflow.models import AuditEntry, Event
from tools.models import ActionRequest, Approval


def problems() -> Iterator[str]:
    """What does not fit, one line each; nothing where the audit is whole.

    A chain shows a changed, moved or missing entry by itself. Entries cut off its end
    show against the facts that must each have one.
    """
    chains = AuditEntry.objects.order_by("chain").values_list("chain", flat=True)
    for chain in chains.distinct():
        for position in broken_links(chain):
            yield f"chain {chain}: entry {position} is not as it was written"
    yield from _events_without_entry()
    yield from _moves_without_event()
    yield from _decisions_without_entry()


def _events_without_entry() -> Iterator[str]:
    noted = set(
        AuditEntry.objects.filter(kind__startswith="action.").values_list(
            "kind", "ids__request", "ids__state"
        )
    )
    facts = Event.objects.filter(name__startswith="action.").order_by("pk")
    for event in facts.iterator():
        fact = (event.name, event.ids.get("request"), event.ids.get("state"))
        if fact not in noted:
            yield f"event {event.pk} ({event.name}) has no audit entry"


def _moves_without_event() -> Iterator[str]:
    keys = set(
        Event.objects.filter(name__startswith="action.").values_list("key", flat=True)
    )
    for request in ActionRequest.objects.order_by("created_at").iterator():
        for key in facts.keys_of(request):
            if key not in keys:
                yield f"request {request.pk} is {request.state} without event {key}"


def _decisions_without_entry() -> Iterator[str]:
    noted = set(
        AuditEntry.objects.filter(
            kind__in=["action.agreed", "action.refused_by_staff"]
        ).values_list("actor", "ids__request")
    )
    for one in Approval.objects.select_related("approver").order_by("pk").iterator():
        if (one.approver.get_username(), str(one.request_id)) not in noted:
            yield f"decision {one.pk} on request {one.request_id} has no audit entry"
