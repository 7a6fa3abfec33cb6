"""Decisions as JSON text, for endpoints without native function calls.

``LLM_TOOL_MODE=json``: the functions are described in the system text and the model
writes one object, ``{"name": …, "arguments": {…}}``; an answer is one more function.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

import orjson

from chatbot.llm.functions import function_list, read_arguments
from chatbot.llm.messages import (
    Draft,
    Exchange,
    Message,
    Note,
    append,
    arguments_with_thought,
    entries,
    opening,
)
from chatbot.llm.strict_json import NotStrict, read_object
from chatbot.react.types import FinalAnswer, Malformed, Proposal, RunState
from chatbot.understanding.needs import Language
from tools.contracts import Json, ToolSpec

ANSWER = "final_answer"
MAX_BYTES = 16 * 1024
_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?```\s*", re.DOTALL)
_HOW: dict[Language, str] = {
    "en": "Reply with ONE JSON object and nothing else: "
    '{{"name": <function>, "arguments": {{…}}}}. To answer the customer use '
    '{{"name": "final_answer", "arguments": {{"text": "…"}}}}.\nFunctions:\n{}',
    "zh": "只回复一个 JSON 对象，不要有别的内容："
    '{{"name": <函数名>, "arguments": {{…}}}}。回答客户时用 '
    '{{"name": "final_answer", "arguments": {{"text": "…"}}}}。\n函数：\n{}',
}
_RESULT: dict[Language, str] = {"en": "Result of {}:", "zh": "{} 的结果："}


def messages(
    state: RunState,
    tools: Sequence[ToolSpec],
    *,
    instructions: str,
    window: int,
    max_bytes: int,
) -> list[Message]:
    """The messages of one model call, decisions as text."""
    language = state.question.language if state.question else "en"
    listed = "\n".join(
        orjson.dumps(one["function"]).decode() for one in function_list(tools, language)
    )
    how = _HOW[language].format(listed)
    result = opening(state, f"{instructions}\n\n{how}")
    for entry in entries(state, window=window, max_bytes=max_bytes):
        match entry:
            case Exchange(call, text):
                decision = {
                    "name": call.name,
                    "arguments": arguments_with_thought(call),
                }
                append(result, "assistant", orjson.dumps(decision).decode())
                append(result, "user", f"{_RESULT[language].format(call.name)}\n{text}")
            case Draft(text):
                decision = {"name": ANSWER, "arguments": {"text": text}}
                append(result, "assistant", orjson.dumps(decision).decode())
            case Note(text):
                append(result, "user", text)
    return result


def response_format(
    tools: Sequence[ToolSpec], language: Language, quirks: Set[str]
) -> dict[str, object]:
    """The tightest ``response_format`` that the endpoint has not refused."""
    if "response_format" in quirks:
        return {}
    if "json_schema" in quirks:
        return {"response_format": {"type": "json_object"}}
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "decision", "schema": _schema(tools, language)},
        }
    }


def _schema(tools: Sequence[ToolSpec], language: Language) -> dict[str, Json]:
    choices: list[Json] = []
    for one in function_list(tools, language):
        function = one["function"]
        if isinstance(function, dict):
            choices.append(_choice(function["name"], function["parameters"]))
    text: Json = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    }
    return {"anyOf": [*choices, _choice(ANSWER, text)]}


def _choice(name: Json, arguments: Json) -> Json:
    return {
        "type": "object",
        "properties": {"name": {"enum": [name]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def read_decision(call_id: str, text: str) -> Proposal | Malformed:
    """What the text proposes; text around the one object is not looked through."""
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        decision = read_object(text, max_bytes=MAX_BYTES)
    except NotStrict as problem:
        return Malformed(f"not one JSON object: {problem}", call_id)
    name, arguments = decision.get("name"), decision.get("arguments")
    if set(decision) != {"name", "arguments"} or not isinstance(arguments, dict):
        return Malformed("the object must be {name, arguments: {…}}", call_id)
    if name == ANSWER:
        answer = arguments.get("text")
        if not isinstance(answer, str) or not answer.strip() or len(arguments) != 1:
            return Malformed("'text' must be the answer", call_id, ANSWER)
        return FinalAnswer(answer.strip())
    return read_arguments(call_id, name, arguments)
