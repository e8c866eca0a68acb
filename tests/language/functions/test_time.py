"""The calendar against Python's datetime and time."""

from __future__ import annotations

import calendar
import time
from datetime import UTC, date, datetime, timedelta

import pytest
from dia_language.diagnostics import LanguageError
from helpers.library_calls import call, code
from hypothesis import given
from hypothesis import strategies as st

DATES = st.dates()
TIMES = st.datetimes().map(lambda moment: moment.replace(microsecond=0))


def shown(moment: datetime) -> str:
    return f"{moment.isoformat()}Z"


@given(DATES)
def test_parts_and_weekdays_of_dates(held: date) -> None:
    text = held.isoformat()
    assert [call(name, text) for name in ("year", "month", "day", "hour", "minute", "second")] == [
        held.year, held.month, held.day, 0, 0, 0]  # fmt: skip
    assert call("weekday", text) == calendar.day_name[held.weekday()]
    assert call("day_of_year", text) == held.timetuple().tm_yday
    assert call("is_leap_year", held.year) is calendar.isleap(held.year)
    assert call("days_in_month", held.year, held.month) == calendar.monthrange(held.year, held.month)[1]


@given(DATES, DATES, st.integers(-4_000_000, 4_000_000))
def test_days_are_counted_and_added(a: date, b: date, n: int) -> None:
    assert call("days_between", a.isoformat(), b.isoformat()) == (b - a).days
    try:
        wanted = (a + timedelta(days=n)).isoformat()
    except OverflowError:
        assert code("add_days", a.isoformat(), n) == "E504"
    else:
        assert call("add_days", a.isoformat(), n) == wanted
        assert call("add_days", f"{a.isoformat()}T01:02:03Z", n) == f"{wanted}T01:02:03Z"


@given(TIMES, TIMES, st.integers(-(10**12), 10**12))
def test_seconds_are_counted_and_added(a: datetime, b: datetime, n: int) -> None:
    assert call("seconds_between", shown(a), shown(b)) == (b - a) // timedelta(seconds=1)
    unix = calendar.timegm(a.timetuple())
    assert call("unix_time", shown(a)) == unix
    assert call("from_unix_time", unix) == shown(a)
    assert [call(name, shown(a)) for name in ("hour", "minute", "second")] == [a.hour, a.minute, a.second]
    try:
        wanted = shown(a + timedelta(seconds=n))
    except OverflowError:
        assert code("add_seconds", shown(a), n) == "E504"
    else:
        assert call("add_seconds", shown(a), n) == wanted


def test_every_day_of_the_calendar_is_the_day_after_the_one_before() -> None:
    for years in (range(1, 9), range(1896, 1906), range(1996, 2006), range(9992, 10000)):
        for at in range(date(years[0], 1, 1).toordinal(), date(years[-1], 12, 31).toordinal()):
            assert call("add_days", date.fromordinal(at).isoformat(), 1) == date.fromordinal(at + 1).isoformat()


@given(TIMES.filter(lambda held: held.year > 999))
def test_patterns_give_what_strftime_gives(held: datetime) -> None:
    moment = held.replace(tzinfo=UTC)
    for letter in "YmdHMSBbAajIpy%":
        assert call("format_time", shown(held), f"<%{letter}>") == moment.strftime(f"<%{letter}>")
    assert call("format_time", shown(held), "%-d.%-m. %-H%%") == f"{held.day}.{held.month}. {held.hour}%"
    assert call("format_time", shown(held), "%s") == str(int(moment.timestamp()))
    assert call("clf_time", shown(held)) == moment.strftime("%d/%b/%Y:%H:%M:%S %z")


def test_months_are_added_up_to_the_last_day() -> None:
    assert call("add_months", "2026-01-31", 1) == "2026-02-28"
    assert call("add_months", "2024-01-31T10:00:00Z", 1) == "2024-02-29T10:00:00Z"
    assert call("add_months", "2026-03-15", -3) == "2025-12-15"
    assert call("add_months", "2026-12-31", 2) == "2027-02-28"
    assert code("add_months", "9999-12-01", 1) == code("add_months", "0001-01-01", -1) == "E504"


def test_a_date_is_its_midnight_and_a_time_may_leave_out_its_seconds() -> None:
    assert call("add_seconds", "2026-01-31", 60) == "2026-01-31T00:01:00Z"
    assert call("seconds_between", "2026-01-31", "2026-01-31T12:30Z") == 45_000
    assert call("format_time", "0007-03-01", "%Y-%j %I %p") == "0007-060 12 AM"
    assert call("unix_time", "1970-01-01") == 0 and time.gmtime(0).tm_year == 1970


@pytest.mark.parametrize(
    "text", ["2026-02-29", "2026-13-01", "2026-00-01", "0000-01-01", "2026-1-31", "2026-01-31 12:00:00Z", "2026-01-31T24:00:00Z",
             "2026-01-31T12:60:00Z", "2026-01-31T12:00:60Z", "2026-01-31T12:00:00", "x", "", "٢٠٢٦-٠١-٣١", "2026-01-31\n"],
)  # fmt: skip
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(LanguageError, match="`weekday` needs a date or time"):
        call("weekday", text)


def test_arguments_out_of_range_are_refused() -> None:
    assert code("days_in_month", 2026, 13) == code("format_time", "2026-01-31", "%q") == "E501"
    assert code("format_time", "2026-01-31", "100%") == code("format_time", "2026-01-31", "%-Y") == "E501"
    assert code("from_unix_time", 10**30) == code("add_days", "2026-01-31", -(10**30)) == "E504"
