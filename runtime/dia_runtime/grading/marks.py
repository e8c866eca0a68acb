"""Verdicts and the points that they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

VERDICTS = ("correct", "skipped", "wrong", "unparsed", "error")
Exact = int | Fraction


class Mark(NamedTuple):
    """A verdict and its points: one value, or the two ends while the verdict is `error`."""

    verdict: str
    low: Exact
    high: Exact


def mark(verdict: str, points: Mapping[str, Exact]) -> Mark:
    """The mark of a verdict; `unparsed` has the points of `wrong`, `error` any from wrong to correct."""
    if verdict == "error":
        worth = (points["wrong"], points["correct"])
        return Mark(verdict, min(worth), max(worth))
    value = points["wrong" if verdict == "unparsed" else verdict]
    return Mark(verdict, value, value)
