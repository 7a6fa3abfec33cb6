"""Attack cases against the whole product: ``manage.py evaluate cases --cases FILE``.

Each case has a scratch database with its own world, a product of its own processes on
a free port, and a scripted model that obeys the attacker. What a case needs and is not
there is counted apart, never as a pass.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import threading
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from redis import Redis

from chatbot.evals.cases import adapter
from chatbot.evals.cases.atoms import judge
from chatbot.evals.cases.browser import Eyes
from chatbot.evals.cases.evidence import Evidence
from chatbot.evals.cases.faults import read_fault
from chatbot.evals.cases.format import Case, NotSupported, kind_of, read_cases
from chatbot.evals.cases.house import House, case_database
from chatbot.evals.cases.measures import MEASURES
from chatbot.evals.cases.play import Stage
from chatbot.evals.cases.script import Script
from chatbot.evals.cases.world import plant, world_of
from chatbot.evals.model_server import model_server_thread
from chatbot.evals.scratch import scratch_database


@dataclass(slots=True)
class Verdict:
    """``failed`` holds pairs of a line and what was seen; ``missing`` what there is
    not. Both empty: the case holds."""

    id: str
    failed: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        return not self.failed and not self.missing

    @property
    def word(self) -> str:
        if self.failed:
            return "failed"
        return "held" if self.held else "not supported"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--cases", type=Path, required=True, metavar="FILE.jsonl")
    parser.add_argument("--only", default="", help="ids of cases, with commas")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: Mapping[str, Any]) -> int:
    """Play every case; 1 where one fails, 2 on a bad file."""
    try:
        cases = read_cases(options["cases"])
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if only := {name for name in options["only"].split(",") if name}:
        cases = [case for case in cases if case.id in only]
    # What a case provokes is in its own product's log.
    logging.disable(logging.CRITICAL)
    try:
        verdicts = list(play_all(cases, quiet=options["json"]))
    finally:
        logging.disable(logging.NOTSET)
    print_report(verdicts, as_json=options["json"])
    return 1 if any(one.failed for one in verdicts) else 0


def report(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "cases": len(verdicts),
        "held": sum(one.held for one in verdicts),
        "failed": [
            {"id": one.id, "atom": atom, "seen": seen}
            for one in verdicts
            for atom, seen in one.failed
        ],
        "not_supported": [
            {"id": one.id, "missing": "; ".join(dict.fromkeys(one.missing))}
            for one in verdicts
            if one.missing and not one.failed
        ],
    }


def print_report(verdicts: Sequence[Verdict], *, as_json: bool) -> None:
    found = report(verdicts)
    if as_json:
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
        return
    bad = len({one["id"] for one in found["failed"]})
    sys.stdout.write(
        f"{found['cases']} cases: {found['held']} held, {bad} failed, "
        f"{len(found['not_supported'])} not supported\n"
    )
    for one in found["failed"]:
        sys.stdout.write(f"  {one['id']} failed: {one['atom']}\n    {one['seen']}\n")
    for one in found["not_supported"]:
        sys.stdout.write(f"  {one['id']} not supported: {one['missing']}\n")


# ---- one case after another


def play_all(cases: Sequence[Case], *, quiet: bool = True) -> Iterator[Verdict]:
    with scratch_database(), closing(Eyes()) as eyes:
        for number, case in enumerate(cases):
            verdict = play(case, number, eyes)
            if not quiet:
                sys.stderr.write(f"{case.id} {verdict.word}\n")
            yield verdict


def play(case: Case, number: int, eyes: Eyes) -> Verdict:
    """One case in a world, a database and processes of its own."""
    verdict = Verdict(case.id)
    try:
        world = world_of(case)
        fault = read_fault(case.fault)
        refuse_unknown(case)
    except NotSupported as missing:
        verdict.missing.append(str(missing))
        return verdict
    script = Script()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory("-case")))
        server = stack.enter_context(model_server_thread())
        server.reply = script
        database_url = stack.enter_context(case_database(number))
        house = House(
            folder,
            database_url=database_url,
            model_url=server.base_url,
            fault=fault,
            with_worker=any(kind_of(one) == "kill" for one in case.all_steps()),
        )
        stack.callback(house.stop)
        house.start()
        plant(world, folder)
        broker = stack.enter_context(_listening_to_the_broker(case))
        house.wait_until_up()
        owners = {number: one["customer"] for number, one in world["orders"].items()}
        stage = Stage(case, house, script, eyes, owners)
        _play_on(stage, broker, verdict)
        for visitor in stage.visitors.values():
            visitor.leave()
    return verdict


def _play_on(stage: Stage, broker: list[str] | None, verdict: Verdict) -> None:
    try:
        if any(atom.name == "rss_growth_mb" for atom in stage.case.atoms):
            stage.memory_before = stage.house.memory_mb()
        stage.play()
    except NotSupported as missing:
        verdict.missing.append(str(missing))
        return
    evidence = Evidence(stage, broker)
    both = ((stage.case.must, True), (stage.case.must_not, False))
    for lines, wanted in both:
        for line in lines:
            try:
                kept, seen = judge(line, evidence, wanted=wanted)
            except NotSupported as missing:
                verdict.missing.append(str(missing))
                continue
            if not kept:
                told = line.text if wanted else f"must not: {line.text}"
                verdict.failed.append((told, seen))


def refuse_unknown(case: Case) -> None:
    """``NotSupported`` for what is known beforehand not to be there."""
    actor = adapter.person(case.who)
    for step in case.all_steps():
        match kind_of(step):
            case "":
                raise NotSupported(f"the step {json.dumps(step, ensure_ascii=False)}")
            case "takeover":
                adapter.person(step["takeover"])
                adapter.person(step.get("by", adapter.AGENT))
            case "send" | "raw_text" | "raw_hex" if not actor.chats:
                raise NotSupported("a chat page for staff")
            case "open":
                adapter.person(step["open"][1])
            case _:
                pass
    for atom in case.atoms:
        known = atom.name in MEASURES or atom.op == "~"
        if not known:
            raise NotSupported(f"the atom {atom.text!r}")


# ---- the broker


@contextmanager
def _listening_to_the_broker(case: Case) -> Iterator[list[str] | None]:
    """What goes through Redis while a case is played, where it asks for that."""
    if not settings.REDIS_URL:
        yield None
        return
    heard: list[str] = []
    if not any(atom.name == "broker" for atom in case.atoms):
        yield heard
        return
    over = threading.Event()
    client = Redis.from_url(settings.REDIS_URL, socket_timeout=None)

    def listen() -> None:
        with client.monitor() as monitor:  # type: ignore[no-untyped-call]
            while not over.is_set():
                heard.append(str(monitor.next_command()["command"]))

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield heard
    finally:
        over.set()
        client.ping()  # the last thing that the listener hears
        listener.join(5)
        client.close()
