"""What all processes count together, in Redis; while it is away, each counts alone.

Redis holds hints only: emptied, it lets an address come a few times more and a customer
keep a page more, for as long as a window lasts.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar, cast
from uuid import uuid4

from django.conf import settings
from redis.asyncio import Redis
from redis.exceptions import RedisError

from chatbot.accounts.digests import address_digest
from chatbot.chat.loops import one_per_loop

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Nobody who opens a page waits longer for a count.
SECONDS = 0.5
# After a failure it is left alone for so long.
ASK_AGAIN = 5.0
# A socket that no process has spoken of for so many looks is gone with its process.
LOOKS_TO_LIVE = 2
AT_ONCE = 500
PREFIX = "waybill"

_NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
# A sliding window: the times of an address's comings, in milliseconds.
_COME = f"""{_NOW}
local window, most = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
if redis.call('ZCARD', KEYS[1]) >= most then return 0 end
redis.call('ZADD', KEYS[1], now, now .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], window)
return 1
"""
# Each person's sockets by when they were last spoken of; a name begins with the time
# at which it was opened. Gives the numbers of those that too many are newer than.
_STAY = f"""{_NOW}
local life, beyond = tonumber(ARGV[1]), {{}}
for i, key in ipairs(KEYS) do
  redis.call('ZADD', key, now, ARGV[2 * i])
  redis.call('PEXPIRE', key, life)
end
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - life)
  local newer = 0
  for _, name in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    if name > ARGV[2 * i] then newer = newer + 1 end
  end
  if newer >= tonumber(ARGV[2 * i + 1]) then beyond[#beyond + 1] = i - 1 end
end
return beyond
"""


@dataclass(frozen=True, slots=True)
class Place:
    """One open socket of a person, of whom at most ``most`` stay open."""

    account_id: int
    name: str
    most: int

    @property
    def key(self) -> str:
        return f"{PREFIX}:sockets:{self.account_id}"


class Shared:
    """The counts of one process and of all others."""

    def __init__(self) -> None:
        self._redis: Any = None
        if settings.REDIS_URL:
            self._redis = Redis.from_url(
                settings.REDIS_URL,
                socket_timeout=SECONDS,
                socket_connect_timeout=SECONDS,
            )
        self._ask_at = 0.0

    async def may_come(self, address: str, *, most: int, seconds: float) -> bool:
        """Count a coming of this address; False for one too many of all processes."""
        if not self._asks:
            return True
        key = f"{PREFIX}:comings:{address_key(address)}"
        window = int(seconds * 1000)
        asked = self._redis.eval(_COME, 1, key, window, most, uuid4().hex)
        return await self._answer(cast("Awaitable[int]", asked), 1) == 1

    async def beyond(self, places: Sequence[Place]) -> set[str]:
        """Say that these sockets are open; the names of those that are too old."""
        found: set[str] = set()
        life = int(LOOKS_TO_LIVE * settings.CHAT_POLL_SECONDS * 1000)
        for at in range(0, len(places), AT_ONCE):
            if not self._asks:
                break
            some = places[at : at + AT_ONCE]
            values = [value for one in some for value in (one.name, one.most)]
            keys = [one.key for one in some]
            asked = self._redis.eval(_STAY, len(keys), *keys, life, *values)
            numbers = await self._answer(cast("Awaitable[list[int]]", asked), [])
            found |= {some[number].name for number in numbers}
        return found

    async def gone(self, places: Sequence[Place]) -> None:
        """Say that these were closed."""
        if not places or not self._asks:
            return
        pipeline = self._redis.pipeline(transaction=False)
        for place in places:
            pipeline.zrem(place.key, place.name)
        await self._answer(pipeline.execute(), [])

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.aclose()

    @property
    def _asks(self) -> bool:
        return self._redis is not None and monotonic() >= self._ask_at

    async def _answer(self, asked: Awaitable[T], otherwise: T) -> T:
        try:
            return await asked
        except (RedisError, OSError) as error:
            self._ask_at = monotonic() + ASK_AGAIN
            logger.warning("limits are counted in each process alone: %s", error)
            return otherwise


shared = one_per_loop(Shared)


def address_key(address: str) -> str:
    """An address as it is counted: nobody reads from it whose it is."""
    return address_digest("new sockets", address)
