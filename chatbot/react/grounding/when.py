"""What a mention says of a moment, and whether that is true of one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class When:
    """What a mention says of a moment; None where it says nothing of that part.

    ``lo`` and ``hi`` are days from now, for spans; ``first`` and ``last`` are dates
    that bound a vague time such as "next week". ``either`` is a second reading (month,
    day). ``part`` bounds the hours of a part of the day.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    either: tuple[int, int] | None = None
    weekday: int | None = None
    hour: int | None = None
    minute: int | None = None
    half_day_open: bool = False
    in_utc: bool = False
    first: date | None = None
    last: date | None = None
    lo: float | None = None
    hi: float | None = None
    part: tuple[int, int] | None = None

    @property
    def is_part_only(self) -> bool:
        return self.part is not None and not self.has_date and self.hour is None

    @property
    def is_span(self) -> bool:
        return self.hi is not None

    @property
    def is_clock_only(self) -> bool:
        return self.hour is not None and not self.has_date and not self.is_span

    @property
    def has_date(self) -> bool:
        return (
            self.day is not None
            or self.month is not None
            or self.weekday is not None
            or self.first is not None
        )


def says(when: When, moment: datetime, now: datetime | None) -> bool:
    """Whether ``when`` is true of ``moment``, both as the customer's clock shows."""
    if when.is_span:
        return _span_holds(when, moment, now)
    day = moment.date()
    if when.first is not None and not when.first <= day <= (when.last or when.first):
        return False
    if when.year is not None and when.year != day.year:
        return False
    if not _month_day_holds(when, day):
        return False
    if when.weekday is not None and when.weekday != day.weekday():
        return False
    return _clock_holds(when, moment)


def _month_day_holds(when: When, day: date) -> bool:
    if when.either == (day.month, day.day):
        return True
    if when.month is not None and when.month != day.month:
        return False
    return when.day is None or when.day == day.day


def _clock_holds(when: When, moment: datetime) -> bool:
    if when.part is not None and not _is_in_part(when.part, moment.hour):
        return False
    if when.hour is None:
        return True
    if when.minute is not None and when.minute != moment.minute:
        return False
    if when.minute is None and moment.minute != 0 and when.hour != moment.hour:
        return False
    hours = {when.hour}
    if when.half_day_open and when.hour <= 12:
        hours.add((when.hour + 12) % 24)
    return moment.hour in hours


def _is_in_part(part: tuple[int, int], hour: int) -> bool:
    first, end = part
    return first <= hour < end or hour + 24 < end


def _span_holds(when: When, moment: datetime, now: datetime | None) -> bool:
    if now is None or when.lo is None or when.hi is None:
        return False
    if abs(when.hi) < 1:
        distance = (moment - now).total_seconds() / 86400
        return when.lo - 0.06 <= distance <= when.hi + 0.06
    days = (moment.date() - now.date()).days
    return round(when.lo) <= days <= round(when.hi)
