"""The floor: a dozen lines on the openai client, tools in memory, no trace."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any

from openai import AsyncOpenAI

from benchmarks.scenario import IN_MEMORY, SYSTEM, TOOLS

MAX_STEPS = 8


async def connect(
    *, base_url: str, model: str, stream: bool
) -> Callable[[str], Awaitable[str]]:
    client = AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0)
    completions: Any = client.chat.completions
    read = _streamed if stream else _whole

    async def answer(text: str) -> str:
        messages: list[Any] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": text},
        ]
        for _ in range(MAX_STEPS):
            reply = await completions.create(
                model=model, messages=messages, tools=TOOLS, stream=stream
            )
            said = await read(reply)
            messages.append(said)
            if not said.get("tool_calls"):
                return str(said["content"])
            for call in said["tool_calls"]:
                function = call["function"]
                made = IN_MEMORY[function["name"]](**json.loads(function["arguments"]))
                result = {"role": "tool", "tool_call_id": call["id"], "content": made}
                messages.append(result)
        raise RuntimeError("no answer")

    return answer


async def _whole(reply: Any) -> dict[str, Any]:
    message = reply.choices[0].message
    calls = [
        _call(call.id, call.function.name, call.function.arguments)
        for call in message.tool_calls or ()
    ]
    return _said(message.content, calls)


async def _streamed(events: AsyncIterable[Any]) -> dict[str, Any]:
    text: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    async for event in events:
        if not event.choices:
            continue
        delta = event.choices[0].delta
        text.append(delta.content or "")
        for part in delta.tool_calls or ():
            if part.id:
                calls[part.index] = _call(part.id, part.function.name, "")
            arguments = part.function.arguments or ""
            calls[part.index]["function"]["arguments"] += arguments
    return _said("".join(text) or None, list(calls.values()))


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def _said(text: str | None, calls: list[dict[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": text}
    return {**said, "tool_calls": calls} if calls else said
