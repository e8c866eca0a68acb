from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy
import pytest
from dia_runtime.grading.verdicts import Mark, Verdict, mark
from dia_runtime.scoring import metrics
from dia_runtime.scoring.figures import FIGURES, compared_figures
from dia_runtime.scoring.intervals import clustered_variance
from dia_runtime.scoring.metrics import Aggregate, PointRange, Range, Tallies, TallyTable, tally
from hypothesis import given, settings
from hypothesis import strategies as st

POINTS = {"correct": Fraction(1), "skipped": Fraction(0), "wrong": Fraction(-2)}


def items_of(verdicts: Sequence[Sequence[str]]) -> TallyTable:
    return {f"item {at}": tally(mark(Verdict(verdict), POINTS) for verdict in row) for at, row in enumerate(verdicts)}


def table_of(verdicts: Sequence[Sequence[str]]) -> Tallies:
    return Counter(items_of(verdicts).values())


def of_counts(correct: int, skipped: int, wrong: int, k: int = 5) -> Tallies:
    """The tallies with these counts, filled item by item."""
    row = ["correct"] * correct + ["skipped"] * skipped + ["wrong"] * wrong
    return table_of([row[at : at + k] for at in range(0, len(row), k)])


# The DIA paper, Table I (k = 5, n = 150): counts and RS@5 as printed.
TABLE_ONE = {
    "o1-mini": (269, 280, 201, "-26.6"),
    "GPT-4o": (182, 70, 498, "-162.8"),
    "GPT-4o-mini": (123, 29, 598, "-214.6"),
    "Llama-3.1-Nemotron": (109, 21, 620, "-226.2"),
    "Codellama": (19, 1, 730, "-288.2"),
    "Llama2-Uncensored": (0, 1, 749, "-299.6"),
}


@pytest.mark.parametrize("row", TABLE_ONE.values(), ids=TABLE_ONE)
def test_reliability_scores_of_the_paper(row: tuple[int, int, int, str]) -> None:
    table = of_counts(*row[:3])
    assert sum(row[:3]) == 750 and sum(table.values()) == 150
    assert FIGURES["rs"].aggregate(table).value == Fraction(row[3])


def test_the_row_that_the_paper_prints_before_the_division() -> None:
    # ChatGPT-4o: 418 - 2 * 241 = -64 is printed; equation (1) divides by k.
    rs = FIGURES["rs"].aggregate(of_counts(418, 91, 241)).value
    assert rs == Fraction(-64, 5) and float(rs) == -12.8


def test_confidence_as_the_paper_prints_it() -> None:
    # 32 of 150 items all correct; the paper prints 21.34 %.
    table = table_of([["correct"] * 5] * 32 + [["wrong"] * 5] * 118)
    value = FIGURES["conf"].aggregate(table).value
    assert value == Fraction(32, 150) and abs(100 * float(value) - 21.34) < 0.01


def test_pass_at_five_as_the_paper_counts_it() -> None:
    table = table_of([["wrong"] * 4 + ["correct"]] * 110 + [["wrong"] * 5] * 40)
    assert FIGURES["pass_at_k"].aggregate(table).value == Fraction(110, 150)


def test_skipped_items() -> None:
    table = table_of([["skipped"] * 5] * 9 + [["skipped", *["wrong"] * 4]] * 32 + [["correct"] * 5] * 109)
    assert (metrics.completely_skipped(table), metrics.partly_skipped(table)) == (9, 32)


def test_near_misses_are_from_four_of_five() -> None:
    rows = [["correct"] * right + ["wrong"] * (5 - right) for right in range(6)]
    assert [FIGURES["nms"].aggregate(table_of([row])).value for row in rows] == [0, 0, 0, 0, 1, 0]
    # With k = 3 the bound is 2.4, which no number of instances below 3 reaches; with k = 10 it is 8.
    assert FIGURES["nms"].aggregate(table_of([["correct", "correct", "wrong"]])).value == 0
    assert FIGURES["nms"].aggregate(table_of([["correct"] * 8 + ["wrong"] * 2])).value == 1


def test_unequal_k_sums_the_means_of_items() -> None:
    table = table_of([["correct"], ["wrong", "correct", "skipped"]])
    assert FIGURES["rs"].aggregate(table).value == 1 + Fraction(-1, 3)
    assert metrics.tsr(items_of([["correct"], ["wrong", "correct", "skipped"]])) == {"item 0": 1, "item 1": 1}


