"""Dates of the Gregorian calendar."""

from __future__ import annotations

import re
from datetime import date

from dia_language.answers.base import LENIENT, Mode, Unreadable, unfit
from dia_language.answers.text import WordAnswer
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Value

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FULL_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

# All are used with fullmatch and linear.
ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
YEAR_FIRST = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})|([0-9]{4})([0-9]{2})([0-9]{2})")
POINTS = re.compile(r"([0-9]{1,2})\. ?([0-9]{1,2})\. ?([0-9]{4})")
DAY_FIRST = re.compile(r"(?:the )?([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]+)\.?,? ([0-9]{4})")
MONTH_FIRST = re.compile(r"([a-z]+)\.? (?:the )?([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})")
WEEKDAY = re.compile(r"([a-z]{3,9})\.?,? (.*)", re.DOTALL)
LONGEST = 60


class DateAnswer(WordAnswer):
    """A date in ISO 8601 form: 2026-01-31.

    Strict accepts only this form. Lenient also accepts 2026/1/31, 20260131, 31.1.2026 (with dots, the day comes first)
    and English dates, such as `31 January 2026`, `January 31st, 2026` and `Sat, 31 Jan 2026`. If the reply names a day
    of the week, it must be the right one. Ambiguous dates such as 1/2/2026 are wrong.
    """

    name = "date"

    def settle(self, value: Value) -> Value:
        if type(value) is not str:
            raise unfit(self.name, value, 'give an ISO date as text, such as "2026-01-31"')
        try:
            return self.read(value, "strict")
        except Unreadable:
            help = "write dates as text such as 2026-01-31, in the years 1 to 9999"
            raise LanguageError("the answer's type is date, but its value is not a date", help) from None

    def read(self, text: str, mode: Mode) -> Value:
        text = text.strip()
        match = ISO.fullmatch(text)
        if match:
            return _date(*map(int, match.groups())).isoformat()
        if mode not in LENIENT or len(text) > LONGEST:
            raise Unreadable("not an ISO date")
        return _lenient(" ".join(text.lower().split())).isoformat()

    def describe(self) -> str:
        return "a date such as 2026-01-31"

    def samples(self) -> list[Value]:
        return ["2026-01-31", "1969-07-20", "2000-02-29"]


def _date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise Unreadable("not a day of the calendar") from None


def _lenient(text: str) -> date:
    if match := YEAR_FIRST.fullmatch(text):
        year, month, day = (int(part) for part in match.groups() if part)
        return _date(year, month, day)
    if match := POINTS.fullmatch(text):
        return _date(int(match[3]), int(match[2]), int(match[1]))
    if match := WEEKDAY.fullmatch(text):
        number = _place(match[1], DAYS)
        if number is not None:
            inner = _worded(match[2])
            if inner.weekday() != number:
                raise Unreadable("a different day of the week")
            return inner
    return _worded(text)


def _worded(text: str) -> date:
    """Return the date of a text with the month as a word."""
    if match := DAY_FIRST.fullmatch(text):
        return _date(int(match[3]), _month(match[2]), int(match[1]))
    if match := MONTH_FIRST.fullmatch(text):
        return _date(int(match[3]), _month(match[1]), int(match[2]))
    raise Unreadable("not a date")


def _month(word: str) -> int:
    number = FULL_MONTHS.index(word) if word in FULL_MONTHS else _place("sep" if word == "sept" else word, MONTHS)
    if number is None:
        raise Unreadable("not a month")
    return number + 1


def _place(word: str, words: tuple[str, ...]) -> int | None:
    """Return the index of the word among others, which may be abbreviated to three or more letters."""
    places = [number for number, full in enumerate(words) if len(word) >= 3 and full.startswith(word)]
    return places[0] if places else None
