"""Intervals and standard errors against brute force, scipy's bootstrap and formulas written anew."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy
import pytest
from dia_runtime.grading.verdicts import Verdict, mark
from dia_runtime.scoring.figures import FIGURES, compared_figures
from dia_runtime.scoring.metrics import Aggregate, Part, PointRange, Range, Tally, tally
from dia_runtime.scoring.statistics.estimates import estimates
from dia_runtime.scoring.statistics.resample import Intervals, resampled_sums
from dia_runtime.scoring.statistics.sample import MANY, Ratio, sample_of
from helpers.examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

POINTS = {"correct": Fraction(1), "skipped": Fraction(0), "wrong": Fraction(-2)}
VERDICTS = ("correct", "skipped", "wrong", "unparsed")
ROWS = st.lists(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=4), min_size=2, max_size=7)
WAYS = [Intervals("percentile", 400, 3), Intervals("bca", 400, 3)]


def tallies(rows: Sequence[Sequence[str]]) -> Counter[Tally]:
    return Counter(tally(mark(Verdict(verdict), POINTS) for verdict in row) for row in rows)


def drawn_rows(seed: int, items: int, k: int = 5) -> list[list[str]]:
    """Verdicts of items that differ in difficulty."""
    generator = numpy.random.default_rng(seed)
    chances = generator.beta(2, 2, items)
    worse = ("skipped", "wrong", "wrong", "unparsed")
    return [["correct" if generator.random() < chance else worse[generator.integers(4)] for _ in range(k)]
            for chance in chances]  # fmt: skip


def by_hand(figure: Aggregate, way: Intervals) -> list[float] | None:
    """The interval from a list of resamples, one after the other, by the formulas of the books."""
    weights = resampled_sums(numpy.eye(len(figure.parts)), [part.times for part in figure.parts], way)

    def value(times: Sequence[float]) -> Fraction | None:
        held = [part._replace(times=int(number)) for part, number in zip(figure.parts, times, strict=True)]
        return Aggregate(tuple(held), figure.is_sum).value

    values = sorted(found for row in weights.tolist() if (found := value(row)) is not None)
    if len(values) < 0.9 * way.resamples:
        return None
    shares = [0.025, 0.975]
    if way.method == "bca":
        shares = moved(figure, values, value) or shares
    return [quantile(values, share) for share in shares]


def moved(figure: Aggregate, values: list[Fraction], value: Any) -> list[float] | None:
    normal, point = NormalDist(), figure.value
    assert point is not None
    below = sum(held < point for held in values) / len(values) + sum(held == point for held in values) / 2 / len(values)
    alone: list[Fraction] = []
    for at, part in enumerate(figure.parts):
        without = value([other.times - (at == place) for place, other in enumerate(figure.parts)])
        if without is None:
            return None
        alone += [without] * part.times
    if not 0 < below < 1:
        return None
    deviations = [float(sum(alone) / len(alone) - held) for held in alone]
    squares = sum(deviation**2 for deviation in deviations)
    pull = sum(deviation**3 for deviation in deviations) / (6 * squares**1.5) if squares else 0.0
    found = []
    for share in (0.025, 0.975):
        reach = normal.inv_cdf(below) + normal.inv_cdf(share)
        if pull * reach >= 1:
            return None
        found.append(normal.cdf(normal.inv_cdf(below) + reach / (1 - pull * reach)))
    return found


def quantile(values: Sequence[Fraction], share: float) -> float:
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return float(values[low]) + (place - low) * float(values[high] - values[low])


@settings(max_examples=examples(25), deadline=None)
@given(ROWS, st.sampled_from(WAYS), st.sampled_from(compared_figures()))
def test_every_interval_equals_one_made_resample_by_resample(rows: list[list[str]], way: Intervals, name: str) -> None:
    figure = FIGURES[name].aggregate(tallies(rows))
    resampled = replace(figure, range=Range.UNKNOWN)  # without a range there is no bound
    estimated = estimates({name: resampled}, way)[name]
    assume(estimated["se"])
    assert estimated["ci"] == pytest.approx(by_hand(figure, way), abs=1e-9)


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=4))
def test_resamples_come_as_often_as_a_count_of_all_of_them(values: list[int]) -> None:
    rows = Counter(values)
    sums = resampled_sums(
        numpy.array(list(rows), dtype=float)[:, None], list(rows.values()), Intervals("bca", 4_000, 1)
    )
    every = Counter(sum(drawn) for drawn in itertools.product(values, repeat=len(values)))
    for total in every:
        share = sum(number for other, number in every.items() if other <= total) / every.total()
        assert abs(numpy.mean(sums[:, 0] <= total) - share) < 0.04


@pytest.mark.parametrize(("seed", "items"), [(1, 40), (2, 150)])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_are_those_of_scipy(seed: int, items: int, method: str) -> None:
    from scipy.stats import bootstrap

    rows = drawn_rows(seed, items)
    held = tallies(rows)
    for name in ("trad_score", "rs", "accuracy_answered"):
        figure = FIGURES[name].aggregate(held)
        parts = [part for part in figure.parts for _ in range(part.times)]
        top, bottom = (numpy.array([float(getattr(part, field)) for part in parts]) for field in ("low", "size"))

        def statistic(low: Any, size: Any, axis: int, is_sum: bool = figure.is_sum) -> Any:
            return low.sum(axis=axis) if is_sum else low.sum(axis=axis) / size.sum(axis=axis)

        expected = bootstrap((top, bottom), statistic, paired=True, vectorized=True, n_resamples=6_000, batch=1_000,
                             method={"bca": "BCa"}.get(method, method), rng=numpy.random.default_rng(5))  # fmt: skip
        found = estimates({name: figure}, Intervals(method))[name]
        # An end is a quantile of 10,000 resamples, its own error about a fortieth of the standard error.
        ends = expected.confidence_interval
        assert found["ci"] == pytest.approx([ends.low, ends.high], abs=0.16 * found["se"])
        assert found["se"] == pytest.approx(expected.standard_error, rel=0.06)


@settings(max_examples=examples(25), deadline=None)
@given(ROWS)
def test_clustered_errors_are_those_of_a_regression_on_a_constant(rows: list[list[str]]) -> None:
    # The sandwich that statsmodels computes for cov_type="cluster": its factor G / (G - 1) is ours.
    scores = [numpy.array([verdict == "correct" for verdict in row], dtype=float) for row in rows]
    ones = [numpy.ones((len(row), 1)) for row in rows]
    design, values = numpy.vstack(ones), numpy.concatenate(scores)
    bread = numpy.linalg.inv(design.T @ design)
    rest = values - design[:, 0] * values.mean()
    places = numpy.cumsum([len(row) for row in rows])[:-1]
    meat = sum(numpy.outer(x.T @ e, x.T @ e) for x, e in zip(ones, numpy.split(rest, places), strict=True))
    expected = math.sqrt(len(rows) / (len(rows) - 1) * (bread @ meat @ bread)[0, 0])
    found = estimates({"trad_score": FIGURES["trad_score"].aggregate(tallies(rows))}, Intervals("none"))["trad_score"]
    assert found["se"] == pytest.approx(expected, abs=1e-12) and found["ci"] is None


@settings(max_examples=examples(25), deadline=None)
@given(ROWS, st.sampled_from(compared_figures()))
def test_errors_of_samples_are_the_exact_ones(rows: list[list[str]], name: str) -> None:
    figure = FIGURES[name].aggregate(tallies(rows))
    exact = estimates({name: figure}, Intervals("none"))[name]
    assume(exact["value"] is not None)
    sample = sample_of([((part.low, part.size), part.times) for part in figure.parts])
    part = (Ratio(0, None if figure.is_sum else 1),)
    assert sample.point(part) == pytest.approx(exact["value"], abs=1e-12)
    assert sample.standard_error(part) == pytest.approx(exact["se"], abs=1e-12)


def test_equal_items_have_the_exact_bound_of_what_may_be_unseen() -> None:
    known = Intervals(points=PointRange(-2.0, 1.0))
    every = estimates(
        {name: FIGURES[name].aggregate(tallies([["correct"]] * 10)) for name in compared_figures()}, known
    )
    root = 0.025 ** (1 / 10)  # Clopper and Pearson: the tenth root of 2.5 %
    assert every["trad_score"] == {"value": 1.0, "se": 0.0, "ci": [pytest.approx(root), 1.0]}
    assert every["extract_fail"]["ci"] == [0.0, pytest.approx(1 - root)]
    assert every["idk_score"]["ci"] == [pytest.approx(2 * root - 1), 1.0]
    assert every["rs"] == {"value": 10.0, "se": 0.0, "ci": [pytest.approx(10 - 30 * (1 - root)), 10.0]}
    assert every["nms"] == {"value": 0.0, "se": 0.0, "ci": None}  # of items with one instance it is always 0
    near = estimates({"nms": FIGURES["nms"].aggregate(tallies([["correct"] * 5] * 10))}, known)["nms"]
    assert near == {"value": 0.0, "se": 0.0, "ci": [0.0, pytest.approx(10 - 10 * root)]}
    half = estimates({"trad_score": FIGURES["trad_score"].aggregate(tallies([["correct", "wrong"]] * 4))}, known)
    reach = 0.5 * (1 - 0.025 ** (1 / 4))
    assert half["trad_score"]["ci"] == [pytest.approx(0.5 - reach), pytest.approx(0.5 + reach)]
    assert estimates({"rs": FIGURES["rs"].aggregate(tallies([["correct"]] * 4))}, Intervals())["rs"]["ci"] is None
    # Of thirty items the two that were answered say something of the answers, the others nothing.
    rare = FIGURES["accuracy_answered"].aggregate(tallies([["correct"], ["correct", "correct"], *[["skipped"]] * 28]))
    assert estimates({"right": rare}, known)["right"]["ci"] == [pytest.approx(0.025 ** (1 / 2)), 1.0]


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(2, 400))
def test_the_bound_of_equal_items_is_that_of_clopper_and_pearson(number: int) -> None:
    from scipy.special import betaincinv

    found = estimates({"conf": FIGURES["conf"].aggregate(tallies([["correct"]] * number))}, Intervals())["conf"]
    assert found["ci"][0] == pytest.approx(betaincinv(number, 1, 0.025))


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(2, 60), st.integers(1, 19))
def test_the_bound_of_a_share_of_items_is_that_of_clopper_and_pearson(number: int, wrong: int) -> None:
    from scipy.stats import binomtest

    assume(wrong < number)
    rows = [["wrong"]] * wrong + [["correct"]] * (number - wrong)
    estimated = estimates({"conf": FIGURES["conf"].aggregate(tallies(rows))}, Intervals())["conf"]
    expected = binomtest(number - wrong, number).proportion_ci(method="exact")
    assert estimated["interval"] == "bound"
    assert estimated["ci"] == pytest.approx([expected.low, expected.high])


@pytest.mark.parametrize("name", ["rs", "trad_score", "pass_at_k", "conf"])
def test_equal_values_have_equal_bounds_whatever_the_verdicts(name: str) -> None:
    known, figure = Intervals(points=PointRange(-1.0, 1.0)), FIGURES[name]
    rows = [["correct", *["wrong"] * 4], *[["wrong"] * 5] * 3]
    others = [["correct", "unparsed", *["wrong"] * 3], ["unparsed"] * 5, ["wrong"] * 5, ["unparsed", *["wrong"] * 4]]
    ends = [estimates({name: figure.aggregate(tallies(entry))}, known)[name]["ci"] for entry in (rows, others)]
    assert ends[0] is not None and ends[0] == ends[1]


@pytest.mark.parametrize("name", ["rs", "trad_score", "idk_score", "nms", "conf"])
def test_a_bound_lies_within_the_range_around_the_value_and_is_wider_than_resamples(name: str) -> None:
    rows = [["correct"] * 5] * 12 + [["correct"] * 4 + ["wrong"]] * 5 + [["skipped"] * 5]
    known, figure = Intervals(points=PointRange(-2.0, 1.0)), FIGURES[name].aggregate(tallies(rows))
    estimated = estimates({name: figure}, known)[name]
    resampled = estimates({name: figure}, Intervals("percentile", points=known.points))[name]
    lowest, highest = figure.range.ends(len(rows), known.points)
    (low, high), (inner_low, inner_high) = estimated["ci"], resampled["ci"]
    assert estimated["interval"] == "bound" and "interval" not in resampled
    assert lowest < low < inner_low <= estimated["value"] <= inner_high and high <= highest
    assert high - low > inner_high - inner_low


def test_resamples_are_enough_where_twenty_items_differ_from_either_end() -> None:
    for wrong, method in ((19, "bound"), (20, None), (280, None), (281, "bound")):
        rows = [["wrong"]] * wrong + [["correct"]] * (300 - wrong)
        figure = FIGURES["conf"].aggregate(tallies(rows))
        assert estimates({"conf": figure}, Intervals())["conf"].get("interval") == method
        assert estimates({"conf": figure}, Intervals("bound"))["conf"].get("interval") is None


def test_one_item_open_figures_and_means_of_nothing_have_no_interval() -> None:
    one = estimates({"rs": FIGURES["rs"].aggregate(tallies([["correct", "wrong"]]))}, Intervals())["rs"]
    assert one == {"value": -0.5, "se": None, "ci": None}
    table = tallies([["correct", "error"], ["wrong", "wrong"]])
    assert estimates({"rs": FIGURES["rs"].aggregate(table)}, Intervals())["rs"] == {
        "value": None, "se": None, "ci": None, "bounds": [-2.5, -1.0]}  # fmt: skip
    silent = FIGURES["accuracy_answered"].aggregate(tallies([["skipped"]] * 3))
    assert estimates({"right": silent}, Intervals())["right"] == {"value": None, "se": None, "ci": None}
    # One of thirty items holds all that was answered: a third of the resamples have no value at all.
    rare = FIGURES["accuracy_answered"].aggregate(tallies([["correct", "wrong", "skipped"], *[["skipped"]] * 29]))
    assert estimates({"right": rare}, Intervals())["right"]["ci"] is None


def test_the_same_seed_gives_the_same_interval_and_another_one_nearly() -> None:
    figure = {"trad_score": FIGURES["trad_score"].aggregate(tallies(drawn_rows(3, 80)))}
    first, again, other = (estimates(figure, Intervals(seed=seed))["trad_score"] for seed in (0, 0, 1))
    assert first == again and first["ci"] != other["ci"]
    assert first["ci"] == pytest.approx(other["ci"], abs=0.15 * first["se"])


def test_many_different_items_have_the_interval_of_the_normal_distribution() -> None:
    parts = tuple(Part(Fraction(at, 7_001), Fraction(at, 7_001), 1) for at in range(MANY + 1))
    found = estimates({"share": Aggregate(parts)}, Intervals())["share"]
    assert found["ci"] == pytest.approx([found["value"] - 1.96 * found["se"], found["value"] + 1.96 * found["se"]])


def test_points_beyond_what_floats_hold_exactly_give_an_interval_all_the_same() -> None:
    huge = [Part(Fraction(at, 999_999_937), Fraction(at, 999_999_937), 1) for at in (10**15, 3 * 10**15, 10**9, 5)]
    prime = [part._replace(low=part.low + Fraction(1, 999_999_893), high=part.high + Fraction(1, 999_999_893))
             for part in huge]  # fmt: skip
    found = estimates({"rs": Aggregate((*huge, *prime), is_sum=True)}, Intervals())["rs"]
    assert found["ci"][0] < found["value"] < found["ci"][1]


def test_large_samples_are_drawn_as_counts_and_in_parts() -> None:
    rows, times = numpy.array([[1.0], [0.0]]), [30_000, 70_000]
    sums = resampled_sums(rows, times, Intervals("bca", 2_000, 0))[:, 0]
    assert sums.mean() == pytest.approx(30_000, rel=2e-3) and sums.std() == pytest.approx(math.sqrt(21_000), rel=0.1)
    wide = numpy.arange(1_000.0)[:, None]
    in_parts = resampled_sums(wide, [1] * 1_000, Intervals("bca", 2_500, 0))[:, 0]
    assert len(in_parts) == 2_500 and in_parts.mean() == pytest.approx(999 * 500, rel=2e-3)


def test_a_mean_over_the_values_of_one_item_has_no_error() -> None:
    rows = tallies([["correct", "wrong"], ["skipped"], ["skipped", "skipped"]])
    found = estimates({"accuracy_answered": FIGURES["accuracy_answered"].aggregate(rows)}, Intervals())[
        "accuracy_answered"
    ]
    assert found == {"value": 0.5, "se": None, "ci": None}
