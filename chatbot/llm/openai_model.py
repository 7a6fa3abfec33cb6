"""OpenAI's chat completions and every endpoint that speaks the same."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Mapping, Sequence

import orjson

from chatbot.llm import json_mode
from chatbot.llm.client import Connection, Endpoint, connection
from chatbot.llm.functions import functions, read_call
from chatbot.llm.messages import chat_messages
from chatbot.llm.stream import RawReply
from chatbot.llm.transport import REASONING, CallFailed, fetch
from chatbot.llm.usage import estimated_usage
from chatbot.react.types import (
    FinalAnswer,
    Malformed,
    ModelError,
    Proposal,
    Reply,
    RunState,
    Usage,
)
from chatbot.understanding.needs import Language
from tools.contracts import ToolSpec

MAX_ANSWER = 4000
MAX_REASONING = 32_000
_BACKOFF = 0.5
_THINKING = re.compile(r"\s*<think>.*?(?:</think>|\Z)", re.DOTALL)


class OpenAIModel:
    """Proposes what a model at an OpenAI-compatible endpoint replies.

    ``instructions`` is the system text by language; ``window`` and ``max_bytes`` say
    how much of the observations the model is shown. One instance serves one run: what
    an endpoint wants back of hidden reasoning is kept here until the run ends, and
    nowhere else.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        instructions: Mapping[Language, str],
        window: int = 5,
        max_bytes: int = 4096,
    ) -> None:
        self.endpoint = endpoint
        self.instructions = instructions
        self.window = window
        self.max_bytes = max_bytes
        self.name = endpoint.model
        self._reasoning: dict[str, str] = {}

    async def propose(self, state: RunState, tools: Sequence[ToolSpec]) -> Reply:
        """One whole reply within the endpoint's total deadline, or ``ModelError``.

        A call that failed is repeated only where no part of a reply had come. A reply
        that is whole but unusable comes back as ``Malformed`` proposals.
        """
        shared = connection(self.endpoint)
        deadline = asyncio.get_running_loop().time() + self.endpoint.total
        try:
            async with asyncio.timeout_at(deadline), shared.places:
                return await self._with_retries(shared, state, tools, deadline)
        except TimeoutError:
            # What the endpoint has counted is not known, but it was not nothing.
            asked = self._body(shared, state, tools).decode()
            raise ModelError(
                f"no whole reply within {self.endpoint.total:g} s",
                retryable=True,
                usage=estimated_usage(asked, ""),
            ) from None

    async def _with_retries(
        self,
        shared: Connection,
        state: RunState,
        tools: Sequence[ToolSpec],
        deadline: float,
    ) -> Reply:
        retries = 0
        while True:
            body = self._body(shared, state, tools)
            try:
                return self._reply(
                    await fetch(shared, self.endpoint, body), state, body
                )
            except CallFailed as failed:
                if failed.quirk and failed.quirk not in shared.quirks:
                    shared.quirks.add(failed.quirk)
                    continue
                wait = self._wait_before_retry(failed, retries, deadline)
                if wait is None:
                    failed.error.usage = _usage(failed.partial, body)
                    raise failed.error from None
            retries += 1
            await asyncio.sleep(wait)

    def _wait_before_retry(
        self, failed: CallFailed, retries: int, deadline: float
    ) -> float | None:
        """Seconds to wait before the same call is made again; None where it is not."""
        error = failed.error
        if (
            not error.retryable
            or failed.partial.some
            or retries == self.endpoint.retries
        ):
            return None
        wait = error.retry_after
        if wait is None:
            # Spread out: many runs met the same limit at the same moment.
            wait = _BACKOFF * 2**retries * random.uniform(0.5, 1.5)  # noqa: S311
        return wait if asyncio.get_running_loop().time() + wait < deadline else None

    def _body(
        self, shared: Connection, state: RunState, tools: Sequence[ToolSpec]
    ) -> bytes:
        language = state.question.language if state.question else "en"
        body: dict[str, object] = {"model": self.endpoint.model}
        if self.endpoint.tool_mode == "native":
            body["messages"] = chat_messages(
                state,
                instructions=self.instructions[language],
                window=self.window,
                max_bytes=self.max_bytes,
                reasoning=self._reasoning if REASONING in shared.quirks else None,
            )
            body["tools"] = orjson.Fragment(functions(tools, language))
        else:
            body["messages"] = json_mode.messages(
                state,
                tools,
                instructions=self.instructions[language],
                window=self.window,
                max_bytes=self.max_bytes,
            )
            body |= json_mode.response_format(tools, language, shared.quirks)
        if self.endpoint.stream:
            body["stream"] = True
            if "stream_options" not in shared.quirks:
                body["stream_options"] = {"include_usage": True}
        return orjson.dumps({**body, **self.endpoint.extra_body})

    def _reply(self, raw: RawReply, state: RunState, body: bytes) -> Reply:
        usage = raw.usage or _usage(raw, body)
        call_ids = _call_ids(state, len(raw.calls) or 1)
        if raw.reasoning:
            thinking = "".join(raw.reasoning)[:MAX_REASONING]
            self._reasoning |= dict.fromkeys(call_ids, thinking)
        if raw.calls:
            # Text beside a call is thinking aloud: neither an answer nor a note.
            return Reply(
                tuple(
                    read_call(call_id, call.name, call.arguments)
                    for call_id, call in zip(call_ids, raw.calls.values(), strict=True)
                ),
                usage,
            )
        text = _THINKING.sub("", "".join(raw.text)) or "".join(raw.refusal)
        if self.endpoint.tool_mode == "json":
            return Reply((json_mode.read_decision(call_ids[0], text),), usage)
        return Reply((_final(text),), usage)


def _final(text: str) -> Proposal | Malformed:
    text = text.replace("\0", "").strip()
    if not text:
        return Malformed("the reply was empty: call a function or answer the customer")
    if len(text) > MAX_ANSWER:
        return Malformed(f"the answer is longer than {MAX_ANSWER} characters")
    return FinalAnswer(text)


def _call_ids(state: RunState, count: int) -> list[str]:
    """Ids for the calls of one reply, unique within the run and equal when replayed.

    Vendors' own ids repeat or come empty. Nine letters and digits suit all of them.
    """
    return [f"c{len(state.events):05d}{index:03d}" for index in range(count)]


def _usage(raw: RawReply, body: bytes) -> Usage:
    if raw.usage:
        return raw.usage
    written = "".join(raw.text) + "".join(
        f"{call.name}{call.arguments}" for call in raw.calls.values()
    )
    return estimated_usage(body.decode(), written, "".join(raw.reasoning))
