"""A bare websocket: a question in, an answer out, and nothing in between but a loop.

    LOOP=openai_client uvicorn benchmarks.bare:application

``LOOP`` names a module of benchmarks.loops with ``connect(base_url, model, stream)``,
which gives ``answer(text)``.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

Answer = Callable[[str], Awaitable[str]]


class Bare:
    def __init__(self) -> None:
        self._answer: Answer | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "websocket":
            await self._talk(receive, send)
        else:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"ok"})

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        loop = import_module(f"benchmarks.loops.{os.environ['LOOP']}")
        self._answer = await loop.connect(
            base_url=os.environ["OPENAI_BASE_URL"],
            model=os.environ["LLM_MODEL"],
            stream=os.environ["LLM_STREAM"] == "1",
        )
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _talk(self, receive: Any, send: Any) -> None:
        if self._answer is None:
            raise RuntimeError("the lifespan has not begun")
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            text = await self._answer(message["text"])
            await send({"type": "websocket.send", "text": text})


application = Bare()
