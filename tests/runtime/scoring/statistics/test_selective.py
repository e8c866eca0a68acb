"""Risk, coverage and named mistakes against enumeration and counts by hand."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy
import pytest
from dia_runtime.grading.verdicts import Verdict, mark
from dia_runtime.scoring.figures import FIGURES
from dia_runtime.scoring.metrics import PointRange, equal_rows, tally
from dia_runtime.scoring.statistics.estimates import estimates
from dia_runtime.scoring.statistics.mistakes import MistakeTally
from dia_runtime.scoring.statistics.resample import Intervals
from dia_runtime.scoring.statistics.selective import Row, agreed, area, best_area, harmonic, levels_of, selective
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

POINTS = {"correct": Fraction(1), "skipped": Fraction(0), "wrong": Fraction(-2)}
VERDICTS = ("correct", "skipped", "wrong", "unparsed")
ROWS = st.lists(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=3), min_size=1, max_size=5)
# A verdict, and whether its question is unanswerable: there, an abstention is correct, and nothing is skipped.
MIXED = st.one_of(
    st.tuples(st.sampled_from(VERDICTS), st.just(False)),
    st.tuples(st.sampled_from(("correct", "wrong", "unparsed")), st.just(True)),
)
MIXED_ROWS = st.lists(st.lists(MIXED, min_size=1, max_size=3), min_size=1, max_size=5)
PLAIN = Intervals("none")


def found_of(rows: Sequence[Sequence[str]], way: Intervals = PLAIN) -> dict[str, Any]:
    return found_of_mixed([[(verdict, False) for verdict in row] for row in rows], way)


def found_of_mixed(rows: Sequence[Sequence[tuple[str, bool]]], way: Intervals = PLAIN) -> dict[str, Any]:
    items, table = Counter[Row](), Counter[Any]()
    for row in rows:
        held = tally(mark(Verdict(verdict), POINTS) for verdict, _ in row)
        unanswerable = tally(mark(Verdict(verdict), POINTS) for verdict, is_so in row if is_so)
        best = Fraction(sum(verdict == "correct" or is_so for verdict, is_so in row))
        items[Row(held, levels_of(held), best, unanswerable)] += 1
        table[held] += 1
    known = estimates({name: FIGURES[name].aggregate(table) for name in ("coverage", "accuracy_answered")}, way)
    return selective(items, "answered", known, way)


def mean_risk(order: Sequence[bool]) -> Fraction:
    """The mean over m of the share of wrong ones among the first m."""
    return sum((Fraction(sum(order[:m]), m) for m in range(1, len(order) + 1)), Fraction(0)) / len(order)


@settings(max_examples=examples(30), deadline=None)
@given(ROWS)
def test_the_area_is_the_mean_over_all_orders_of_equal_confidence(rows: list[list[str]]) -> None:
    levels: dict[Fraction, list[bool]] = {}
    for row in rows:
        answered = [verdict != "correct" for verdict in row if verdict != "skipped"]
        if answered:
            sure = Fraction(len(answered) - 1, len(row) - 1) if len(row) > 1 else Fraction(1)
            levels.setdefault(sure, []).extend(answered)
    groups = [levels[level] for level in sorted(levels, reverse=True)]
    found = found_of(rows)
    if not groups:
        assert found["aurc"] == {"value": None, "se": None, "ci": None} and found["curve"] == []
        return
    # The mean over orders of a group depends on how many are wrong alone: so its distinct orders have equal weight.
    orders = [sorted(set(itertools.permutations(group[:6]))) for group in groups]
    if all(len(group) <= 6 for group in groups) and math.prod(map(len, orders)) <= 2_000:
        means = [mean_risk([wrong for part in parts for wrong in part]) for parts in itertools.product(*orders)]
        assert found["aurc"]["value"] == pytest.approx(float(sum(means) / len(means)))
    flat = sorted(wrong for group in groups for wrong in group)
    assert found["aurc_best"]["value"] == pytest.approx(float(mean_risk(flat)))
    assert found["excess"]["value"] == pytest.approx(found["aurc"]["value"] - found["aurc_best"]["value"])
    questions = sum(map(len, rows))
    answered_so_far = list(itertools.accumulate(groups))
    assert [(point["coverage"], point["risk"]) for point in found["curve"]] == [
        (len(part) / questions, sum(part) / len(part)) for part in answered_so_far]  # fmt: skip


def test_harmonic_numbers_are_exact_to_many_places() -> None:
    numbers = numpy.array([0, 1, 2, 10, 63, 64, 65, 1_000, 100_000], dtype=float)
    expected = [math.fsum(1 / m for m in range(1, int(n) + 1)) for n in numbers]
    assert harmonic(numbers).tolist() == pytest.approx(expected, rel=1e-13)


def test_an_order_without_ties_has_the_area_of_its_definition() -> None:
    generator = numpy.random.default_rng(3)
    wrong = generator.random(300) < 0.3
    columns = numpy.ravel(numpy.column_stack([numpy.ones(300), wrong]))[None]
    expected = (numpy.cumsum(wrong) / numpy.arange(1, 301)).mean()
    assert area(columns)[0] == pytest.approx(expected)
    ideal = (numpy.cumsum(numpy.sort(wrong)) / numpy.arange(1, 301)).mean()
    assert best_area(columns)[0] == pytest.approx(ideal)


@settings(max_examples=examples(30), deadline=None)
@given(ROWS)
def test_perfect_abstention_skips_all_that_is_not_right(rows: list[list[str]]) -> None:
    found, flat = found_of(rows), [verdict for row in rows for verdict in row]
    worth = {"correct": 1, "skipped": 0}
    rs = sum(sum(worth.get(verdict, -2) for verdict in row) / len(row) for row in rows)
    best = sum(row.count("correct") / len(row) for row in rows)
    idk = sum(worth.get(verdict, -1) for verdict in flat) / len(flat)
    assert found["rs_best"]["value"] == pytest.approx(best) and found["rs_lost"]["value"] == pytest.approx(best - rs)
    assert found["idk_best"]["value"] == pytest.approx(flat.count("correct") / len(flat))
    assert found["idk_lost"]["value"] == pytest.approx(found["idk_best"]["value"] - idk)
    for entry in found["penalties"]:
        points = sum(worth.get(verdict, -entry["penalty"]) for verdict in flat) / len(flat)
        assert entry["points"]["value"] == pytest.approx(points)
        assert entry["threshold"] == pytest.approx(entry["penalty"] / (1 + entry["penalty"]))
        answered = [verdict for verdict in flat if verdict != "skipped"]
        right = flat.count("correct") / len(answered) if answered else None
        assert entry["pays"] == (None if right is None else right > entry["threshold"])


@settings(max_examples=examples(30), deadline=None)
@given(MIXED_ROWS)
def test_answering_pays_if_it_earns_more_than_always_abstaining(rows: list[list[tuple[str, bool]]]) -> None:
    flat = [entry for row in rows for entry in row]
    abstaining = Fraction(sum(is_unanswerable for _, is_unanswerable in flat), len(flat))
    for entry in found_of_mixed(rows)["penalties"]:
        worth = {"correct": Fraction(1), "skipped": Fraction(0)}
        points = sum(worth.get(verdict, -Fraction(entry["penalty"])) for verdict, _ in flat) / len(flat)
        assert entry["pays"] == (None if {verdict for verdict, _ in flat} == {"skipped"} else points > abstaining)


@settings(max_examples=examples(30), deadline=None)
@given(MIXED_ROWS)
def test_perfect_abstention_is_correct_where_a_question_cannot_be_answered(rows: list[list[tuple[str, bool]]]) -> None:
    """The same figures as those of a model that says "I don't know" to all that it got wrong."""
    found = found_of_mixed(rows)
    corrected = [
        [verdict if verdict == "correct" else "correct" if is_so else "skipped" for verdict, is_so in row]
        for row in rows
    ]
    flat = [verdict for row in corrected for verdict in row]
    assert found["rs_best"]["value"] == pytest.approx(sum(row.count("correct") / len(row) for row in corrected))
    assert found["idk_best"]["value"] == pytest.approx(flat.count("correct") / len(flat))
    assert found["rs_best"]["value"] - found["rs_lost"]["value"] == pytest.approx(score_of_rs(rows))
    assert found["idk_best"]["value"] - found["idk_lost"]["value"] == pytest.approx(score_of_idk(rows))


def score_of_rs(rows: Sequence[Sequence[tuple[str, bool]]]) -> float:
    return sum(sum({"correct": 1, "skipped": 0}.get(verdict, -2) for verdict, _ in row) / len(row) for row in rows)


def score_of_idk(rows: Sequence[Sequence[tuple[str, bool]]]) -> float:
    flat = [verdict for row in rows for verdict, _ in row]
    return sum({"correct": 1, "skipped": 0}.get(verdict, -1) for verdict in flat) / len(flat)


@pytest.mark.parametrize(("is_unanswerable", "most"), [(False, 1), (True, 2)])
def test_what_abstaining_would_gain_stays_in_its_range(is_unanswerable: bool, most: int) -> None:
    """A wrong answer loses 1 against a skip, and 2 against a correct abstention."""
    points = Intervals(points=PointRange(-2.0, 1.0, 0.0, 0.0))
    found = found_of_mixed([[("wrong", is_unanswerable)] * 3] * 10, points)
    assert found["idk_lost"]["value"] == found["idk_lost"]["ci"][1] == most > found["idk_lost"]["ci"][0]
    assert found["rs_lost"]["value"] == found["rs_lost"]["ci"][1] == 10 * (2 + is_unanswerable)


@pytest.mark.parametrize(
    ("row", "best", "lost"),
    [
        ([("error", False), ("correct", False)], [0.5, 1], [0, 0.5]),
        ([("error", True), ("correct", False)], [1, 1], [0, 1]),
    ],
)
def test_an_error_leaves_open_what_a_reply_would_have_changed(
    row: list[tuple[str, bool]], best: list[float], lost: list[float]
) -> None:
    found = found_of_mixed([row])
    assert (found["idk_best"]["bounds"] if best[0] < best[1] else [found["idk_best"]["value"]] * 2) == best
    assert found["idk_lost"]["bounds"] == lost


def test_points_without_a_penalty_have_the_interval_of_accuracy_if_nothing_is_skipped() -> None:
    rows = [["correct"] * 7 + ["wrong"] * 3] * 3 + [["correct"] * 8 + ["wrong"] * 2]
    figures = found_of(rows, Intervals())
    points = figures["penalties"][0]["points"]
    assert points == figures["accuracy"] and points["interval"] == "bound"
    low, high = figures["penalties"][3]["points"]["ci"]  # with a penalty of 2, from -2 to 1
    assert [(end + 2) / 3 for end in (low, high)] == pytest.approx(points["ci"])


def test_errors_leave_the_curve_out_and_the_scores_open() -> None:
    found = found_of([["correct", "error"], ["wrong", "skipped"]], Intervals())
    assert found["curve"] == [] and found["aurc"]["value"] is None
    assert found["idk_best"]["bounds"] == [0.25, 0.5] and found["rs_lost"] == found["aurc"]


def test_nothing_incorrect_is_left_in_the_range_of_perfect_abstention() -> None:
    points = PointRange(-2.0, 1.0, 0.0, 0.0)
    found = found_of([["wrong"] * 3] * 10, Intervals(points=points))
    assert found["rs_best"]["value"] == 0 and found["rs_best"]["ci"][0] == 0 < found["rs_best"]["ci"][1]
    assert found["rs_lost"]["value"] == 20 and found["rs_lost"]["ci"][1] == 20


def test_areas_have_intervals() -> None:
    generator = numpy.random.default_rng(1)
    rows = [[VERDICTS[generator.choice(4, p=[0.6, 0.2, 0.1, 0.1])] for _ in range(4)] for _ in range(60)]
    found = found_of(rows, Intervals())
    for name in ("aurc", "aurc_best", "excess"):
        low, high = found[name]["ci"]
        assert low < found[name]["value"] < high
        assert high - low == pytest.approx(3.92 * found[name]["se"], rel=0.2)


def test_attempts_that_agree_are_more_confident() -> None:
    held = tally(
        mark(Verdict(verdict), POINTS) for verdict in ("correct", "correct", "wrong", "wrong", "skipped", "unparsed")
    )
    found = set(agreed(held, {"correct": 2, "wrong: 5": 1, "wrong: 6": 1}))
    # Of five others one said the same as each right one, none the same as the others.
    assert found == {(Fraction(1, 5), 2, 0), (Fraction(0), 3, 3)}
    refused = tally(mark(Verdict(verdict), POINTS) for verdict in ("correct", "wrong", "skipped"))
    assert set(agreed(refused, {"correct": 1})) == {(Fraction(0), 2, 1)}
    assert agreed(tally([mark(Verdict.SKIPPED, POINTS)]), {}) == ()
    assert agreed(tally([mark(Verdict.UNPARSED, POINTS)]), {}) == ((Fraction(1), 1, 1),)


def test_very_many_instances_are_counted_in_steps() -> None:
    rows = [["correct"] * at + ["skipped"] * (100 - at) for at in range(1, 100)]
    found = found_of(rows)
    assert len(found["curve"]) <= 200 and found["curve"][-1]["coverage"] == pytest.approx(0.5)
    assert found["aurc"]["value"] == 0.0


# Named mistakes


def test_mistakes_add_up_however_many_explain_a_reply() -> None:
    held = MistakeTally()
    for template, item, names in [
        ("a", "a", {"off": True, "sign": False}),
        ("a", "a", {"off": True, "sign": True}),
        ("a", "b", {"off": False, "sign": False}),
        ("b", "c", {}),
    ]:
        held.add(template, item, names)
    found = held.result(PLAIN)
    assert {name: found[name] for name in ("wrong", "one", "several", "none")} == {
        "wrong": 4, "one": 1, "several": 1, "none": 2}  # fmt: skip
    assert found["explained"]["value"] == 0.5
    # Three clusters with 2 of 2, 0 of 1 and 0 of 1: deviations 1, -1/2 and -1/2.
    assert found["explained"]["se"] == pytest.approx(math.sqrt(3 / 2 * 1.5) / 4)
    assert list(found["templates"]) == ["a"] and found["templates"]["a"]["wrong"] == 3
    shares = {name: entry["share"]["value"] for name, entry in found["templates"]["a"]["mistakes"].items()}
    assert shares == {"off": pytest.approx(2 / 3), "sign": pytest.approx(1 / 3)}
    assert held.shares() == {"a": shares}
    assert MistakeTally().result(PLAIN)["explained"] == {"value": None, "se": None, "ci": None}


@settings(max_examples=examples(30), deadline=None)  # scipy is imported in the first example
@given(st.integers(0, 30), st.integers(1, 30))
def test_the_interval_of_a_mistake_is_that_of_wilson_in_scipy(number: int, wrong: int) -> None:
    from scipy.stats import binomtest

    held = MistakeTally()
    for at in range(wrong):
        held.add("t", f"item {at}", {"off": at < number})
    expected = binomtest(min(number, wrong), wrong).proportion_ci(0.95, method="wilson")
    found = held.result(Intervals(resamples=100))["templates"]["t"]["mistakes"]["off"]["share"]
    assert found["ci"] == pytest.approx([expected.low, expected.high], abs=1e-9)


@pytest.mark.parametrize("verdict", ["correct", "skipped", "wrong"])
def test_points_that_all_items_share_may_lie_elsewhere_too(verdict: str) -> None:
    """At a penalty of 0 and 1 the points are the traditional and the abstention score, and so are their intervals."""
    rows, way = [[verdict, verdict]] * 10, Intervals()
    table = Counter(tally(mark(Verdict(verdict), POINTS) for verdict in row) for row in rows)
    scores = estimates({name: FIGURES[name].aggregate(table) for name in ("trad_score", "idk_score")}, way)
    points = {entry["penalty"]: entry["points"] for entry in found_of(rows, way)["penalties"]}
    assert points[0.0] == scores["trad_score"] and points[1.0] == scores["idk_score"]
    assert points[9.0]["ci"][0] == pytest.approx(points[9.0]["value"] - (1 - 0.025**0.1) * (points[9.0]["value"] + 9))
    assert found_of(rows)["penalties"][0]["points"]["ci"] is None


def test_points_by_penalty_have_the_intervals_of_the_scores_if_some_questions_are_unanswerable() -> None:
    """Resamples are drawn for items with equal verdicts together, whichever of their questions are unanswerable."""
    generator = numpy.random.default_rng(5)
    rows = [
        [(str(verdict), bool(is_so)) for verdict, is_so in zip(row, flags, strict=True)]
        for row, flags in zip(
            generator.choice(["correct", "wrong"], (200, 3)), generator.random((200, 3)) < 0.5, strict=True
        )
    ]
    rows.sort()
    table = Counter(tally(mark(Verdict(verdict), POINTS) for verdict, _ in row) for row in rows)
    known = estimates({name: FIGURES[name].aggregate(table) for name in ("trad_score", "idk_score")}, Intervals())
    points = {entry["penalty"]: entry["points"] for entry in found_of_mixed(rows, Intervals())["penalties"]}
    assert points[0.0] == known["trad_score"] and points[1.0] == known["idk_score"]


def test_figures_have_the_intervals_of_the_scores_whatever_the_confidence_is() -> None:
    """Resamples are drawn for items with equal verdicts together, with whatever confidence each answer was given."""
    generator = numpy.random.default_rng(6)
    rows = []
    for verdicts in generator.choice(["correct", "wrong"], (200, 4)):
        counts = tally(mark(Verdict(verdict), POINTS) for verdict in verdicts)
        same = counts.wrong if generator.random() < 0.5 else 0  # wrong attempts with the same answer
        rows.append(Row(counts, agreed(counts, {"correct": counts.correct, "a": same}), Fraction(counts.correct)))
    items, table = equal_rows(rows), equal_rows(row.tally for row in rows)
    names = ("coverage", "accuracy_answered", "trad_score", "idk_score")
    known = estimates({name: FIGURES[name].aggregate(table) for name in names}, Intervals())
    found = selective(items, "agreement", known, Intervals())
    assert len({row.tally for row in items}) < len(items)
    assert found["idk_best"] == found["penalties"][0]["points"] == known["trad_score"]
    assert found["penalties"][2]["points"] == known["idk_score"]
