"""Parameter types of time: date, timestamp."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from dia_language.numbers.values import Value

from dia_compiler.types.base import Domain, Enumerable, OptionFault, ParameterType, integer_option, option, written
from dia_compiler.types.plain_options import some_of_option

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
TIME = re.compile(r"T([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?Z")
FIRST, LAST = "2000-01-01", "2029-12-31"
EPOCH = datetime(1, 1, 1)


def day_of(text: Value) -> int | None:
    """Return the day number of an ISO date, 1 for 0001-01-01; None if the text is not a date."""
    match = DATE.fullmatch(text) if isinstance(text, str) else None
    try:
        return date(*map(int, match.groups())).toordinal() if match else None
    except ValueError:
        return None


def second_of(text: Value) -> int | None:
    """The seconds from 0001-01-01T00:00:00Z to an ISO time in UTC or midnight of an ISO date; None for others."""
    if not isinstance(text, str):
        return None
    day, match = day_of(text[:10]), TIME.fullmatch(text[10:])
    if day is None or (text[10:] and match is None):
        return None
    hour, minute, second = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return (day - 1) * 86_400 + hour * 3_600 + minute * 60 + second


def moment(seconds: int) -> str:
    """Return the ISO time in UTC this many seconds after 0001-01-01T00:00:00Z."""
    return f"{(EPOCH + timedelta(seconds=seconds)).isoformat()}Z"


def moments_option(options: Mapping[str, Any], read: Any, default: tuple[str, str], example: str) -> tuple[int, int]:
    """Return the options min and max as numbers, converted by `read`. Raises OptionFault."""
    numbers = []
    for name, text in zip(("min", "max"), default, strict=True):
        number = read(options.get(name, text))
        if number is None:
            raise OptionFault(name, f"`{name}` must be {example}")
        numbers.append(number)
    low, high = numbers
    if low > high:
        raise OptionFault("max", f"min {options.get('min', default[0])} is above max {options.get('max', default[1])}")
    return low, high


class Dates(Enumerable):
    """The dates between two dates that are on the given days of the week."""

    __slots__ = ("high", "low", "offsets")

    def __init__(self, low: int, high: int, weekdays: Sequence[int]) -> None:
        self.low, self.high = low, high
        # day 1 was a Monday in the proleptic Gregorian calendar of datetime
        self.offsets = [offset for offset in range(7) if (low + offset - 1) % 7 in weekdays]

    @property
    def count(self) -> int:
        weeks, rest = divmod(self.high - self.low + 1, 7)
        return weeks * len(self.offsets) + sum(offset < rest for offset in self.offsets)

    def at(self, index: int) -> Value:
        week, place = divmod(index, len(self.offsets))
        return date.fromordinal(self.low + 7 * week + self.offsets[place]).isoformat()

    def contains(self, value: Value) -> bool:
        day = day_of(value)
        return day is not None and self.low <= day <= self.high and (day - self.low) % 7 in self.offsets

    def refusal(self, value: Value) -> str:
        day = day_of(value)
        if day is None:
            return f"{written(value)} is not a date such as 2026-01-31"
        if not self.low <= day <= self.high:
            first, last = (date.fromordinal(end).isoformat() for end in (self.low, self.high))
            return f"{value} is not from {first} to {last}"
        return f"{value} is on another day of the week"


class DateType(ParameterType):
    summary = "a date of the Gregorian calendar, as ISO 8601 text such as 2026-01-31"
    options = {
        "min": option("data", f"earliest date (default {FIRST})"),
        "max": option("data", f"latest date (default {LAST})"),
        "weekday": option(
            "data", "allowed days of the week: monday to sunday, or a list of them", values=WEEKDAYS, is_list=True
        ),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        low, high = moments_option(options, day_of, (FIRST, LAST), "a date such as 2026-01-31")
        chosen = some_of_option(options, "weekday", WEEKDAYS)
        domain = Dates(low, high, [WEEKDAYS.index(name) for name in chosen])
        if domain.count < 1:
            raise OptionFault("weekday", "no date between `min` and `max` falls on these days of the week")
        return domain


class Timestamps(Enumerable):
    """The times from one time to another in steps of seconds."""

    __slots__ = ("high", "low", "step")

    def __init__(self, low: int, high: int, step: int) -> None:
        self.low, self.high, self.step = low, high, step

    @property
    def count(self) -> int:
        return (self.high - self.low) // self.step + 1

    def at(self, index: int) -> Value:
        return moment(self.low + self.step * index)

    def contains(self, value: Value) -> bool:
        second = second_of(value)
        if second is None or not self.low <= second <= self.high or (second - self.low) % self.step:
            return False
        return bool(moment(second) == value)

    def refusal(self, value: Value) -> str:
        second = second_of(value)
        if second is None or moment(second) != value:
            return f"{written(value)} is not a time such as 2026-01-31T12:00:00Z"
        if not self.low <= second <= self.high:
            return f"{value} is not from {moment(self.low)} to {moment(self.high)}"
        return f"{value} is not a multiple of {self.step} seconds after {moment(self.low)}"


class TimestampType(ParameterType):
    summary = "a time in UTC with second precision, as ISO 8601 text such as 2026-01-31T12:00:00Z"
    options = {
        "min": option("data", f"earliest time; a date means 00:00:00 on that day (default {FIRST}T00:00:00Z)"),
        "max": option("data", f"latest time; a date means 00:00:00 on that day (default {LAST}T23:59:59Z)"),
        "step": option("data", "seconds between two moments, counted from min (default 1)"),
    }

    def domain(self, options: Mapping[str, Any]) -> Domain:
        default = (f"{FIRST}T00:00:00Z", f"{LAST}T23:59:59Z")
        low, high = moments_option(
            options, second_of, default, "a time such as 2026-01-31T12:00:00Z, or a date such as 2026-01-31"
        )
        step = integer_option(options, "step", 1)
        if step < 1:
            raise OptionFault("step", "`step` must be at least 1")
        return Timestamps(low, high, step)
