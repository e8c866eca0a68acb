"""Verdicts, the one list of them, and the points that they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

Exact = int | Fraction


class Verdict(StrEnum):
    """What becomes of a reply, in the order in which tables and pictures show it.

    A verdict is written as its text, wherever it is written: in JSON, in tables, and as the name of its colour. Each
    has its heading where failures are counted (`plural`), what it means (`meaning`), and whether figures count it as a
    wrong answer.

    >>> Verdict.UNPARSED, Verdict.UNPARSED.counts_as_wrong, Verdict.UNPARSED.sign
    ('unparsed', True, 'u')
    """

    plural: str
    meaning: str
    counts_as_wrong: bool

    CORRECT = "correct", "correct", "the right answer"
    SKIPPED = "skipped", "skipped", "an abstention in the form that was asked for"
    WRONG = "wrong", "wrong", "any other answer", True
    UNPARSED = "unparsed", "unparsed", "No answer could be read out of the reply; it counts as wrong.", True
    ERROR = "error", "errors", "No reply came, and another try may mend it; figures stay open meanwhile."

    def __new__(cls, text: str, plural: str = "", meaning: str = "", counts_as_wrong: bool = False) -> Verdict:
        """The member with its facts, which is the text itself."""
        verdict = str.__new__(cls, text)
        verdict._value_, verdict.plural, verdict.meaning = text, plural, meaning
        verdict.counts_as_wrong = counts_as_wrong
        return verdict

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def colour(self) -> str:
        """The name of its colour in the palette of pictures; text on it has the colour `on-` and that name."""
        return self.value

    @property
    def sign(self) -> str:
        """The letter that stands for it in the index of a report."""
        return self.value[0]


OF_REPLIES = tuple(verdict for verdict in Verdict if verdict is not Verdict.ERROR)
WITH_POINTS = (Verdict.CORRECT, Verdict.SKIPPED, Verdict.WRONG)  # questions say what these are worth


class Mark(NamedTuple):
    """A verdict and its points: one value, or the two ends while the verdict is `error`."""

    verdict: Verdict
    low: Exact
    high: Exact


def mark(verdict: Verdict, points: Mapping[str, Exact]) -> Mark:
    """The mark of a verdict; `unparsed` has the points of `wrong`, `error` any from wrong to correct."""
    if verdict is Verdict.ERROR:
        ends = (points[Verdict.WRONG], points[Verdict.CORRECT])
        return Mark(verdict, min(ends), max(ends))
    value = points[Verdict.WRONG if verdict.counts_as_wrong else verdict]
    return Mark(verdict, value, value)
