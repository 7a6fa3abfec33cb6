"""How much one customer, one address and one socket may ask for in a time."""

from __future__ import annotations

from collections import OrderedDict, deque
from datetime import datetime

from django.conf import settings

from chatbot.chat.models import Account
from chatbot.chat.problems import (
    BAD_FRAMES,
    FAR_TOO_LARGE,
    TOO_MANY,
    Dismissed,
    Problem,
)
from tools.prepared import update_row

MAX_ADDRESSES = 10_000
# A page that types and pings sends far fewer frames.
FRAMES_PER_SECOND = 2
FRAMES_AT_ONCE = 40
# So many refused frames end a socket, and so many past the rate.
MAX_BAD_FRAMES = 10
MAX_EXCESS_FRAMES = 20
FAR = 3  # times the largest frame


def take_from_allowance(account: Account, *, now: datetime) -> float:
    """Take one message from a customer's allowance: 0, or the seconds to wait for one.

    It holds ``CHAT_MESSAGES_BURST`` and fills at ``CHAT_MESSAGES_PER_MINUTE``. The
    account's row is locked by the caller.
    """
    bucket = Bucket(
        size=settings.CHAT_MESSAGES_BURST,
        per_second=settings.CHAT_MESSAGES_PER_MINUTE / 60,
    )
    if account.allowance_at is not None:
        bucket.level, bucket.at = account.allowance, account.allowance_at.timestamp()
    wait = bucket.take(now.timestamp())
    if not wait:
        update_row(
            Account, account.pk, {"allowance": bucket.level, "allowance_at": now}
        )
    return wait


class Bucket:
    """A token bucket: ``size`` at once, ``per_second`` in the long run."""

    __slots__ = ("at", "level", "per_second", "size")

    def __init__(self, *, size: float, per_second: float) -> None:
        self.size = size
        self.per_second = per_second
        self.level = size
        self.at: float | None = None

    def take(self, now: float) -> float:
        """Take one: 0, or the seconds until one is there."""
        if self.at is not None:
            grown = max(0.0, now - self.at) * self.per_second
            self.level = min(self.size, self.level + grown)
        self.at = now
        # A bucket that was filled drop by drop holds a hair less than it should.
        if self.level < 1 - 1e-6:
            return (1 - self.level) / self.per_second
        self.level -= 1
        return 0.0


class Comings:
    """How often each address came within ``seconds``; forgets the oldest addresses."""

    def __init__(self, *, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def came(self, address: str, now: float) -> bool:
        """Note a coming; False if it is one too many."""
        times = self._times.setdefault(address, deque())
        self._times.move_to_end(address)
        while times and times[0] <= now - self.seconds:
            times.popleft()
        if len(self._times) > MAX_ADDRESSES:
            self._times.popitem(last=False)
        if len(times) >= self.most:
            return False
        times.append(now)
        return True


class Patience:
    """How much one socket may send, and how much nonsense."""

    __slots__ = ("_bad", "_excess", "_frames")

    def __init__(self) -> None:
        self._frames = Bucket(size=FRAMES_AT_ONCE, per_second=FRAMES_PER_SECOND)
        self._bad = 0
        self._excess = 0

    def weigh(self, size: int, now: float, client_id: str | None) -> None:
        """Take a frame of ``size`` bytes, or refuse it."""
        if wait := self._frames.take(now):
            self._excess += 1
            if self._excess > MAX_EXCESS_FRAMES:
                raise Dismissed(TOO_MANY)
            raise Problem("too_many", client_id=client_id, retry_after=wait)
        if size > FAR * settings.CHAT_MAX_FRAME_BYTES:
            raise Dismissed(FAR_TOO_LARGE)
        if size > settings.CHAT_MAX_FRAME_BYTES:
            raise Problem("too_large", client_id=client_id)

    def suffer(self, problem: Problem) -> None:
        """Note a refused frame; ``Dismissed`` when there have been too many."""
        if problem.code in ("bad_frame", "unknown_type", "too_large"):
            self._bad += 1
            if self._bad >= MAX_BAD_FRAMES:
                raise Dismissed(BAD_FRAMES)
