"""Dates and times in the proleptic Gregorian calendar, years 1 to 9999. Times are in UTC, without leap seconds.

A date is text such as 2026-01-31, a time is text such as 2026-01-31T12:30:00Z. Where both are accepted, a date means
midnight.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Moment, Timestamp
from dia_language.functions.registry import library_function

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
DAYS_BEFORE_MONTH = (0, *accumulate(LENGTHS))
DAY_SECONDS = 86_400
LAST_DAY = 3_652_058  # 9999-12-31, counted from 0001-01-01, which is day 0 and a Monday
EPOCH_DAY = 719_162  # 1970-01-01
MOMENT = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?Z)?")


def is_moment(text: object) -> bool:
    """Whether the value is a date or time as text."""
    match = MOMENT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return False
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    is_day = year > 0 and 1 <= month <= 12 and 1 <= day <= _length(year, month)
    return is_day and hour < 24 and minute < 60 and second < 60


@library_function
def is_leap_year(year: int) -> bool:
    """Whether the year is a leap year in the Gregorian calendar.

    Examples:
        is_leap_year(2024) -> True
        is_leap_year(1900) -> False
        is_leap_year(2000) -> True
    """
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@library_function
def days_in_month(year: int, month: int) -> int:
    """The number of days in the month.

    `month` must be from 1 to 12.

    Examples:
        days_in_month(2024, 2) -> 29
        days_in_month(2026, 12) -> 31
    """
    if not 1 <= month <= 12:
        raise LanguageError("`days_in_month` needs a month from 1 to 12")
    return _length(year, month)


def _length(year: int, month: int) -> int:
    return LENGTHS[month - 1] + (month == 2 and is_leap_year(year))


@library_function
def year(moment: Moment) -> int:
    """The year.

    Examples:
        year("2026-01-31") -> 2026
    """
    return _fields(moment)[0]


@library_function
def month(moment: Moment) -> int:
    """The month, from 1 to 12.

    Examples:
        month("2026-01-31") -> 1
    """
    return _fields(moment)[1]


@library_function
def day(moment: Moment) -> int:
    """The day of the month, from 1 to 31.

    Examples:
        day("2026-01-31T23:59:59Z") -> 31
    """
    return _fields(moment)[2]


@library_function
def hour(moment: Moment) -> int:
    """The hour, from 0 to 23.

    Examples:
        hour("2026-01-31T23:59:58Z") -> 23
    """
    return _fields(moment)[3]


@library_function
def minute(moment: Moment) -> int:
    """The minute, from 0 to 59.

    Examples:
        minute("2026-01-31T23:59:58Z") -> 59
    """
    return _fields(moment)[4]


@library_function
def second(moment: Moment) -> int:
    """The second, from 0 to 59.

    Examples:
        second("2026-01-31T23:59:58Z") -> 58
    """
    return _fields(moment)[5]


def _fields(moment: str) -> tuple[int, ...]:
    charge(1)
    return _read_fields(moment)


@lru_cache(maxsize=16)  # each directive of a pattern reads the same time
def _read_fields(moment: str) -> tuple[int, ...]:
    match = MOMENT.fullmatch(moment)
    assert match is not None  # the kind of the argument has been checked
    return tuple(int(part or 0) for part in match.groups())


@library_function
def weekday(moment: Moment) -> str:
    """The English name of the day of the week.

    Examples:
        weekday("2026-01-31") -> "Saturday"
    """
    return DAYS[_day_number(moment) % 7]


@library_function
def day_of_year(moment: Moment) -> int:
    """The day of the year, from 1 to 366.

    Examples:
        day_of_year("2026-02-01") -> 32
    """
    return _day_number(moment) - _days_before(year(moment), 1, 1) + 1


@library_function
def days_between(start: Moment, end: Moment) -> int:
    """The number of days from the date of `start` to the date of `end`; negative if `end` is earlier.

    Examples:
        days_between("2026-01-31", "2026-03-01") -> 29
        days_between("2026-01-02", "2026-01-01") -> -1
    """
    return _day_number(end) - _day_number(start)


@library_function
def seconds_between(start: Moment, end: Moment) -> int:
    """The number of seconds from `start` to `end`; negative if `end` is earlier.

    Examples:
        seconds_between("2026-01-01T00:00:00Z", "2026-01-02T00:00:01Z") -> 86401
    """
    return _seconds(end) - _seconds(start)


@library_function
def add_days(moment: Moment, n: int) -> Moment:
    """The date or time `n` days later, or earlier if `n` is negative.

    Raises an error if the result is outside the years 1 to 9999.

    Examples:
        add_days("2026-01-31", 29) -> "2026-03-01"
        add_days("2026-01-31T12:00:00Z", -31) -> "2025-12-31T12:00:00Z"
    """
    return _dated(_day_number(moment) + n) + moment[10:]


@library_function
def add_months(moment: Moment, n: int) -> Moment:
    """The date or time `n` months later, or earlier if `n` is negative.

    The result is the last day of the month if that month is too short. Raises an error if the result is outside the
    years 1 to 9999.

    Examples:
        add_months("2026-01-31", 1) -> "2026-02-28"
        add_months("2024-02-29", 12) -> "2025-02-28"
    """
    at_year, at_month, at_day, *_ = _fields(moment)
    later, at = divmod(12 * at_year + at_month - 1 + n, 12)
    if not 1 <= later <= 9999:
        raise _outside()
    return f"{later:04}-{at + 1:02}-{min(at_day, _length(later, at + 1)):02}" + moment[10:]


@library_function
def add_seconds(moment: Moment, n: int) -> Timestamp:
    """The time `n` seconds later, or earlier if `n` is negative.

    Raises an error if the result is outside the years 1 to 9999.

    Examples:
        add_seconds("2026-01-31T23:59:58Z", 3) -> "2026-02-01T00:00:01Z"
    """
    return _timed(_seconds(moment) + n)


@library_function
def unix_time(moment: Moment) -> int:
    """The number of seconds from 1970-01-01T00:00:00Z to the date or time.

    Examples:
        unix_time("2001-09-09T01:46:40Z") -> 1000000000
    """
    return _seconds(moment) - EPOCH_DAY * DAY_SECONDS


@library_function
def from_unix_time(n: int) -> Timestamp:
    """The time `n` seconds after 1970-01-01T00:00:00Z.

    Raises an error if the result is outside the years 1 to 9999.

    Examples:
        from_unix_time(1000000000) -> "2001-09-09T01:46:40Z"
        from_unix_time(-1) -> "1969-12-31T23:59:59Z"
    """
    return _timed(n + EPOCH_DAY * DAY_SECONDS)


@library_function
def clf_time(moment: Moment) -> str:
    """The time in the common log format of web servers.

    Examples:
        clf_time("2026-01-31T12:30:05Z") -> "31/Jan/2026:12:30:05 +0000"
    """
    return format_time(moment, "%d/%b/%Y:%H:%M:%S +0000")


@library_function
def format_time(moment: Moment, pattern: str) -> str:
    """The date or time formatted by `pattern`.

    Directives: %Y %m %d %H %M %S are numbers with leading zeros; %-d %-m %-H are day, month and hour without them; %B
    %b %A %a are English month and weekday names, in full and abbreviated to three letters; %j is the day of the year in
    three digits; %I %p are the 12-hour clock with AM or PM; %y is the last two digits of the year; %s is the Unix time;
    %% is a percent sign.

    Examples:
        format_time("2026-01-31T15:05:09Z", "%A, %-d %B %Y, %I:%M %p") -> "Saturday, 31 January 2026, 03:05 PM"
    """
    charge(len(pattern))
    fields = dict(zip("YmdHMS", _fields(moment), strict=True))
    return DIRECTIVE.sub(lambda match: _directive(match[0], moment, fields), pattern)


DIRECTIVE = re.compile(r"%-?.?", re.DOTALL)


def _directive(directive: str, moment: str, fields: dict[str, int]) -> str:
    letter, month_name, day_name = directive[1:], MONTHS[fields["m"] - 1], weekday(moment)
    if letter in ("-d", "-m", "-H"):
        return str(fields[letter[1]])
    if letter == "Y":
        return f"{fields['Y']:04}"
    if letter in fields:
        return f"{fields[letter]:02}"
    texts = {
        "B": month_name, "b": month_name[:3], "A": day_name, "a": day_name[:3], "j": f"{day_of_year(moment):03}",
        "I": f"{fields['H'] % 12 or 12:02}", "p": "AM" if fields["H"] < 12 else "PM", "y": f"{fields['Y'] % 100:02}",
        "s": str(unix_time(moment)), "%": "%",
    }  # fmt: skip
    if letter not in texts:
        raise LanguageError(
            f"`format_time` has no directive `{directive}`", "run `dia functions format_time` for the list"
        )
    return texts[letter]


def _days_before(year: int, month: int, day: int) -> int:
    """The number of days from 0001-01-01 to the date."""
    past = year - 1
    whole = 365 * past + past // 4 - past // 100 + past // 400
    return whole + DAYS_BEFORE_MONTH[month - 1] + (month > 2 and is_leap_year(year)) + day - 1


def _day_number(moment: str) -> int:
    return _days_before(*_fields(moment)[:3])


def _seconds(moment: str) -> int:
    at = _fields(moment)
    return _days_before(*at[:3]) * DAY_SECONDS + at[3] * 3600 + at[4] * 60 + at[5]


def _dated(number: int) -> str:
    """The date this many days after 0001-01-01."""
    if not 0 <= number <= LAST_DAY:
        raise _outside()
    at = number * 400 // 146_097 + 1  # an estimate of the year that is off by at most one
    at += (_days_before(at + 1, 1, 1) <= number) - (_days_before(at, 1, 1) > number)
    rest, in_month = number - _days_before(at, 1, 1), 1
    while rest >= _length(at, in_month):
        rest -= _length(at, in_month)
        in_month += 1
    return f"{at:04}-{in_month:02}-{rest + 1:02}"


def _timed(number: int) -> str:
    days, rest = divmod(number, DAY_SECONDS)
    return f"{_dated(days)}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}Z"


def _outside() -> LanguageError:
    return LanguageError("the date is outside the years 1 to 9999", code="E504")
