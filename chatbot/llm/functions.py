"""Tools as functions of the chat API, and calls of functions as proposals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import orjson

from chatbot.llm.strict_json import NotStrict, read_object
from chatbot.react.types import AskCustomer, HandOver, Malformed, Proposal
from chatbot.understanding.needs import Language
from tools.contracts import Json, ToolCall, ToolSpec
from tools.redaction import redact

ASK_CUSTOMER = "ask_customer"
HAND_OFF = "handoff_to_human"
THOUGHT = "thought"
MAX_THOUGHT = 200
MAX_TEXT = 1000
MAX_OPTIONS = 8
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

_WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        THOUGHT: "one short public note: why this step (no facts, no numbers)",
        ASK_CUSTOMER: "Ask the customer one question, when you cannot go on without "
        "the answer (for example: which order). Ends your turn.",
        "text": "the question, in the customer's language",
        "options": "up to 8 short answers to choose from, such as order numbers",
        HAND_OFF: "Hand the conversation to a person: the customer wants one, or you "
        "cannot help. Ends your turn.",
        "reason": "why, for the staff, in one sentence",
    },
    "zh": {
        THOUGHT: "一句简短的公开说明：为什么走这一步（不写事实和号码）",
        ASK_CUSTOMER: "没有客户的回答就无法继续时，问客户一个问题（例如：哪个订单）。"
        "问完即结束本轮。",
        "text": "用客户的语言写的问题",
        "options": "最多 8 个可选的简短回答，例如订单号",
        HAND_OFF: "转给人工：客户要求人工，或你无法解决。转接即结束本轮。",
        "reason": "给客服看的原因，一句话",
    },
}


def functions(tools: Sequence[ToolSpec], language: Language) -> bytes:
    """The ``tools`` field of a request, encoded; the same bytes for the same tools."""
    return _encoded(tuple(_Same(tool) for tool in tools), language)


def function_list(
    tools: Sequence[ToolSpec], language: Language
) -> list[dict[str, Json]]:
    """The functions offered: each tool with a ``thought``, and the two ways to stop."""
    words = _WORDS[language]
    text: dict[str, Json] = {"type": "string"}
    return [
        *(_function(tool, language) for tool in tools),
        _declare(
            ASK_CUSTOMER,
            words[ASK_CUSTOMER],
            {
                "text": {**text, "description": words["text"]},
                "options": {
                    "type": "array",
                    "items": text,
                    "description": words["options"],
                },
            },
            ["text"],
        ),
        _declare(
            HAND_OFF,
            words[HAND_OFF],
            {"reason": {**text, "description": words["reason"]}},
            ["reason"],
        ),
    ]


class _Same:
    """A tool as a cache key: by identity, since a ``ToolSpec`` holds dicts."""

    __slots__ = ("tool",)

    def __init__(self, tool: ToolSpec) -> None:
        self.tool = tool

    def __hash__(self) -> int:
        return id(self.tool)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.tool is self.tool


@lru_cache(maxsize=64)
def _encoded(tools: tuple[_Same, ...], language: Language) -> bytes:
    return orjson.dumps(function_list([same.tool for same in tools], language))


def _function(tool: ToolSpec, language: Language) -> dict[str, Json]:
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    # After the tool's own arguments: what a model writes first should be the id.
    with_thought: dict[str, Json] = {
        **(properties if isinstance(properties, dict) else {}),
        THOUGHT: {"type": "string", "description": _WORDS[language][THOUGHT]},
    }
    return _declare(
        tool.name,
        tool.description.get(language) or tool.description["en"],
        with_thought,
        list(required) if isinstance(required, list) else [],
    )


def _declare(
    name: str, description: str, properties: dict[str, Json], required: list[Json]
) -> dict[str, Json]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            },
        },
    }


def read_call(call_id: str, name: object, arguments: object) -> Proposal | Malformed:
    """What a function call proposes; ``Malformed`` where it is not plainly right.

    The tool may still be unknown and the arguments wrong: the loop says so.
    """
    if not isinstance(arguments, str):
        return Malformed(
            "the arguments must be a JSON object in a string", call_id, _printable(name)
        )
    try:
        given = read_object(arguments)
    except NotStrict as problem:
        return Malformed(str(problem), call_id, _printable(name), _printable(arguments))
    return read_arguments(call_id, name, given)


def read_arguments(
    call_id: str, name: object, given: Mapping[str, Json]
) -> Proposal | Malformed:
    """The same, where the arguments have been read already."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return Malformed("the call names no function", call_id, _printable(name))
    thought = given.get(THOUGHT, "")
    given = {key: value for key, value in given.items() if key != THOUGHT}
    if not isinstance(thought, str):
        return Malformed(
            f"{THOUGHT!r} must be a text", call_id, name, _printable(given)
        )
    if name == ASK_CUSTOMER:
        return _ask(call_id, given)
    if name == HAND_OFF:
        return _hand_off(call_id, given)
    return ToolCall(call_id, name, given, _note(thought, given))


def _note(thought: str, given: Mapping[str, Json]) -> str:
    """One line that staff and customers may see; the call's own numbers stay."""
    keep = [value for value in given.values() if isinstance(value, str)]
    return redact(" ".join(thought.split())[:MAX_THOUGHT], keep=keep) if thought else ""


def _ask(call_id: str, given: Mapping[str, Json]) -> AskCustomer | Malformed:
    text, options = given.get("text"), given.get("options", [])
    if not isinstance(text, str) or not text.strip():
        return Malformed("'text' must be the question", call_id, ASK_CUSTOMER)
    if not isinstance(options, list) or not all(
        isinstance(one, str) for one in options
    ):
        return Malformed("'options' must be a list of texts", call_id, ASK_CUSTOMER)
    if unknown := set(given) - {"text", "options"}:
        return Malformed(f"unknown argument {min(unknown)!r}", call_id, ASK_CUSTOMER)
    shown = tuple(dict.fromkeys(str(one).strip()[:80] for one in options if one))
    return AskCustomer(text.strip()[:MAX_TEXT], shown[:MAX_OPTIONS])


def _hand_off(call_id: str, given: Mapping[str, Json]) -> HandOver | Malformed:
    reason = given.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        return Malformed("'reason' must say why", call_id, HAND_OFF)
    if unknown := set(given) - {"reason"}:
        return Malformed(f"unknown argument {min(unknown)!r}", call_id, HAND_OFF)
    return HandOver(reason.strip()[:MAX_TEXT])


def _printable(value: object) -> str:
    """What came instead, short and storable, for the trace."""
    text = (
        value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    )
    kept = text[:1000].encode("utf-8", "replace").decode()
    return kept.replace("\0", "\ufffd")