ROWS = st.lists(st.lists(st.sampled_from(tuple(Verdict)[:4]), min_size=1, max_size=5), min_size=1, max_size=8)
OPEN = st.lists(st.lists(st.sampled_from(tuple(Verdict)), min_size=1, max_size=3), min_size=1, max_size=3)


@given(ROWS)
def test_figures_equal_their_definitions(rows: list[list[str]]) -> None:
    table, n = table_of(rows), len(rows)
    flat = [verdict for row in rows for verdict in row]
    right = [row.count("correct") for row in rows]
    assert metrics.counts(table) == {verdict: flat.count(verdict) for verdict in Verdict}
    assert FIGURES["conf"].aggregate(table).value == Fraction(sum(set(row) == {"correct"} for row in rows), n)
    assert FIGURES["pass_at_k"].aggregate(table).value == Fraction(sum("correct" in row for row in rows), n)
    shares = [Fraction(c, len(row)) for c, row in zip(right, rows, strict=True)]
    assert FIGURES["nms"].aggregate(table).value == sum(Fraction(8, 10) <= share < 1 for share in shares)
    assert FIGURES["trad_score"].aggregate(table).value == Fraction(flat.count("correct"), len(flat))
    assert FIGURES["idk_freq"].aggregate(table).value == Fraction(flat.count("skipped"), len(flat))
    assert FIGURES["extract_fail"].aggregate(table).value == Fraction(flat.count("unparsed"), len(flat))


@given(ROWS)
def test_idk_score_is_twice_trad_score_and_abstentions_less_one(rows: list[list[str]]) -> None:
    table = table_of(rows)
    trad, idk, skipped = (
        FIGURES["trad_score"].aggregate(table),
        FIGURES["idk_score"].aggregate(table),
        FIGURES["idk_freq"].aggregate(table),
    )
    assert trad.value is not None and skipped.value is not None
    assert idk.value == 2 * trad.value + skipped.value - 1
    drop, coverage, right = (
        FIGURES["drop"].aggregate(table),
        FIGURES["coverage"].aggregate(table),
        FIGURES["accuracy_answered"].aggregate(table),
    )
    assert drop.value == trad.value - idk.value and coverage.value == 1 - skipped.value
    assert right.value == (trad.value / coverage.value if coverage.value else None)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=5), st.integers(1, 6))
def test_pass_figures_equal_a_count_of_all_draws(rows: list[list[bool]], tries: int) -> None:
    table = table_of([["correct" if right else "wrong" for right in row] for row in rows])
    draws = [list(itertools.combinations(row, tries)) for row in rows if len(row) >= tries]
    for figure, holds in ((metrics.pass_at, any), (metrics.pass_hat, all)):
        shares = [Fraction(sum(map(holds, drawn)), len(drawn)) for drawn in draws]
        expected = sum(shares) / len(shares) if shares else None
        assert Aggregate(figure(table, tries)).value == expected


# The least and the greatest of a ratio of sums is none of sums of ratios: there the bounds are wider.
FIGURES_WITH_BOUNDS = [name for name in compared_figures() if name != "accuracy_answered"]


@settings(deadline=None)  # up to 2,000 ways are tried in each example
@given(OPEN, st.sampled_from(FIGURES_WITH_BOUNDS))
def test_bounds_are_the_extremes_over_all_ways_that_errors_can_end(rows: list[list[str]], name: str) -> None:
    bounds = FIGURES[name].aggregate(table_of(rows)).bounds
    ends = [tuple(Verdict)[:4] if verdict == "error" else (verdict,) for row in rows for verdict in row]
    found: list[Fraction] = []
    for way in itertools.islice(itertools.product(*ends), 2000):
        flat = iter(way)
        value = FIGURES[name].aggregate(table_of([[next(flat) for _ in row] for row in rows])).value
        assert value is not None
        found.append(value)
    assert bounds is not None and bounds[0] <= min(found) and max(found) <= bounds[1]
    if math.prod(map(len, ends)) <= 2000:
        assert bounds == (min(found), max(found))


def test_reliability_with_errors_runs_from_all_wrong_to_all_correct() -> None:
    figure = FIGURES["rs"].aggregate(table_of([["correct", "error"], ["error", "wrong"]]))
    assert figure.value is None and figure.bounds == (Fraction(-1, 2) - 2, 1 - Fraction(1, 2))


