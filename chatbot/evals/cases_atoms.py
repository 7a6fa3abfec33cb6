"""What was really seen of a case, atom by atom.

Each measure reads rows, bytes or pages of the case that has just been played. What
can't be measured raises ``NotSupported``, never a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from django.conf import settings
from django.db import connection

from chatbot.chat.models import Account, Message, Run, Speaker, Step
from chatbot.evals import cases_adapter as adapter
from chatbot.evals.cases_adapter import NotSupported
from chatbot.evals.cases_format import Atom, Line
from chatbot.evals.cases_play import ALIVE_SECONDS, Stage
from chatbot.evals.cases_world import conversation_of, photograph
from chatbot.workflow.models import Alert, AuditEntry
from tools.contracts import canonical_number
from tools.models import ActionRequest, Approval

Value: TypeAlias = str | float | bool | None
# How much of a text a report shows.
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Seen:
    """Whether an atom is so, and what there was to see."""

    holds: bool
    what: str


class Evidence:
    """The traces of one played case, each read once."""

    def __init__(self, stage: Stage, broker: Sequence[str] | None) -> None:
        self.stage = stage
        # What went through Redis; None where there is none.
        self.broker = broker

    @cached_property
    def shop(self) -> Mapping[str, Any]:
        return photograph()

    @cached_property
    def messages(self) -> list[Message]:
        """Of the customer's conversation, since the input began."""
        own = conversation_of(self.stage.subject).messages
        return list(own.filter(id__gt=self.stage.last_message).order_by("seq"))

    @cached_property
    def steps(self) -> list[Step]:
        own = conversation_of(self.stage.subject).steps
        return list(own.filter(id__gt=self.stage.last_step).order_by("seq"))

    @cached_property
    def last_run(self) -> Run:
        run = conversation_of(self.stage.subject).runs.order_by("created_at").last()
        if run is None:
            raise NotSupported("a run: the case started none")
        return run

    @cached_property
    def frames(self) -> list[str]:
        """Every byte that the acting person was sent."""
        acting = self.stage.acting
        sent = [frame for socket in acting.sockets for frame in socket.frames]
        return sent + [response.body for response in acting.responses]

    @cached_property
    def said(self) -> list[str]:
        """What was said to the customer, oldest first."""
        return [one.text for one in self.messages if one.speaker != Speaker.CUSTOMER]

    @cached_property
    def final(self) -> list[str]:
        """What was said since the customer spoke last."""
        asked = [one.seq for one in self.messages if one.speaker == Speaker.CUSTOMER]
        after = asked[-1] if asked else 0
        return [
            one.text
            for one in self.messages
            if one.speaker != Speaker.CUSTOMER and one.seq > after
        ]

    @cached_property
    def model(self) -> list[str]:
        bodies = self.stage.script.bodies
        return [json.dumps(body, ensure_ascii=False) for body in bodies]

    @cached_property
    def last_request(self) -> ActionRequest:
        request = ActionRequest.objects.order_by("created_at").last()
        if request is None:
            raise NotSupported("a change: the case asked for none")
        return request

    def pages(self, name: str) -> list[str]:
        stage = self.stage
        if not stage.sights and name in stage.unseen:
            raise NotSupported(f"{stage.unseen[name]}: page {name} is only half told")
        shown = [(page, sight.html) for page, sight in stage.sights]
        for visitor in stage.visitors.values():
            shown += [(one.page, one.body) for one in visitor.responses]
        wanted = [html for page, html in shown if name in ("any", page)]
        if not wanted and name != "any":
            raise NotSupported(f"page {name}: no step opened it")
        return wanted


# ---- a line


def judge(line: Line, evidence: Evidence, *, wanted: bool) -> tuple[bool, str]:
    """Whether a line of ``must`` (``wanted``) or ``must_not`` is kept, and what was
    seen. All atoms of a line are looked at together: none may be unmeasurable."""
    if line.problem:
        raise NotSupported(f"the line {line.text!r}: {line.problem}")
    seen = [_look(atom, evidence, wanted=wanted) for atom in line.atoms]
    so = all(one.holds for one in seen)
    return so is wanted, "; ".join(one.what for one in seen)


