"""What a model is told of a proposal that was refused: why, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chatbot.understanding.needs import Language
from tools.contracts import Json, ToolSpec

_TEXTS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "malformed": "The call was not run: {problem}. {usage}",
        "unknown_tool": "There is no tool named {name!r}. Tools: {tools}.",
        "bad_arguments": "The call was not run: {problem}. {usage}",
        "unknown_number": "The call was not run: {number!r} was neither written by the "
        "customer nor returned by a tool. {known}Look it up first, "
        "or ask the customer.",
        "known": "Numbers known: {numbers}. ",
        "not_alone": "Do one thing at a time: either call tools, or answer.",
        "write_not_alone": "{name} changes something and must be the only call.",
        "bad_options": "Offer at most {count} options of one line each, at most "
        "{characters} characters, with numbers that were observed only.",
        "usage": "Right: {usage}.",
    },
    "zh": {
        "malformed": "该调用没有执行：{problem}。{usage}",
        "unknown_tool": "没有名为 {name!r} 的工具。可用的工具：{tools}。",
        "bad_arguments": "该调用没有执行：{problem}。{usage}",
        "unknown_number": "该调用没有执行：号码 {number!r} 既不是客户写的，"
        "也不是工具返回的。{known}请先查询，或者询问客户。",
        "known": "已知的号码：{numbers}。",
        "not_alone": "一次只做一件事：要么调用工具，要么回答。",
        "write_not_alone": "{name} 会做出改动，必须单独调用。",
        "bad_options": "最多给出 {count} 个选项，每个一行，不超过 {characters} 个字，"
        "其中的号码必须是查到过的。",
        "usage": "正确用法：{usage}。",
    },
}


def refusal(code: str, language: Language, **parts: object) -> str:
    return _TEXTS[language][code].format(**parts).strip()


def usage(spec: ToolSpec | None, language: Language) -> str:
    """How a tool is called, in one line; "" where there is no such tool."""
    if spec is None:
        return ""
    required = spec.parameters.get("required")
    names = required if isinstance(required, list) else []
    arguments = (
        f"{name}{'' if name in names else '?'}: {_type(schema)}"
        for name, schema in _properties(spec).items()
    )
    return refusal("usage", language, usage=f"{spec.name}({', '.join(arguments)})")


def numbers_known(numbers: Iterable[str], language: Language) -> str:
    listed = ", ".join(numbers)
    return refusal("known", language, numbers=listed) + " " if listed else ""


def _properties(spec: ToolSpec) -> Mapping[str, Json]:
    properties = spec.parameters.get("properties")
    return properties if isinstance(properties, dict) else {}


def _type(schema: Json) -> str:
    if not isinstance(schema, dict):
        return "any"
    choices = schema.get("enum")
    if isinstance(choices, list):
        return " | ".join(str(choice) for choice in choices)
    return str(schema["type"])