def test_shares_of_full_marks_have_their_mean_over_questions() -> None:
    # Two items with 3/2 of two questions, one with 1/4 of one.
    parts = metrics.mean_share({(Fraction(3, 2), 2): 2, (Fraction(1, 4), 1): 1})
    assert FIGURES["share"].aggregate_of(parts).value == Fraction(13, 4) / 5


def test_a_table_of_nothing() -> None:
    assert FIGURES["conf"].aggregate({}).value is None and FIGURES["rs"].aggregate({}).value == 0
    assert FIGURES["idk_score"].aggregate({}).bounds is None


CLUSTERS = st.lists(st.lists(st.integers(-2, 1), min_size=1, max_size=5), min_size=2, max_size=9)


@given(CLUSTERS)
def test_the_clustered_error_equals_the_formula(clusters: list[list[int]]) -> None:
    every = numpy.concatenate([numpy.array(cluster, float) for cluster in clusters])
    deviations = [(numpy.array(cluster) - every.mean()).sum() for cluster in clusters]
    groups = len(clusters)
    expected = math.sqrt(groups / (groups - 1) * sum(d**2 for d in deviations)) / len(every)
    variance = clustered_variance([(sum(cluster), len(cluster)) for cluster in clusters])
    assert variance is not None and math.sqrt(variance) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(-2, 1), min_size=2, max_size=30))
def test_clusters_of_one_give_the_usual_error(values: list[int]) -> None:
    variance = clustered_variance([(value, 1) for value in values])
    assert variance == Fraction(statistics.variance(map(Fraction, values))) / len(values)


def test_one_cluster_has_no_error() -> None:
    assert clustered_variance([(3, 4)]) is None and clustered_variance([]) is None


def test_marks() -> None:
    assert mark(Verdict.UNPARSED, POINTS) == Mark(Verdict.UNPARSED, Fraction(-2), Fraction(-2))
    assert mark(Verdict.ERROR, POINTS) == Mark(Verdict.ERROR, Fraction(-2), Fraction(1))


@pytest.mark.parametrize(
    ("ks", "printed"),
    [
        ([], []),
        ([1], [1]),
        ([5], [1, 2, 3, 4, 5]),
        ([2, 11], [*range(1, 12)]),
        ([12], [*range(1, 11), 12]),
        ([20], [*range(1, 11), 20]),
        ([200], [*range(1, 11), 20, 50, 100, 200]),
    ],
)
def test_pass_figures_are_printed_for_a_few_tries(ks: list[int], printed: list[int]) -> None:
    assert metrics.ladder(Counter(items_of([["correct"] * k for k in ks]).values())) == printed


def test_an_error_may_become_the_worst_and_the_best_verdict() -> None:
    tallies = table_of([["correct", "wrong", "error", "error"]])
    (part,) = FIGURES["idk_score"].aggregate(tallies).parts
    assert (part.low, part.high, part.size) == (1 - 1 - 2, 1 - 1 + 2, 4)


def test_declines_are_means_over_questions_not_over_items() -> None:
    unanswerable = table_of([["correct", "wrong", "unparsed"], ["correct"]])
    assert FIGURES["correct_decline"].aggregate_of(metrics_of("correct_decline", unanswerable)).value == Fraction(2, 4)
    answerable = table_of([["correct", "skipped", "skipped"], ["wrong", "skipped"]])
    assert FIGURES["false_decline"].aggregate_of(metrics_of("false_decline", answerable)).value == Fraction(3, 5)


def metrics_of(name: str, tallies: Tallies) -> metrics.Parts:
    """What the items contribute to a figure that is computed from tallies."""
    of_tallies = FIGURES[name].of_tallies
    assert of_tallies is not None
    return of_tallies(tallies)


@pytest.mark.parametrize(
    ("range_", "ends", "without_points"),
    [
        (Range.SHARE, (0, 1), (0, 1)),
        (Range.BALANCE, (-1, 1), (-1, 1)),
        (Range.COUNT, (0, 7), (0, 7)),
        (Range.POINTS, (-14, 21), None),
        (Range.POINTS_AT_BEST, (-7, 21), None),
        (Range.POINTS_LOST, (0, 21), None),
        (Range.UNKNOWN, None, None),
    ],
)
def test_the_ends_of_figures_over_seven_items(
    range_: Range, ends: tuple[int, int] | None, without_points: tuple[int, int] | None
) -> None:
    assert range_.ends(7, PointRange(-2.0, 3.0, -1.0, 1.0)) == ends
    assert range_.ends(7, None) == without_points
