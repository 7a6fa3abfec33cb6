"""``verify_audit``: whatever was changed, moved or cut off shows."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import pytest
from django.core.management import CommandError, call_command
from django.db import Error, connection

from chatbot.chat.models import Conversation
from chatbot.workflow.models import AuditEntry, Event
from tests.cast import Person
from tests.workflow.conftest import confirm, propose, sweep
from tools.models import ActionRequest

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def done(conversation: Conversation, lin: Person) -> Conversation:
    confirm(propose(conversation, lin), lin)
    sweep()
    return conversation


def with_rules_off(work: Callable[[], object]) -> None:
    """As somebody who owns the database: without the rule against changes."""
    rule = import_module("chatbot.workflow.migrations.0002_audit_append_only")
    with connection.schema_editor() as editor:
        rule.remove(None, editor)
        work()
        rule.add(None, editor)


def test_an_audit_that_nobody_touched_is_whole(
    done: Conversation, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("verify_audit")
    assert "all as written" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["update", "delete"])
def test_the_database_refuses_to_change_an_entry(done: Conversation, verb: str) -> None:
    rows = AuditEntry.objects.all()
    with pytest.raises(Error, match="append-only"):
        rows.update(actor="nobody") if verb == "update" else rows.delete()


@pytest.mark.parametrize(
    "change",
    [
        lambda: AuditEntry.objects.filter(position=2).update(actor="somebody else"),
        lambda: AuditEntry.objects.filter(position=2).delete(),
        lambda: AuditEntry.objects.filter(position=2).update(position=9),
        lambda: AuditEntry.objects.order_by("-position")[0].delete(),
    ],
    ids=["changed", "removed", "moved", "cut off"],
)
def test_an_entry_that_was_tampered_with_shows(
    done: Conversation, change: Callable[[], object]
) -> None:
    with_rules_off(change)
    with pytest.raises(CommandError, match="problems"):
        call_command("verify_audit")


def test_a_request_that_moved_without_an_event_shows(
    done: Conversation, capsys: pytest.CaptureFixture[str]
) -> None:
    ActionRequest.objects.update(state="refused")
    with pytest.raises(CommandError):
        call_command("verify_audit")
    assert "without event" in capsys.readouterr().out


def test_a_request_whose_events_do_not_lead_to_its_state_differs_in_the_replay(
    done: Conversation, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("replay_events")
    assert "requests: 1 the same" in capsys.readouterr().out
    Event.objects.filter(name="action.approved").delete()
    ActionRequest.objects.update(state="refused")
    with pytest.raises(CommandError):
        call_command("replay_events")
    assert "action.finished after confirmed" in capsys.readouterr().out
