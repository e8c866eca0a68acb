"""Selective prediction: what a model gains by answering only if it is sure.

Replies have no confidence, so the questions are ordered by an estimate that does not use the truth. Over instances it
is how many of the item's other instances the model answered: a model that skips four of five instances of an item is
less sure of the fifth. Over attempts it is how many of the other attempts at the question gave the same answer.
Questions with equal confidence have no order, so the curve is the mean over all their orders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy
from dia_runtime.grading.verdicts import Exact
from dia_runtime.scoring.metrics import NOTHING, Aggregate, Part, PointRange, Range, Tallies, Tally
from dia_runtime.scoring.results import Block, CurvePoint, Estimate, Penalty, Selective, figure_of, unknown
from dia_runtime.scoring.statistics.estimates import estimate, estimates
from dia_runtime.scoring.statistics.resample import Intervals, Numbers
from dia_runtime.scoring.statistics.sample import Quantity, sample_of

Levels = tuple[tuple[Fraction, int, int], ...]  # confidence, questions answered with it, and how many of these wrongly
PENALTIES = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(9))
STEPS = 20  # confidences with a larger denominator are rounded to this many steps
GAMMA = 0.5772156649015329
TABLE = 64  # harmonic numbers up to this are summed; larger ones are approximated to 1e-14


def levels_of(tally: Tally) -> Levels:
    """Return the confidence of an item's answered questions: the share of its other instances that were answered."""
    answered = tally.k - tally.skipped
    if not answered:
        return ()
    confidence = Fraction(answered - 1, tally.k - 1) if tally.k > 1 else Fraction(1)
    return ((confidence, answered, answered - tally.correct),)


def agreed(tally: Tally, readings: Mapping[str, int]) -> Levels:
    """Return the confidence of each attempt: the share of the other attempts that gave the same answer.

    `readings` has the number of attempts with each answer; an attempt without one, such as a refusal, agrees with none.
    """
    answers: Counter[tuple[Fraction, bool]] = Counter()
    others = max(1, tally.k - 1)
    for reading, number in readings.items():
        answers[Fraction(number - 1, others) if tally.k > 1 else Fraction(1), reading != "correct"] += number
    without_answer = tally.k - tally.skipped - tally.error - sum(readings.values())
    answers[Fraction(0) if tally.k > 1 else Fraction(1), True] += without_answer
    levels = dict.fromkeys(level for level, _ in answers)
    return tuple(
        (level, answers[level, False] + answers[level, True], answers[level, True])
        for level in levels
        if answers[level, False] + answers[level, True]
    )


class Row(NamedTuple):
    """The data of an item.

    `best` are its points with perfect abstention; `unanswerable` counts only its questions for which abstaining is
    correct.
    """

    tally: Tally
    levels: Levels
    best: Exact
    unanswerable: Tally = NOTHING


Items = Mapping[Row, int]  # row -> how many items have it
Signal = Literal["answered", "agreement"]


def selective(items: Items, signal: Signal, block: Block, intervals: Intervals) -> Selective:
    """Return coverage, risk and the effect of perfect abstention; `block` has the figures of the same items."""
    is_open = any(row.tally.error for row in items)
    tallies, by_loss = Counter[Tally](), Counter[Row]()  # counted as for other figures, so that resamples agree
    for row, times in items.items():
        tallies[row.tally] += times
        by_loss[row._replace(levels=())] += times
    questions = sum(times * tally.k for tally, times in tallies.items())
    unanswerable = sum(times * row.unanswerable.k for row, times in items.items())
    abstaining = Fraction(unanswerable, questions or 1)
    aurc, aurc_best, excess = _areas({} if is_open else items, intervals)
    best = _best(dict(sorted(by_loss.items())), intervals)
    accuracy = figure_of(block, "accuracy_answered")
    return {
        "signal": signal,
        "coverage": figure_of(block, "coverage"),
        "accuracy": accuracy,
        "curve": [] if is_open else curve(items),
        "aurc": aurc,
        "aurc_best": aurc_best,
        "excess": excess,
        "rs_best": unknown() if is_open else best["rs_best"],
        "rs_lost": unknown() if is_open else best["rs_lost"],
        "idk_best": best["idk_best"],
        "idk_lost": best["idk_lost"],
        "penalties": [_at_penalty(tallies, penalty, abstaining, intervals) for penalty in PENALTIES],
    }


def curve(items: Items) -> list[CurvePoint]:
    """Return the points of the risk-coverage curve, from the highest confidence to all answers."""
    questions = sum(row.tally.k * times for row, times in items.items())
    answers, misses = Counter[Fraction](), Counter[Fraction]()
    for row, times in items.items():
        for level, answered, wrong in row.levels:
            answers[_step(level)] += times * answered
            misses[_step(level)] += times * wrong
    points: list[CurvePoint] = []
    answered = wrong = 0
    for level in sorted(answers, reverse=True):
        answered, wrong = answered + answers[level], wrong + misses[level]
        points.append({"confidence": float(level), "coverage": answered / questions, "risk": wrong / answered})
    return points


def _step(level: Fraction) -> Fraction:
    return level if level.denominator <= STEPS else Fraction(int(level * STEPS), STEPS)


def _steps(items: Items) -> list[Fraction]:
    return sorted({_step(level) for row in items for level, _, _ in row.levels}, reverse=True)


