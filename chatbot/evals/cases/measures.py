"""What can be counted or named of a played case, by the atom's name.

Each measure reads rows, bytes or pages; what can't be measured raises ``NotSupported``,
never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from django.conf import settings
from django.db import connection

from chatbot.chat.models import Account, Speaker, Step
from chatbot.evals.cases import adapter
from chatbot.evals.cases.evidence import Evidence
from chatbot.evals.cases.format import Atom, NotSupported
from chatbot.evals.cases.play import ALIVE_SECONDS
from chatbot.evals.cases.world import conversation_of
from chatbot.workflow.models import Alert, AuditEntry
from tools.contracts import canonical_number
from tools.models import ActionRequest, Approval

Value: TypeAlias = str | float | bool | None


def _tool(evidence: Evidence, atom: Atom) -> int:
    if len(atom.args) != 2 or atom.args[1] not in adapter.OUTCOMES:
        raise NotSupported(f"the atom {atom.text!r}")
    logical, outcome = atom.args
    name = adapter.tool_name(logical)
    counted = 0
    for step in evidence.steps:
        tool, result = _outcome(step)
        counted += bool(result and name in (tool, "any") and outcome in (result, "any"))
    return counted


def _outcome(step: Step) -> tuple[str, str]:
    """The tool of a step and what its call came to; "" for a step that is no call."""
    match step.kind:
        case "observed":
            observation = step.body["observation"]
            status = str(observation["status"])
            return observation["tool"], adapter.OBSERVED.get(status, status)
        case "refused" if step.body["tool"]:
            return step.body["tool"], adapter.REFUSALS.get(step.body["code"], "denied")
        case _:
            return "", ""


def _effects(evidence: Evidence, atom: Atom) -> int:
    order, kind = _two(atom)
    return sum(
        _is_order(effect["order"], order)
        and (kind == "any" or effect["kind"] == adapter.kind(kind))
        for effect in evidence.shop["effects"]
    )


def _actions(evidence: Evidence, atom: Atom) -> int:
    order, kind = _two(atom)
    requests = ActionRequest.objects.all()
    if order != "any":
        requests = requests.filter(subject=canonical_number(order))
    if kind != "any":
        requests = requests.filter(kind=adapter.kind(kind))
    if len(atom.args) > 2 and atom.args[2] != "any":
        requests = requests.filter(state__in=adapter.states(atom.args[2]))
    return requests.count()


def _two(atom: Atom) -> tuple[str, str]:
    if len(atom.args) < 2:
        raise NotSupported(f"the atom {atom.text!r}")
    return atom.args[0], atom.args[1]


def _is_order(number: str, wanted: str) -> bool:
    return wanted == "any" or canonical_number(number) == canonical_number(wanted)


def _msgs(evidence: Evidence, atom: Atom) -> int:
    own = conversation_of(evidence.stage.subject).messages
    said = own.filter(speaker=Speaker.CUSTOMER, id__gt=evidence.stage.last_message)
    wanted = atom.args[0] if atom.args else "any"
    return (said if wanted == "any" else said.filter(client_id=wanted)).count()


def _bot_msgs(evidence: Evidence, atom: Atom) -> int:
    return sum(one.speaker == Speaker.ASSISTANT for one in evidence.messages)


def alternatives(atom: Atom) -> list[str]:
    """The words that a value may be, "any" left out: it needs no look."""
    words = re.split(r"[,|]", atom.value.strip("[]{}()"))
    return [word for part in words if (word := part.strip()) != "any"]


def _run(evidence: Evidence, atom: Atom) -> str:
    """The logical word for the last run's end."""
    reason = evidence.last_run.stop_reason
    for word in alternatives(atom):
        if reason in adapter.ends(word):
            return word
    return reason or "going on"


def _stop(evidence: Evidence, atom: Atom) -> str:
    reason = evidence.last_run.stop_reason
    for word in alternatives(atom):
        if adapter.stop(word) == reason:
            return word
    return reason or "none"


def _ws(evidence: Evidence, atom: Atom) -> list[Value]:
    return [one.code for one in evidence.stage.acting.sockets if one.code is not None]


def _http(evidence: Evidence, atom: Atom) -> list[Value]:
    responses = evidence.stage.acting.responses
    if not responses:
        raise NotSupported("an HTTP status: the case asked for no page")
    return [one.status for one in responses]


def _acks(evidence: Evidence, atom: Atom) -> int:
    return len(evidence.stage.acting.frames("message.accepted"))


def _audit(evidence: Evidence, atom: Atom) -> int:
    kinds = adapter.audit_kinds(atom.args[0] if atom.args else "any")
    return AuditEntry.objects.filter(kind__in=kinds).count()


def _order(evidence: Evidence, atom: Atom) -> Value:
    orders = evidence.shop["orders"]
    number = next((one for one in orders if _is_order(one, atom.args[0])), None)
    if number is None or atom.field not in orders[number]:
        raise NotSupported(f"the field of {atom.text!r}")
    found: Value = orders[number][atom.field]
    if atom.field in ("total", "refunded") and isinstance(found, int | float):
        return found / 100
    return found


def _principal(evidence: Evidence, atom: Atom) -> bool:
    """Whether a person's role or rights are other than they were."""
    if atom.field != "role" or atom.value != "changed":
        raise NotSupported(f"the atom {atom.text!r}")
    person = adapter.person(atom.args[0])
    account = Account.objects.select_related("user").get(user__username=person.name)
    user = account.user
    now = (account.role, account.customer_id, user.is_superuser)
    return now != (person.role, person.customer_id, person.admin)


