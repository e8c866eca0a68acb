"""The verdicts and their points."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

Exact = int | Fraction


class Verdict(StrEnum):
    """The verdict on a reply, in the order in which tables and plots show it.

    Everywhere a verdict is written as its text: in JSON, in tables, and as the name of its colour. Each has a heading
    for tables of failures (`plural`), a description (`meaning`), and whether figures count it as a wrong answer.

    >>> Verdict.UNPARSED, Verdict.UNPARSED.counts_as_wrong, Verdict.UNPARSED.sign
    ('unparsed', True, 'u')
    """

    plural: str
    meaning: str
    counts_as_wrong: bool

    CORRECT = "correct", "correct", "the right answer"
    SKIPPED = "skipped", "skipped", "an abstention in the requested form, unless the question is unanswerable"
    WRONG = (
        "wrong",
        "wrong",
        "any other answer, a reply that has no answer and that the provider marks as a refusal, or a prompt that "
        "exceeds the context window",
        True,
    )
    UNPARSED = "unparsed", "unparsed", "No answer could be read from the reply; it counts as wrong.", True
    ERROR = (
        "error",
        "errors",
        "There is no reply yet, and a retry may succeed. While there are errors, each figure is a range, from "
        "its value if they are all wrong to its value if they are all correct.",
    )

    def __new__(cls, text: str, plural: str = "", meaning: str = "", counts_as_wrong: bool = False) -> Verdict:
        """Create the member with its attributes; the member itself is the text."""
        verdict = str.__new__(cls, text)
        verdict._value_, verdict.plural, verdict.meaning = text, plural, meaning
        verdict.counts_as_wrong = counts_as_wrong
        return verdict

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def colour(self) -> str:
        """Return the name of its colour in the palette; text on that colour uses the colour `on-NAME`."""
        return self.value

    @property
    def sign(self) -> str:
        """Return the letter for it in the index of a report."""
        return self.value[0]


OF_REPLIES = tuple(verdict for verdict in Verdict if verdict is not Verdict.ERROR)
WITH_POINTS = (Verdict.CORRECT, Verdict.SKIPPED, Verdict.WRONG)  # questions say what these are worth


class Mark(NamedTuple):
    """A verdict and its points: one value, or the lowest and highest possible while the verdict is `error`."""

    verdict: Verdict
    low: Exact
    high: Exact


def mark(verdict: Verdict, points: Mapping[str, Exact]) -> Mark:
    """Return the mark of a verdict; `unparsed` has the points of `wrong`, `error` the range from wrong to correct."""
    if verdict is Verdict.ERROR:
        ends = (points[Verdict.WRONG], points[Verdict.CORRECT])
        return Mark(verdict, min(ends), max(ends))
    value = points[Verdict.WRONG if verdict.counts_as_wrong else verdict]
    return Mark(verdict, value, value)
