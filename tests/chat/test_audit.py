"""The audit in the admin: who sees which conversations, and nobody writes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatbot.chat.admin_lists import BoundedPaginator
from chatbot.chat.models import (
    Account,
    Conversation,
    Feedback,
    HandOver,
    Message,
    Run,
    RunPhase,
    Speaker,
    Step,
)
from chatbot.chat.roles import make_groups
from chatbot.workflow.audit import broken_links
from chatbot.workflow.models import AuditEntry
from tests.cast import Person, person

pytestmark = pytest.mark.django_db

QUESTION = "Has O-204 shipped, and where is it now?"
ANSWER = "It has shipped."
DRAFT = "It arrives tomorrow, I promise."
LISTS = ("run", "conversation", "handover", "feedback")


@pytest.fixture(autouse=True)
def _groups(db: None) -> None:
    make_groups()


@pytest.fixture
def sees() -> Callable[[str], Client]:
    def signed_in(name: str) -> Client:
        client = Client()
        client.force_login(person(name).user)
        return client

    return signed_in


@pytest.fixture
def handed_over(lin: Person) -> Run:
    return answered_run(lin.account, handed_over=True)


@pytest.fixture
def ordinary(mei: Person) -> Run:
    return answered_run(mei.account, handed_over=False, numbers="O305")


def answered_run(
    account: Account, *, handed_over: bool, numbers: str = "O204 N88", **more: Any
) -> Run:
    now = timezone.now()
    conversation = Conversation.objects.create(
        account=account, title=QUESTION, created_at=now, updated_at=now, last_seq=6
    )
    run = Run.objects.create(
        **{
            "conversation": conversation,
            "phase": RunPhase.STOPPED,
            "stop_reason": "answered",
            "model": "offline",
            "question": QUESTION,
            "numbers": numbers,
            "tools": "get_order",
            "due_at": now,
            "created_at": now,
            "started_at": now,
            "stopped_at": now + timedelta(seconds=3),
            "duration_ms": 3000,
            **more,
        }
    )
    events: list[tuple[str, dict[str, Any]]] = [
        ("started", {"question": {"text": QUESTION, "needs": ["shipped"]}}),
        (
            "acted",
            {"call": {"name": "get_order", "arguments": {"order_id": "O-204"}}},
        ),
        ("sent_back", {"draft": DRAFT, "feedback": f"Not proved: {DRAFT}"}),
        ("stopped", {"reason": "answered", "answer": ANSWER}),
    ]
    for seq, (kind, body) in enumerate(events, start=2):
        Step.objects.create(
            run=run,
            conversation=conversation,
            seq=seq,
            kind=kind,
            tool=body.get("call", {}).get("name", ""),
            body=body,
            created_at=now,
        )
    message = Message.objects.create(
        conversation=conversation,
        run=run,
        seq=6,
        speaker=Speaker.ASSISTANT,
        text=ANSWER,
        created_at=now,
    )
    Feedback.objects.create(
        message=message,
        helpful=False,
        comment="too vague",
        created_at=now,
        updated_at=now,
    )
    if handed_over:
        HandOver.objects.create(
            run=run, conversation=conversation, reason="asked for one", created_at=now
        )
    return run


def page_of(run: Run) -> str:
    return f"/admin/chat/run/{run.pk}/change/"


def test_an_agent_sees_only_what_was_handed_over(
    sees: Callable[[str], Client], handed_over: Run, ordinary: Run
) -> None:
    ada = sees("ada")
    listed = ada.get("/admin/chat/run/").content.decode()
    assert str(handed_over.pk) in listed
    assert str(ordinary.pk) not in listed
    assert ada.get(page_of(handed_over)).status_code == 200
    assert (
        str(ordinary.pk) not in ada.get(page_of(ordinary), follow=True).content.decode()
    )
    assert ada.get(page_of(ordinary)).status_code in {302, 404}
    for name in LISTS:
        rows = ada.get(f"/admin/chat/{name}/").context["cl"].result_count
        assert rows == 1, name


def test_a_supervisor_sees_every_conversation_and_what_was_said(
    sees: Callable[[str], Client], handed_over: Run, ordinary: Run
) -> None:
    sam = sees("sam")
    for name in LISTS:
        rows = sam.get(f"/admin/chat/{name}/").context["cl"].result_count
        assert rows == (1 if name == "handover" else 2), name
    page = sam.get(page_of(ordinary)).content.decode()
    for part in (QUESTION, DRAFT, ANSWER, "get_order", "O-204", "too vague"):
        assert part in page


def test_an_operator_sees_how_runs_went_and_nothing_that_people_wrote(
    sees: Callable[[str], Client], handed_over: Run, ordinary: Run
) -> None:
    olga = sees("olga")
    pages = [f"/admin/chat/{name}/" for name in LISTS]
    for run in (handed_over, ordinary):
        pages += [
            page_of(run),
            f"/admin/chat/conversation/{run.conversation_id}/change/",
        ]
    hand_over = HandOver.objects.get()
    pages.append(f"/admin/chat/handover/{hand_over.pk}/change/")
    for address in pages:
        answer = olga.get(address)
        assert answer.status_code == 200, address
        text = answer.content.decode()
        for secret in (QUESTION, DRAFT, ANSWER, "too vague", "asked for one"):
            assert secret not in text, (address, secret)
    assert "get_order" in olga.get(page_of(ordinary)).content.decode()


def test_a_customer_has_no_way_into_the_admin(lin: Person, handed_over: Run) -> None:
    client = Client()
    client.force_login(lin.user)
    for page in (page_of(handed_over), "/admin/chat/run/", "/admin/store/order/1/"):
        assert client.get(page).status_code == 404
    # Who has another account can still log in with it.
    assert client.get("/admin/", follow=True).status_code == 200
    assert Client().get(page_of(handed_over)).status_code == 302


@pytest.mark.parametrize("who", ["sam", "ada", "olga", "root"])
def test_nobody_changes_or_deletes_what_is_audited(
    who: str, sees: Callable[[str], Client], handed_over: Run
) -> None:
    if who == "root":
        client = Client()
        client.force_login(User.objects.create_superuser("root"))
    else:
        client = sees(who)
    before = list(Step.objects.values())
    assert client.get("/admin/chat/run/add/").status_code == 403
    assert client.post(page_of(handed_over), {"question": "x"}).status_code in {
        200,
        403,
    }
    delete = client.post(f"/admin/chat/run/{handed_over.pk}/delete/", {"post": "yes"})
    assert delete.status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [str(handed_over.pk)]}
    client.post("/admin/chat/run/", {**chosen, "post": "yes"})
    assert Run.objects.get(pk=handed_over.pk).question == QUESTION
    assert list(Step.objects.values()) == before


@pytest.mark.parametrize(
    ("term", "found"),
    [
        ("o－204", "handed_over"),
        ("N-88", "handed_over"),
        ("O-305", "ordinary"),
        ("mei", "ordinary"),
        ("C-LIN", "handed_over"),
        ("conversation", "ordinary"),
        ("nobody", ""),
    ],
)
def test_a_run_is_found_by_number_customer_or_conversation(
    term: str,
    found: str,
    sees: Callable[[str], Client],
    handed_over: Run,
    ordinary: Run,
) -> None:
    if term == "conversation":
        term = str(ordinary.conversation_id)
    shown = sees("sam").get("/admin/chat/run/", {"q": term}).context["cl"]
    expected = {"handed_over": handed_over, "ordinary": ordinary}.get(found)
    assert [run.pk for run in shown.result_list] == ([expected.pk] if expected else [])


FILTERS = [
    ({"stop_reason": "answered"}, {"stop_reason": "tool_failed"}),
    ({"tool": "get_order"}, {"tool": "track_shipment"}),
    ({"tool_error": "any"}, {"tool_error": "unavailable"}),
    ({"model": "offline"}, {"model": "other"}),
    ({"day": "today"}, {"day": "2001-01-01"}),
    ({"seconds": "2-10"}, {"seconds": "10-30"}),
    ({"tokens": "1000-10000"}, {"tokens": "30000-"}),
]


@pytest.mark.parametrize(("kept", "dropped"), FILTERS)
def test_each_filter_keeps_what_it_names_and_drops_the_rest(
    kept: dict[str, str],
    dropped: dict[str, str],
    sees: Callable[[str], Client],
    lin: Person,
) -> None:
    answered_run(
        lin.account, handed_over=False, prompt_tokens=1500, tool_errors="timeout"
    )
    sam = sees("sam")
    assert sam.get("/admin/chat/run/", kept).context["cl"].result_count == 1
    assert sam.get("/admin/chat/run/", dropped).context["cl"].result_count == 0


@pytest.mark.parametrize("value", ["-", "x-y", "9-", "\x00", "%", "2026-13-45", "٣-٤"])
def test_a_filter_that_makes_no_sense_breaks_nothing(
    value: str, sees: Callable[[str], Client], ordinary: Run
) -> None:
    sam = sees("sam")
    for name in ("seconds", "tokens", "day"):
        assert sam.get("/admin/chat/run/", {name: value}).status_code == 200


def test_the_list_counts_no_further_than_it_shows(
    sees: Callable[[str], Client],
    handed_over: Run,
    ordinary: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sam = sees("sam")
    monkeypatch.setattr(BoundedPaginator, "MOST", 1)
    with CaptureQueriesContext(connection) as seen:
        answer = sam.get("/admin/chat/run/")
    assert answer.context["cl"].result_count == 1
    assert "older ones" in answer.content.decode()
    for query in seen.captured_queries:
        sql = query["sql"]
        assert "chat_step" not in sql, "the list reads no steps"
        if "COUNT(" in sql and "chat_run" in sql:
            assert "LIMIT 1" in sql, "a count is bounded"


def test_the_list_is_read_off_the_index_by_time(
    sees: Callable[[str], Client], ordinary: Run
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the plan is read in SQLite's words")
    with CaptureQueriesContext(connection) as seen:
        sees("sam").get("/admin/chat/run/")
    page = next(
        query["sql"]
        for query in seen.captured_queries
        if "ORDER BY" in query["sql"] and '"chat_run"."question"' in query["sql"]
    )
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN QUERY PLAN " + page)
        plan = " ".join(str(row[-1]) for row in cursor.fetchall())
    assert "SCAN chat_run USING INDEX" in plan


def test_the_pages_of_the_audit_hold_texts_as_text(
    sees: Callable[[str], Client], lin: Person
) -> None:
    bad = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    run = answered_run(lin.account, handed_over=True, question=bad, model=bad[:100])
    Message.objects.update(text=bad)
    HandOver.objects.update(
        reason=bad, open_needs=[{"need": bad}], evidence=[{"tool": bad}]
    )
    Feedback.objects.update(comment=bad)
    for step in run.steps.all():
        Step.objects.filter(pk=step.pk).update(
            body=_poisoned(step.body, bad), tool=bad[:64]
        )
    sam = sees("sam")
    pages = [
        *(f"/admin/chat/{name}/" for name in LISTS),
        page_of(run),
        f"/admin/chat/conversation/{run.conversation_id}/change/",
        f"/admin/chat/handover/{HandOver.objects.get().pk}/change/",
    ]
    for address in pages:
        text = sam.get(address).content.decode()
        assert "<script>alert" not in text, address
        assert "<img src=x" not in text, address


def _poisoned(body: Any, bad: str) -> Any:
    if isinstance(body, dict):
        return {key: _poisoned(value, bad) for key, value in body.items()}
    if isinstance(body, list):
        return [_poisoned(value, bad) for value in body]
    return bad


def log_of(run: Run) -> str:
    return f"/admin/chat/conversation/{run.conversation_id}/change/"


def reads() -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(kind__startswith="read.").order_by("id")
    return [(row.actor, row.kind, row.ids["reason"]) for row in rows]


@pytest.mark.parametrize("who", ["sam", "root"])
def test_what_was_not_handed_over_is_read_with_a_reason(
    who: str, sees: Callable[[str], Client], ordinary: Run
) -> None:
    client = Client()
    client.force_login(
        User.objects.create_superuser("root") if who == "root" else person(who).user
    )
    for pressed in ({}, {"reason": ""}, {"reason": "  "}):
        if pressed:
            client.post(log_of(ordinary), {"do": "read", **pressed})
        page = client.get(log_of(ordinary)).content.decode()
        assert ANSWER not in page
        assert QUESTION not in page
    assert reads() == []
    client.post(log_of(ordinary), {"do": "read", "reason": "call of 13800138000"})
    assert ANSWER in client.get(log_of(ordinary)).content.decode()
    ((actor, kind, reason),) = reads()
    assert (actor, kind) == (who, "read.conversation")
    assert "13800138000" not in reason
    assert reason.startswith("call of")


def test_a_reason_is_for_one_conversation_and_one_person(
    sees: Callable[[str], Client], ordinary: Run, lin: Person
) -> None:
    other = answered_run(lin.account, handed_over=False)
    sam = sees("sam")
    sam.post(log_of(ordinary), {"do": "read", "reason": "a complaint"})
    assert ANSWER in sam.get(log_of(ordinary)).content.decode()
    assert ANSWER not in sam.get(log_of(other)).content.decode()
    assert ANSWER not in sees("sam").get(log_of(ordinary)).content.decode()


def test_what_was_handed_over_or_taken_needs_no_reason(
    sees: Callable[[str], Client], handed_over: Run, ordinary: Run
) -> None:
    assert ANSWER in sees("ada").get(log_of(handed_over)).content.decode()
    Conversation.objects.filter(pk=ordinary.conversation_id).update(
        taken_by=person("sam").user
    )
    assert ANSWER in sees("sam").get(log_of(ordinary)).content.decode()
    assert reads() == [(name, "read.conversation", "") for name in ("ada", "sam")]


def test_every_page_with_text_is_noted_and_one_without_is_not(
    sees: Callable[[str], Client], handed_over: Run
) -> None:
    hand_over = f"/admin/chat/handover/{HandOver.objects.get().pk}/change/"
    pages = [page_of(handed_over), hand_over, log_of(handed_over)]
    for name in ("sam", "olga"):
        for page in pages:
            assert sees(name).get(page).status_code == 200
    kinds = ["read.run", "read.handover", "read.conversation"]
    assert reads() == [("sam", kind, "") for kind in kinds]
    assert list(broken_links(str(handed_over.conversation_id))) == []