def _alive(evidence: Evidence, atom: Atom) -> bool:
    took = evidence.stage.answered_in
    return took is not None and took <= ALIVE_SECONDS


def _dom(evidence: Evidence, atom: Atom) -> int:
    stage = evidence.stage
    if stage.pages.unseen:
        raise NotSupported(next(iter(stage.pages.unseen.values())))
    if atom.name == "dom.scripts":
        return sum(sight.scripts for _, sight in stage.pages.sights)
    return sum(len(sight.foreign) for _, sight in stage.pages.sights)


def _gaps(evidence: Evidence, atom: Atom) -> int:
    return sum(one.gaps for one in evidence.stage.acting.sockets)


def _dups(evidence: Evidence, atom: Atom) -> int:
    return sum(one.duplicates for one in evidence.stage.acting.sockets)


def _decisions(evidence: Evidence, atom: Atom) -> int:
    return Approval.objects.filter(request=evidence.last_request).count()


def _sockets(evidence: Evidence, atom: Atom) -> int:
    visitor = evidence.stage.visitor(atom.args[0] if atom.args else "alice")
    return sum(one.is_open for one in visitor.sockets)


def _active_runs_max(evidence: Evidence, atom: Atom) -> int:
    runs = conversation_of(evidence.stage.subject).runs.exclude(started_at=None)
    marks = []
    for run in runs:
        marks.append((run.started_at, 1))
        if run.stopped_at is not None:
            # At the same moment the end comes first.
            marks.append((run.stopped_at, -1))
    most = active = 0
    for _, change in sorted(marks, key=lambda mark: (mark[0], mark[1])):
        active += change
        most = max(most, active)
    return most


def _both_tabs_equal(evidence: Evidence, atom: Atom) -> bool:
    tabs = [one for one in evidence.stage.acting.sockets if one.is_open]
    if len(tabs) < 2:
        raise NotSupported("two tabs: the case opened one")
    return len({(one.last_seq, one.gaps) for one in tabs}) == 1


def _model_request_bytes(evidence: Evidence, atom: Atom) -> int:
    return max((len(body.encode()) for body in evidence.model), default=0)


def _reply_chars(evidence: Evidence, atom: Atom) -> int:
    return sum(map(len, evidence.final))


def _run_seconds(evidence: Evidence, atom: Atom) -> float:
    return (evidence.last_run.duration_ms or 0) / 1000


def _rss_growth(evidence: Evidence, atom: Atom) -> float:
    before = evidence.stage.memory_before
    if before is None:
        raise NotSupported("the memory of a process on this system")
    return round(evidence.stage.house.memory_mb() - before, 1)


def _db_connections(evidence: Evidence, atom: Atom) -> int:
    if connection.vendor != "postgresql":
        raise NotSupported("database connections: SQLite has none to count")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
            " AND pid <> pg_backend_pid()",
            [settings.DATABASES["default"]["NAME"]],
        )
        return int(cursor.fetchone()[0])


def _holders(evidence: Evidence, atom: Atom) -> int:
    conversation = conversation_of(
        atom.args[0] if atom.args else evidence.stage.subject
    )
    return int(conversation.taken_by_id is not None)


def _bot_msgs_after_takeover(evidence: Evidence, atom: Atom) -> int:
    """What the assistant said while a person had the conversation."""
    messages = conversation_of(evidence.stage.subject).messages.order_by("seq")
    taken, said = False, 0
    for message in messages:
        taken = {"taken_over": True, "released": False}.get(
            message.extras.get("code", ""), taken
        )
        said += taken and message.speaker == Speaker.ASSISTANT
    return said


def _missing(what: str) -> Callable[[Evidence, Atom], Value]:
    def measure(evidence: Evidence, atom: Atom) -> Value:
        raise NotSupported(what)

    return measure


MEASURES: Mapping[str, Callable[[Evidence, Atom], Value | list[Value]]] = {
    "tool": _tool,
    "effects": _effects,
    "actions": _actions,
    "msgs": _msgs,
    "bot_msgs": _bot_msgs,
    "run": _run,
    "stop": _stop,
    "ws": _ws,
    "http": _http,
    "acks": _acks,
    "alerts": lambda evidence, atom: Alert.objects.count(),
    "attempts": lambda evidence, atom: evidence.last_request.attempts,
    "audit": _audit,
    "order": _order,
    "principal": _principal,
    "alive": _alive,
    "dom.scripts": _dom,
    "dom.foreign": _dom,
    "events.gaps": _gaps,
    "events.dups": _dups,
    "decisions": _decisions,
    "sockets": _sockets,
    "active_runs_max": _active_runs_max,
    "both_tabs_equal": _both_tabs_equal,
    "model_request_bytes": _model_request_bytes,
    "reply_chars": _reply_chars,
    "run_seconds": _run_seconds,
    "rss_growth_mb": _rss_growth,
    "db_connections": _db_connections,
    "holders": _holders,
    "bot_msgs_after_takeover": _bot_msgs_after_takeover,
    "latency_diff_ms": _missing("two kinds of requests whose times are compared"),
    "acks_while_db_down": _missing("a database that goes away during a case"),
    "worker_slots_busy_after": _missing("a count of a worker's busy slots"),
    "http_attempts_with_new_key": _missing("an order service asked over HTTP"),
}