def _look(atom: Atom, evidence: Evidence, *, wanted: bool) -> Seen:
    if atom.op == "~":
        texts = _texts(atom, evidence, wanted=wanted)
        return _match(atom, texts, evidence)
    if atom.name not in MEASURES:
        raise NotSupported(f"the atom {atom.text!r}")
    found = MEASURES[atom.name](evidence, atom)
    values = found if isinstance(found, list) else [found]
    if not atom.op:
        return Seen(bool(values and values[0]), str(found))
    # Of several, a wanted value must be all of them, an unwanted one none.
    every = all if wanted else any
    so = bool(values) and every(compare(one, atom) for one in values)
    return Seen(so, f"{atom.text.split('#')[0].strip()}: {_shown(found)}")


def _shown(found: object) -> str:
    return str(found)[:_SHOWN]


def compare(value: Value, atom: Atom) -> bool:
    """Whether a measured value stands to the atom's as its operator says."""
    if atom.value == "any":
        return True
    if atom.op == "in":
        inside = atom.value.strip("[]{}()")
        return any(_same(value, part.strip()) for part in re.split(r"[,|]", inside))
    if atom.op == "=":
        return any(_same(value, part) for part in atom.value.split("|"))
    if not isinstance(value, int | float):
        raise NotSupported(f"{atom.text!r}: {value!r} is no number")
    wanted = float(atom.value)
    return {
        "<": value < wanted,
        "<=": value <= wanted,
        ">": value > wanted,
        ">=": value >= wanted,
    }[atom.op]


def _same(value: Value, text: str) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return str(value).lower() == text.strip("\"'").lower()


# ---- texts


def _texts(atom: Atom, evidence: Evidence, *, wanted: bool) -> list[str]:
    match atom.name:
        case "reply":
            # The last word must say it; no word may ever have said it.
            return evidence.final if wanted else evidence.said
        case "frames":
            return evidence.frames
        case "model":
            return evidence.model
        case "logs":
            return [evidence.stage.house.logs]
        case "broker":
            if evidence.broker is None:
                raise NotSupported("a broker: REDIS_URL is not set")
            return list(evidence.broker)
        case "page":
            return evidence.pages(atom.args[0] if atom.args else "any")
        case _:
            raise NotSupported(f"the atom {atom.text!r}")


def _match(atom: Atom, texts: Iterable[str], evidence: Evidence) -> Seen:
    try:
        pattern = re.compile(atom.value)
    except re.error as error:
        raise NotSupported(f"the pattern {atom.value!r}: {error}") from None
    own = evidence.stage.script.said if atom.name == "model" else ()
    read = list(texts)
    for text in read:
        for found in pattern.finditer(text):
            # A model that is told its own words again has learned nothing.
            if any(found[0] in said for said in own):
                continue
            start = max(0, found.start() - 40)
            return Seen(True, f"{atom.name}: …{text[start : found.end() + 40]}…")
    last = read[-1][:_SHOWN] if read and atom.name == "reply" else ""
    return Seen(False, f"{atom.name}: no match in {len(read)} texts {last}".strip())


# ---- measures


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


def _run(evidence: Evidence, atom: Atom) -> str:
    """The logical word for the last run's end."""
    words = [part for part in atom.value.split("|") if part != "any"]
    reason = evidence.last_run.stop_reason
    for word in words:
        if reason in adapter.ends(word):
            return word
    return reason or "going on"


def _stop(evidence: Evidence, atom: Atom) -> str:
    reason = evidence.last_run.stop_reason
    for word in atom.value.split("|"):
        if word != "any" and adapter.stop(word) == reason:
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
    if stage.unseen:
        raise NotSupported(next(iter(stage.unseen.values())))
    if atom.name == "dom.scripts":
        return sum(sight.scripts for _, sight in stage.sights)
    return sum(len(sight.foreign) for _, sight in stage.sights)


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
    "holders": _missing("taking over a conversation"),
    "bot_msgs_after_takeover": _missing("taking over a conversation"),
    "latency_diff_ms": _missing("two kinds of requests whose times are compared"),
    "acks_while_db_down": _missing("a database that goes away during a case"),
    "worker_slots_busy_after": _missing("a count of a worker's busy slots"),
    "http_attempts_with_new_key": _missing("an order service asked over HTTP"),
}
