"""The house keeps its own rules: the pages are complete, the ban list is empty."""

from __future__ import annotations

import ast
import csv
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.chat import frames
from chatbot.react.endings import ENDINGS
from chatbot.react.types import StopReason
from tools.catalog import CATALOG

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
ROOMS = ("chatbot", "tools")
# Folders that hold no text of ours.
NOT_OURS = {".git", ".venv", "var", "__pycache__", "node_modules"}


def python_files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (ROOT / folder).rglob("*.py")


def trees(*folders: str) -> Iterator[tuple[Path, ast.AST]]:
    for file in python_files(*folders):
        yield file, ast.parse(file.read_text("utf-8"))


def named_in(page: str) -> set[str]:
    """What a page sets in code font."""
    text = (DOCS / page).read_text("utf-8")
    return {word for code in re.findall(r"`([^`]+)`", text) for word in code.split()}


def where(file: Path, node: ast.AST) -> str:
    return f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


# ---- the pages (docs/settings.md is held by tests/project/test_settings.py)


def test_every_tool_is_explained() -> None:
    assert sorted(set(CATALOG) - named_in("tools.md")) == []


def test_every_frame_that_a_page_may_send_is_explained() -> None:
    source = (ROOT / "chatbot" / "chat" / "frames.py").read_text("utf-8")
    sent = set(re.findall(r'case "([a-z_.]+)"', source))
    assert len(sent) >= len(typing.get_args(frames.ClientFrame))
    assert sorted(sent - named_in("protocol.md")) == []


def test_every_frame_that_a_page_is_sent_is_explained() -> None:
    types = set()
    for _, tree in trees("chatbot/chat"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    is_type = isinstance(key, ast.Constant) and key.value == "type"
                    if is_type and isinstance(value, ast.Constant):
                        types.add(str(value.value))
    assert "hello" in types
    # Messages between processes and to the server are no frames.
    types = {name for name in types if not name.startswith(("websocket.", "log."))}
    assert sorted(types - named_in("protocol.md")) == []


def test_every_stop_reason_is_explained_as_it_is() -> None:
    page = (DOCS / "stop-reasons.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (\w+) \| (\w+) \|$", page, re.MULTILINE)
    told = {name: (retry == "yes", hand_over) for name, retry, hand_over in rows}
    assert told == {
        str(reason): (ending.can_retry, str(ending.hand_over))
        for reason, ending in ENDINGS.items()
    }
    assert set(told) == set(StopReason)


def test_every_decision_states_itself_in_its_title_and_stays_short() -> None:
    for page in sorted((DOCS / "decisions").glob("*.md")):
        assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", page.name), page.name
        lines = page.read_text("utf-8").splitlines()
        assert lines[0].startswith("# "), page.name
        assert len(lines) < 30, page.name


def test_every_known_failure_is_held_by_tests_that_there_are() -> None:
    table = (ROOT / "docs" / "assurance" / "known_failures.md").read_text("utf-8")
    rows = [row for row in table.splitlines() if re.match(r"\| \d", row)]
    assert [int(row.split("|")[1]) for row in rows] == list(range(1, 41))
    for row in rows:
        named = re.findall(r"`(tests/\S+\.py)::(\w+)`", row)
        assert named, row
        for file, name in named:
            assert f"def {name}(" in (ROOT / file).read_text("utf-8"), f"{file} {name}"


def test_every_requirement_of_asvs_that_is_met_is_held_by_tests_that_there_are() -> (
    None
):
    with (DOCS / "assurance" / "asvs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = [tuple(map(int, row["requirement"][1:].split("."))) for row in rows]
    assert numbers == sorted(set(numbers))
    for row in rows:
        assert row["level"] in {"1", "2"}, row
        assert row["verdict"] in {"met", "elsewhere", "not applicable", "open"}, row
        assert row["how"], row
        assert bool(row["tests"]) is (row["verdict"] == "met"), row
        for named in row["tests"].split():
            file_name, name = named.split("::")
            assert f"def {name}(" in (ROOT / file_name).read_text("utf-8"), named


# ---- what nobody writes


def test_no_transaction_is_opened_in_a_coroutine() -> None:
    found = []
    for file, tree in trees(*ROOMS):
        for node in ast.walk(tree):
            if not isinstance(node, ast.AsyncFunctionDef):
                continue
            for inner in ast.walk(node):
                if isinstance(inner, ast.Attribute) and inner.attr == "atomic":
                    found.append(where(file, inner))
    assert found == []


def test_no_task_is_put_off_in_the_broker() -> None:
    """Past its visibility timeout Redis gives such a task out again and again."""
    found = []
    for file, tree in trees(*ROOMS):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "attr", "")
            put_off = {"countdown", "eta"} & {word.arg for word in node.keywords}
            if put_off or called in {"apply_async", "autoretry_for"}:
                found.append(where(file, node))
    assert found == []


def test_nobody_vouches_for_a_text_s_markup() -> None:
    found = []
    for file, tree in trees(*ROOMS):
        for node in ast.walk(tree):
            called = node.func if isinstance(node, ast.Call) else None
            name = called.id if isinstance(called, ast.Name) else ""
            if name in {"mark_safe", "SafeString", "SafeText"}:
                found.append(where(file, node))
    unsafe = re.compile(r"\|\s*safe\b|\|\s*safeseq\b|\{%\s*autoescape\s+off")
    for template in (ROOT / "templates").rglob("*.html"):
        if unsafe.search(template.read_text("utf-8")):
            found.append(str(template.relative_to(ROOT)))
    writes = re.compile(
        r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval)\b"
    )
    for script in (ROOT / "static").rglob("*.js"):
        if writes.search(script.read_text("utf-8")):
            found.append(str(script.relative_to(ROOT)))
    assert found == []


def test_templates_hold_no_script_style_or_other_host() -> None:
    inline = re.compile(
        r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>|<style|\sstyle=|\son[a-z]+="
        r"|javascript:|(?:src|href)=[\"']?(?:https?:)?//"
    )
    found = [
        f"{template.relative_to(ROOT)}: {match[0]}"
        for template in (ROOT / "templates").rglob("*.html")
        for match in inline.finditer(template.read_text("utf-8"))
    ]
    assert found == []


def test_business_retries_never_wait_in_the_broker() -> None:
    banned = {"countdown", "eta", "autoretry_for", "retry_backoff"}
    found = []
    for file, tree in trees(*ROOMS):
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg in banned:
                found.append(where(file, node.value))
    assert found == []


def test_packages_hold_nothing_but_the_three_that_may() -> None:
    may = {
        "chatbot/__init__.py",
        "tools/catalog/__init__.py",
        "tools/backends/__init__.py",
    }
    found = [
        name
        for file in python_files(*ROOMS)
        if file.name == "__init__.py"
        and (name := str(file.relative_to(ROOT))) not in may
        and file.read_text("utf-8").strip()
    ]
    assert found == []


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "HACK"])
def test_nothing_is_left_for_later(word: str) -> None:
    mark = re.compile(rf"(?<![\w-]){word}(?![\w-])")
    found = [
        str(file.relative_to(ROOT))
        for file in python_files(*ROOMS)
        if mark.search(file.read_text("utf-8"))
    ]
    assert found == []
