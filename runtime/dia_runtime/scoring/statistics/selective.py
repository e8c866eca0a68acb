"""Selective prediction: what a model gains by answering only where it is sure.

Replies carry no confidence of their own, so the questions are ordered by a sign of it that needs no truth. Over
instances it is how many of the item's other instances the model answered: one that skips four of five instances of an
item is less sure of the fifth. Over attempts it is how many of the other attempts at the question said the same.
Questions with the same sign come in no order, so that the curve has its mean over all orders of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy
from dia_runtime.grading.verdicts import Exact
from dia_runtime.scoring.metrics import MEAN, Figure, Part, Tally
from dia_runtime.scoring.statistics.figures import NOWHERE, figures_json, of_one_value
from dia_runtime.scoring.statistics.resample import Intervals, Numbers
from dia_runtime.scoring.statistics.sample import Quantity, sample_of

Levels = tuple[tuple[Fraction, int, int], ...]  # confidence -> questions answered with it, and how many of these wrong
PENALTIES = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(9))
STEPS = 20  # confidences with a larger divisor are counted in so many steps
GAMMA = 0.5772156649015329
TABLE = 64  # harmonic numbers that are added up; larger ones are approximated to 1e-14


def levels_of(tally: Tally) -> Levels:
    """The confidence of an item's answered questions: the share of the item's other instances that were answered."""
    answered = tally.k - tally.skipped
    if not answered:
        return ()
    confidence = Fraction(answered - 1, tally.k - 1) if tally.k > 1 else Fraction(1)
    return ((confidence, answered, answered - tally.correct),)


def agreed(tally: Tally, readings: Mapping[str, int]) -> Levels:
    """The confidence of each attempt at a question: the share of the other attempts that said the same."""
    found: Counter[tuple[Fraction, bool]] = Counter()
    others = max(1, tally.k - 1)
    for reading, number in readings.items():
        found[Fraction(number - 1, others) if tally.k > 1 else Fraction(1), reading != "correct"] += number
    found[Fraction(0) if tally.k > 1 else Fraction(1), True] += tally.unparsed
    levels = dict.fromkeys(level for level, _ in found)
    return tuple(
        (level, found[level, False] + found[level, True], found[level, True])
        for level in levels
        if found[level, False] + found[level, True]
    )


def selective(
    items: Mapping[tuple[Tally, Levels, Exact], int], signal: str, accuracy: Mapping[str, Any], intervals: Intervals
) -> dict[str, Any]:
    """Coverage, risk and what perfect abstention would have given.

    `items` says of how many items have this tally, these levels, and these points had all that is not right been
    skipped; `accuracy` holds the figures of the same items that are known already.
    """
    is_open = any(tally.error for tally, _, _ in items)
    areas = _areas({} if is_open else items, intervals)
    return {
        "signal": signal,
        "coverage": accuracy["coverage"],
        "accuracy": accuracy["accuracy_answered"],
        "curve": [] if is_open else curve(items),
        **areas,
        **_best(items, intervals),
        "penalties": [_at_penalty(items, penalty, accuracy["accuracy_answered"], intervals) for penalty in PENALTIES],
    }


Items = Mapping[tuple[Tally, Levels, Exact], int]


def curve(items: Items) -> list[dict[str, float]]:
    """The points of the risk-coverage curve, from the highest confidence to all that was answered."""
    questions = sum(tally.k * times for (tally, _, _), times in items.items())
    said, missed = Counter[Fraction](), Counter[Fraction]()
    for (_, levels, _), times in items.items():
        for level, answered, wrong in levels:
            said[_step(level)] += times * answered
            missed[_step(level)] += times * wrong
    found, answered, wrong = [], 0, 0
    for level in sorted(said, reverse=True):
        answered, wrong = answered + said[level], wrong + missed[level]
        found.append({"confidence": float(level), "coverage": answered / questions, "risk": wrong / answered})
    return found


def _step(level: Fraction) -> Fraction:
    return level if level.denominator <= STEPS else Fraction(int(level * STEPS), STEPS)


def _steps(items: Items) -> list[Fraction]:
    return sorted({_step(level) for _, levels, _ in items for level, _, _ in levels}, reverse=True)


def _areas(items: Items, intervals: Intervals) -> dict[str, Any]:
    """The area under the curve, the smallest one for as many right answers, and their difference."""
    steps = _steps(items)
    names: dict[str, Quantity] = {"aurc": area, "aurc_best": best_area, "excess": _excess}
    if not steps:
        return {name: dict(NOWHERE) for name in names}
    rows: Counter[tuple[Exact, ...]] = Counter()
    for (_, levels, _), times in items.items():
        row = dict.fromkeys(((step, side) for step in steps for side in ("answered", "wrong")), 0)
        for level, answered, wrong in levels:
            row[_step(level), "answered"] += answered
            row[_step(level), "wrong"] += wrong
        rows[tuple(row.values())] += times
    sample = sample_of(rows.items())
    return {
        name: {
            "value": sample.point(quantity),
            "se": sample.standard_error(quantity),
            "ci": sample.interval(quantity, intervals),
        }
        for name, quantity in names.items()
    }


def area(sums: Numbers) -> Numbers:
    """The mean over m of the expected share of wrong ones among the m most confident answers (AURC).

    Columns are answered and wrong, level by level. Within a level of x answers, r of them wrong, behind a answers with
    e wrong ones, the m-th adds (e + r (m - a) / x) / m.
    """
    total, answered, wrong = (numpy.zeros(len(sums)) for _ in range(3))
    for level in range(0, sums.shape[1], 2):
        more, bad = sums[:, level], sums[:, level + 1]
        rate = numpy.divide(bad, more, out=numpy.zeros(len(sums)), where=more > 0)
        total += rate * more + (wrong - rate * answered) * (harmonic(answered + more) - harmonic(answered))
        answered, wrong = answered + more, wrong + bad
    found: Numbers = total / answered
    return found


def best_area(sums: Numbers) -> Numbers:
    """The same area if all right answers came first."""
    answered, wrong = sums[:, 0::2].sum(axis=1), sums[:, 1::2].sum(axis=1)
    right = answered - wrong
    found: Numbers = (wrong - right * (harmonic(answered) - harmonic(right))) / answered
    return found


def _excess(sums: Numbers) -> Numbers:
    return area(sums) - best_area(sums)


def harmonic(numbers: Numbers) -> Numbers:
    """1 + 1/2 + ... + 1/n, for each whole n."""
    table = numpy.concatenate([[0.0], numpy.cumsum(1 / numpy.arange(1, TABLE))])
    small = table[numpy.minimum(numbers, TABLE - 1).astype(numpy.int64)]
    large = numpy.maximum(numbers, TABLE)
    series = numpy.log(large) + GAMMA + 1 / (2 * large) - 1 / (12 * large**2) + 1 / (120 * large**4)
    return numpy.where(numbers < TABLE, small, series)


def _best(items: Items, intervals: Intervals) -> dict[str, Any]:
    """The scores with perfect abstention, and what is lost without it; those in points not while errors are left."""
    figures: dict[str, list[Part]] = {"rs_best": [], "rs_lost": [], "idk_best": [], "idk_lost": []}
    for (tally, _, best), times in items.items():
        mean, bad = Fraction(best) / tally.k, tally.wrong + tally.unparsed
        lost = mean - Fraction(tally.low) / tally.k
        figures["rs_best"].append(Part(mean, mean, 1, times))
        figures["rs_lost"].append(Part(lost, lost, 1, times))
        figures["idk_best"].append(Part(tally.correct, tally.correct + tally.error, tally.k, times))
        figures["idk_lost"].append(Part(bad, bad + tally.error, tally.k, times))
    found = figures_json(
        {name: Figure(tuple(parts), name.startswith("rs")) for name, parts in figures.items()}, intervals
    )
    is_open = any(tally.error for tally, _, _ in items)
    return {name: dict(NOWHERE) if is_open and name.startswith("rs") else held for name, held in found.items()}


def _at_penalty(items: Items, penalty: Fraction, accuracy: Mapping[str, Any], intervals: Intervals) -> dict[str, Any]:
    """The mean of +1, 0 and -penalty, and whether answering paid: whether accuracy exceeds p / (1 + p)."""
    parts = []
    for (tally, _, _), times in items.items():
        low = tally.correct - penalty * (tally.wrong + tally.unparsed)
        parts.append(Part(low - penalty * tally.error, low + tally.error, tally.k, times))
    threshold, right, name = penalty / (1 + penalty), accuracy["value"], f"{MEAN}points"
    points = figures_json({name: Figure(tuple(parts))}, intervals)[name]
    if points["se"] == 0 and intervals.method != "none":
        points["ci"] = of_one_value(points["value"], (-float(penalty), 1.0), sum(items.values()))
    return {
        "penalty": float(penalty),
        "threshold": float(threshold),
        "points": points,
        "pays": None if right is None else right > float(threshold),
    }