def _areas(items: Items, intervals: Intervals) -> list[Estimate]:
    """Return the area under the curve, the smallest possible one for as many correct answers, and their difference."""
    steps = _steps(items)
    quantities: tuple[Quantity, ...] = (area, best_area, _excess)
    if not steps:
        return [unknown() for _ in quantities]
    columns: Counter[tuple[Exact, ...]] = Counter()
    for row, times in items.items():
        counts = dict.fromkeys(((step, side) for step in steps for side in ("answered", "wrong")), 0)
        for level, answered, wrong in row.levels:
            counts[_step(level), "answered"] += answered
            counts[_step(level), "wrong"] += wrong
        columns[tuple(counts.values())] += times
    sample = sample_of(columns.items())
    return [sample.estimate(quantity, intervals) for quantity in quantities]


def area(sums: Numbers) -> Numbers:
    """Return the mean over m of the expected share of wrong answers among the m most confident ones (AURC).

    Columns are the numbers of answers and of wrong ones, level by level. Within a level of x answers, r of them wrong,
    after a answers with e wrong ones, the m-th adds (e + r (m - a) / x) / m.
    """
    total, answered, wrong = (numpy.zeros(len(sums)) for _ in range(3))
    for level in range(0, sums.shape[1], 2):
        more, bad = sums[:, level], sums[:, level + 1]
        rate = numpy.divide(bad, more, out=numpy.zeros(len(sums)), where=more > 0)
        total += rate * more + (wrong - rate * answered) * (harmonic(answered + more) - harmonic(answered))
        answered, wrong = answered + more, wrong + bad
    areas: Numbers = total / answered
    return areas


def best_area(sums: Numbers) -> Numbers:
    """Return the same area if all correct answers came first."""
    answered, wrong = sums[:, 0::2].sum(axis=1), sums[:, 1::2].sum(axis=1)
    right = answered - wrong
    areas: Numbers = (wrong - right * (harmonic(answered) - harmonic(right))) / answered
    return areas


def _excess(sums: Numbers) -> Numbers:
    return area(sums) - best_area(sums)


def harmonic(numbers: Numbers) -> Numbers:
    """Return 1 + 1/2 + ... + 1/n, for each integer n."""
    table = numpy.concatenate([[0.0], numpy.cumsum(1 / numpy.arange(1, TABLE))])
    small = table[numpy.minimum(numbers, TABLE - 1).astype(numpy.int64)]
    large = numpy.maximum(numbers, TABLE)
    series = numpy.log(large) + GAMMA + 1 / (2 * large) - 1 / (12 * large**2) + 1 / (120 * large**4)
    return numpy.where(numbers < TABLE, small, series)


def _best(items: Items, intervals: Intervals) -> dict[str, Estimate]:
    """Return the scores with perfect abstention, and the loss without it.

    Perfect abstention abstains from every question whose answer is not correct. From an unanswerable question, that is
    correct, so a wrong answer to it loses the difference to a correct one, not only to a skip.
    """
    parts: dict[str, list[Part]] = {"rs_best": [], "rs_lost": [], "idk_best": [], "idk_lost": []}
    for (tally, _, best, unanswerable), times in items.items():
        mean = Fraction(best) / tally.k
        lost = mean - Fraction(tally.low) / tally.k
        parts["rs_best"].append(Part(mean, mean, 1, times))
        parts["rs_lost"].append(Part(lost, lost, 1, times))
        correct = tally.correct - unanswerable.correct + unanswerable.k
        errors = tally.error - unanswerable.error
        parts["idk_best"].append(Part(correct, correct + errors, tally.k, times))
        bad = tally.wrong + tally.unparsed + unanswerable.wrong + unanswerable.unparsed
        parts["idk_lost"].append(Part(bad, bad + tally.error + unanswerable.error, tally.k, times))
    points, is_mixed = intervals.points, any(row.unanswerable.k for row in items)
    if points is not None and is_mixed:
        points = points._replace(skipped_high=max(points.skipped_high, points.high))
    of_rs = {
        "rs_best": Aggregate(tuple(parts["rs_best"]), True, Range.POINTS_AT_BEST),
        "rs_lost": Aggregate(tuple(parts["rs_lost"]), True, Range.POINTS_LOST),
    }
    of_idk = {
        "idk_best": Aggregate(tuple(parts["idk_best"])),
        "idk_lost": Aggregate(tuple(parts["idk_lost"]), range=Range.MEAN_POINTS),
    }
    return {
        **estimates(of_rs, replace(intervals, points=points)),
        **estimates(of_idk, replace(intervals, points=PointRange(0.0, 2.0 if is_mixed else 1.0))),
    }


def _at_penalty(tallies: Tallies, penalty: Fraction, abstaining: Fraction, intervals: Intervals) -> Penalty:
    """Return the mean of +1, 0 and -penalty, and whether it exceeds `abstaining`, the mean of always abstaining."""
    parts = []
    for tally, times in tallies.items():
        low = tally.correct - penalty * (tally.wrong + tally.unparsed)
        parts.append(Part(low - penalty * tally.error, low + tally.error, tally.k, times))
    points = Aggregate(tuple(parts), range=Range.MEAN_POINTS)
    has_answers = any(tally.skipped < tally.k for tally in tallies)
    return {
        "penalty": float(penalty),
        "threshold": float(penalty / (1 + penalty)),
        "points": estimate(points, replace(intervals, points=PointRange(-float(penalty), 1.0))),
        "pays": None if points.value is None or not has_answers else points.value > abstaining,
    }
