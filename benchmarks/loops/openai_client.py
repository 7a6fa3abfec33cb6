"""The floor: a loop of a dozen lines on the openai client, tools in memory, no trace."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from openai import AsyncOpenAI

from benchmarks.scenario import IN_MEMORY, SYSTEM, TOOLS

MAX_STEPS = 8


async def connect(
    *, base_url: str, model: str, stream: bool
) -> Callable[[str], Awaitable[str]]:
    client = AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0)
    completions: Any = client.chat.completions

    async def step(messages: list[Any]) -> dict[str, Any]:
        reply = await completions.create(model=model, messages=messages, tools=TOOLS)
        message = reply.choices[0].message
        said = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            said["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.function.name,
                        "arguments": call.function.arguments,
                    },
                }
                for call in message.tool_calls
            ]
        return said

    async def streamed(messages: list[Any]) -> dict[str, Any]:
        text: list[str] = []
        calls: dict[int, dict[str, Any]] = {}
        events = await completions.create(
            model=model, messages=messages, tools=TOOLS, stream=True
        )
        async for event in events:
            if not event.choices:
                continue
            delta = event.choices[0].delta
            text.append(delta.content or "")
            for part in delta.tool_calls or ():
                if part.id:
                    function = {"name": part.function.name, "arguments": ""}
                    calls[part.index] = {
                        "id": part.id,
                        "type": "function",
                        "function": function,
                    }
                arguments = part.function.arguments or ""
                calls[part.index]["function"]["arguments"] += arguments
        said: dict[str, Any] = {"role": "assistant", "content": "".join(text) or None}
        return {**said, "tool_calls": list(calls.values())} if calls else said

    propose = streamed if stream else step

    async def answer(text: str) -> str:
        messages: list[Any] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": text},
        ]
        for _ in range(MAX_STEPS):
            said = await propose(messages)
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
