"""``manage.py ask``: a question from a terminal, on the same path as from a page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chatbot.assistant.wiring import build_model, limits_from_settings
from chatbot.chat import services
from chatbot.chat.launch import launcher
from chatbot.chat.models import Account, Message, Run, Speaker, Step
from chatbot.chat.stream import stream
from chatbot.llm.pool import close_connections
from chatbot.understanding.text import is_blank
from tools.contracts import Role
from tools.database import in_database


class Command(BaseCommand):
    help = "Ask the assistant as one of the customers and print its steps as they come."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("question", nargs="?", help="what to ask")
        parser.add_argument(
            "--as", dest="name", required=True, help="log-in name of the customer"
        )
        parser.add_argument(
            "--json", action="store_true", help="one JSON object a line"
        )
        parser.add_argument("--model", choices=("offline", "openai"))
        parser.add_argument(
            "--questions",
            type=Path,
            metavar="FILE.jsonl",
            help="ask each line's `text`, each in a conversation of its own",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        question, file = options["question"], options["questions"]
        if (question is None) == (file is None):
            raise CommandError("give either a question or --questions FILE.jsonl")
        if question is not None and is_blank(question):
            raise CommandError("the question is empty")
        account = _account(options["name"])
        try:
            build_model(options["model"], limits_from_settings())
        except ImproperlyConfigured as problem:
            raise CommandError(str(problem)) from None
        asker = _Asker(self, account, options["model"], as_json=options["json"])
        if file is None:
            asyncio.run(_to_its_end(asker.ask(question)))
        else:
            asyncio.run(_to_its_end(asker.ask_all(list(_questions(file)))))


async def _to_its_end(asking: Awaitable[None]) -> None:
    try:
        await asking
    finally:
        await close_connections()


def _account(name: str) -> Account:
    account = Account.objects.filter(
        user__username=name, user__is_active=True, role=Role.CUSTOMER
    ).first()
    if account is None:
        raise CommandError(f"there is no customer named {name!r}")
    return account


def _questions(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                question = json.loads(line)
                empty = is_blank(question["text"] + "")
            except (ValueError, KeyError, TypeError):
                empty = True
            if empty:
                raise CommandError(f"{file}:{number} has no `text`")
            yield {"id": number, **question}


class _Asker:
    """Asks and prints; customers' own limits do not apply to whoever runs commands."""

    def __init__(
        self, command: Command, account: Account, model: str | None, *, as_json: bool
    ) -> None:
        self.command = command
        self.account = account
        self.model = model
        self.as_json = as_json

    async def ask(self, text: str) -> None:
        """One question; its steps are printed as they are saved."""
        conversation_id, run_id = await in_database(self._accept, text)
        printer = _Printer(self)
        stream().join(conversation_id, printer)
        await self._carry(run_id)
        closing = await in_database(_closing, run_id)
        self.print(closing if self.as_json else _closing_text(closing))

    async def ask_all(self, questions: list[dict[str, Any]]) -> None:
        for question in questions:
            _, run_id = await in_database(self._accept, question["text"])
            await self._carry(run_id)
            closing = await in_database(_closing, run_id)
            closing = {"type": closing.pop("type"), "id": question["id"], **closing}
            self.print(closing if self.as_json else _closing_text(closing))

    def print(self, line: dict[str, Any] | str) -> None:
        if isinstance(line, dict):
            line = json.dumps(line, ensure_ascii=False, default=str)
        self.command.stdout.write(line)
        self.command.stdout.flush()

    def _accept(self, text: str) -> tuple[UUID, UUID]:
        now = timezone.now()
        conversation = services.start_conversation(account=self.account, now=now)
        accepted = services.accept_message(
            conversation.pk,
            account_id=self.account.pk,
            client_id=uuid4().hex,
            text=text,
            now=now,
            limited=False,
        )
        if accepted.run_id is None:
            raise CommandError("the conversation was deleted meanwhile")
        return conversation.pk, accepted.run_id

    async def _carry(self, run_id: UUID) -> None:
        task = launcher().start(run_id, model_name=self.model)
        if task is None:
            raise CommandError("there is no room for another run in this process")
        await task


class _Printer:
    """Follows a log, as a page does."""

    def __init__(self, asker: _Asker) -> None:
        self.asker = asker

    def offer(self, seq: int, entry: str) -> None:
        frame = json.loads(entry)
        shown = _LINES.get(frame["type"])
        if shown is None:
            return
        line = {"type": shown, **{name: frame[name] for name in _FIELDS[shown]}}
        self.asker.print(line if self.asker.as_json else _line_text(line))

    def grew_to(self, last_seq: int) -> None:
        """Whatever this run writes is offered."""


_LINES = {
    "run.started": "run.started",
    "step.action": "action",
    "step.observation": "observation",
    "step.refused": "refused",
    "step.sent_back": "sent_back",
    "step.note": "note",
}
_FIELDS = {
    "run.started": ("model", "language", "needs"),
    "action": ("step", "tool", "arguments", "thought"),
    "observation": ("step", "tool", "status", "fields", "observed_at", "source"),
    "refused": ("step", "code", "tool"),
    "sent_back": ("step", "missing", "unproved"),
    "note": ("step", "code"),
}


def _line_text(line: dict[str, Any]) -> str:
    match line["type"]:
        case "run.started":
            return f"· {line['model']} ({', '.join(line['needs'])})"
        case "action":
            said = ", ".join(f"{k}={v}" for k, v in line["arguments"].items())
            note = f"  # {line['thought']}" if line["thought"] else ""
            return f"{line['step']} → {line['tool']}({said}){note}"
        case "observation":
            fields = json.dumps(line["fields"], ensure_ascii=False)
            return f"  ← {line['status']} [{line['source']}] {fields}"
        case other:
            rest = {k: v for k, v in line.items() if k not in ("type", "step")}
            return f"{line['step']} × {other} {rest}"


def _closing(run_id: UUID) -> dict[str, Any]:
    """The last line of a run, from what is stored."""
    run = Run.objects.get(pk=run_id)
    answer = Message.objects.filter(run=run, speaker=Speaker.ASSISTANT).first()
    end = Step.objects.filter(run=run, kind="stopped").first()
    slots = end.body["coverage"]["slots"] if end else []
    tokens = {
        "prompt": run.prompt_tokens,
        "completion": run.completion_tokens,
        "estimated": run.tokens_estimated,
    }
    return {
        "type": "run.stopped",
        "run": run.pk,
        "stop_reason": run.stop_reason,
        "answer": answer.text if answer else "",
        "needs": [_need(slot) for slot in slots],
        "steps": run.steps_used,
        "tokens": tokens,
        "hand_over": run.hand_over,
    }


def _need(slot: dict[str, Any]) -> dict[str, Any]:
    need = {"need": slot["need"], "order": slot["order"]}
    if slot["state"] == "filled":
        return {**need, "filled": slot["value"], "observation": slot["observation_id"]}
    return {**need, "filled": None, "why": slot["why"] or slot["state"]}


def _closing_text(closing: dict[str, Any]) -> str:
    identity = f"{closing['id']}: " if "id" in closing else ""
    return f"\n{identity}{closing['answer']}\n[{closing['stop_reason']}]"
