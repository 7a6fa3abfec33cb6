"""A socket's line: whatever comes in whatever order, the page gets each entry once."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from django.db import OperationalError
from hypothesis import given
from hypothesis import strategies as st

from chatbot.chat.line import MAX_HELD, Line
from chatbot.chat.log import LogPage

PAGE = 7


class Database:
    """A log that grows, and reads that take their time or fail."""

    def __init__(self) -> None:
        self.last_seq = 0
        self.reads = 0
        self.away = False

    async def read(self, _: Any, conversation_id: Any, *, after: int) -> LogPage:
        self.reads += 1
        last_seq = self.last_seq  # as of the beginning of the read
        for _turn in range(3):
            await asyncio.sleep(0)
        if self.away:
            raise OperationalError("away")
        until = min(last_seq, after + PAGE)
        return LogPage([entry(seq) for seq in range(after + 1, until + 1)], last_seq)


def entry(seq: int) -> dict[str, Any]:
    return {"type": "message", "seq": seq}


class Socket:
    """The far side: what was sent, checked as a page checks it."""

    def __init__(self, *, last: int = 0, slow: bool = False) -> None:
        self.sent: list[dict[str, Any]] = []
        self.seqs: list[int] = []
        self.closed: list[int] = []
        self.sending = 0
        self.slow = slow
        self.line = Line(uuid4(), last=last, send=self.send, close=self.close)

    async def send(self, text: str) -> None:
        assert self.sending == 0, "two writers"
        self.sending += 1
        await asyncio.sleep(0.001 if self.slow else 0)
        self.sending -= 1
        frame = json.loads(text)
        self.sent.append(frame)
        if "seq" in frame:
            self.seqs.append(frame["seq"])

    async def close(self, code: int) -> None:
        self.closed.append(code)

    async def rest(self) -> None:
        while (pumping := self.line._pumping) is not None:
            await asyncio.wait([pumping])


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    made = Database()
    monkeypatch.setattr("chatbot.chat.line.in_database", made.read)
    return made


async def make_move(move: str, number: int, database: Database, line: Line) -> None:
    match move:
        case "write":
            database.last_seq += number
            if number != 2:  # nobody in this process hears of some
                seq = database.last_seq
                line.offer(seq, json.dumps(entry(seq)))
        case "offer late" if 1 <= number <= database.last_seq:
            line.offer(number, json.dumps(entry(number)))
        case "look":
            line.grew_to(database.last_seq)
        case "push":
            line.push({"type": "pong"})
        case "pause":
            for _ in range(number):
                await asyncio.sleep(0)


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 4)),
        st.tuples(st.just("offer late"), st.integers(0, 30)),
        st.tuples(st.just("look"), st.just(0)),
        st.tuples(st.just("push"), st.just(0)),
        st.tuples(st.just("pause"), st.integers(1, 6)),
    ),
    max_size=40,
)


@given(moves=MOVES, start=st.integers(0, 5))
def test_every_entry_arrives_once_and_in_order(
    moves: list[tuple[str, int]], start: int
) -> None:
    """Writes are offered at once, late, twice or never; reads overlap all of it."""
    database = Database()
    database.last_seq = start

    async def play() -> None:
        socket = Socket()
        socket.line.replay(0)
        for move, number in moves:
            await make_move(move, number, database, socket.line)
        socket.line.grew_to(database.last_seq)
        await socket.rest()
        assert socket.seqs == list(range(1, database.last_seq + 1))
        assert sum(frame["type"] == "caught_up" for frame in socket.sent) == 1
        pushed = sum(move == "push" for move, _ in moves)
        assert sum(frame["type"] == "pong" for frame in socket.sent) == pushed

    with mock.patch("chatbot.chat.line.in_database", database.read):
        asyncio.run(play())


async def test_entries_that_fit_on_need_no_read(database: Database) -> None:
    socket = Socket()
    for seq in range(1, 50):
        database.last_seq = seq
        socket.line.offer(seq, json.dumps(entry(seq)))
    await socket.rest()
    assert socket.seqs == list(range(1, 50))
    assert database.reads == 0


async def test_a_slow_page_is_not_held_in_memory(database: Database) -> None:
    socket = Socket(slow=True)
    most = 0
    for seq in range(1, 2 * MAX_HELD + 1):
        database.last_seq = seq
        socket.line.offer(seq, json.dumps(entry(seq)))
        most = max(most, len(socket.line._queue))
    assert most <= MAX_HELD
    await socket.rest()
    assert socket.seqs == list(range(1, 2 * MAX_HELD + 1))


async def test_a_read_that_failed_is_made_again_at_the_next_look(
    database: Database,
) -> None:
    database.last_seq, database.away = 3, True
    socket = Socket()
    socket.line.replay(0)
    await socket.rest()
    assert socket.sent == []
    database.away = False
    socket.line.grew_to(0)
    await socket.rest()
    assert socket.seqs == [1, 2, 3]
    assert socket.sent[-1] == {"type": "caught_up", "last_seq": 3}


async def test_nothing_follows_the_close(database: Database) -> None:
    socket = Socket()
    socket.line.push({"type": "error"})
    socket.line.close(4400)
    socket.line.close(4401)
    socket.line.grew_to(9)
    await socket.rest()
    assert [frame["type"] for frame in socket.sent] == ["error"]
    assert socket.closed == [4400]
