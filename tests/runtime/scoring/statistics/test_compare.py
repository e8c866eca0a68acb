"""Comparisons of respondents, effects of variants and groups, against numpy, scipy and counts by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy
import pytest
from dia_runtime.grading.verdicts import Mark, Verdict, mark
from dia_runtime.scoring.figures import FIGURES, compared_figures
from dia_runtime.scoring.metrics import tally
from dia_runtime.scoring.statistics.compare import comparison, differences, rank_changes, ranks, skip_agreement
from dia_runtime.scoring.statistics.groups import Respondents
from dia_runtime.scoring.statistics.ledger import Ledger, Marks, aligned
from dia_runtime.scoring.statistics.paired import PairedFigures
from dia_runtime.scoring.statistics.power import REACH, power, spread
from dia_runtime.scoring.statistics.resample import Intervals, resampled_sums
from dia_runtime.scoring.statistics.significance import holm, two_sided
from dia_runtime.scoring.statistics.variants import variant_effects
from helpers.examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

POINTS = {"correct": Fraction(1), "skipped": Fraction(0), "wrong": Fraction(-2)}
WAY = Intervals("percentile", 500, 1)
PLAIN = Intervals("none")
VERDICTS = ("correct", "skipped", "wrong", "unparsed")
BOTH = st.lists(
    st.lists(st.tuples(st.sampled_from(VERDICTS), st.sampled_from(VERDICTS)), min_size=1, max_size=3),
    min_size=2, max_size=6,
)  # fmt: skip


def marks(rows: Sequence[Sequence[str]]) -> Marks:
    return {
        f"item {at}": dict(enumerate(mark(Verdict(verdict), POINTS) for verdict in row)) for at, row in enumerate(rows)
    }


def sides(rows: Sequence[Sequence[tuple[str, str]]]) -> tuple[Marks, Marks]:
    first, second = ([[pair[at] for pair in row] for row in rows] for at in (0, 1))
    return marks(first), marks(second)


def drawn(seed: int, items: int, models: int, k: int = 3) -> list[Marks]:
    generator = numpy.random.default_rng(seed)
    chances = generator.beta(2, 2, items)
    found = []
    for model in range(models):
        rows = [["correct" if generator.random() < chance ** (1 + model / 4) else VERDICTS[generator.integers(1, 4)]
                 for _ in range(k)] for chance in chances]  # fmt: skip
        found.append(marks(rows))
    return found


def value(held: Marks, name: str) -> float | None:
    exact = FIGURES[name].aggregate(Counter(tally(asked.values()) for asked in held.values())).value
    return None if exact is None else float(exact)


@settings(max_examples=examples(30), deadline=None)
@given(BOTH, st.sampled_from(compared_figures()))
def test_a_difference_is_that_of_the_figures_and_its_error_that_of_paired_items(
    rows: list[list[tuple[str, str]]], name: str
) -> None:
    first, second = sides(rows)
    (entry,) = differences(comparison(["a", "b"], [first, second], [name], PLAIN))
    values = [value(held, name) for held in (first, second)]
    assert entry["values"] == [pytest.approx(held) for held in values]
    if None in values:
        assert entry["difference"] == {"value": None, "se": None, "ci": None} and entry["p"] is None
        return
    assert entry["difference"]["value"] == pytest.approx(values[0] - values[1], abs=1e-12)  # type: ignore[operator]
    assert (entry["items"], entry["questions"]) == (len(rows), sum(map(len, rows)))
    # Each item's pull on a figure: its mean for a sum, and for a ratio (top - share * bottom) / all.
    pulls, evidence = numpy.zeros(len(rows)), len(rows)
    for held, sign in ((first, 1), (second, -1)):
        parts = [FIGURES[name].aggregate({tally(asked.values()): 1}).parts[0] for asked in held.values()]
        tops, sizes = (numpy.array([float(getattr(part, field)) for part in parts]) for field in ("low", "size"))
        is_sum = FIGURES[name].aggregate({}).is_sum
        evidence = evidence if is_sum else min(evidence, int(numpy.count_nonzero(sizes)))
        pulls += sign * (tops - tops.mean() if is_sum else (tops - tops.sum() / sizes.sum() * sizes) / sizes.sum())
    n = len(rows)
    if evidence < 2:  # one item says nothing of how items differ
        assert entry["difference"]["se"] is None
        return
    assert entry["difference"]["se"] == pytest.approx(math.sqrt(n / (n - 1) * (pulls**2).sum()), abs=1e-9)


def test_a_paired_difference_of_single_questions_is_the_paired_t_test_of_scipy() -> None:
    from scipy.stats import ttest_rel

    first, second = drawn(4, 60, 2, k=1)
    (entry,) = differences(comparison(["a", "b"], [first, second], ["idk_score"], WAY))
    worth = {"correct": 1, "skipped": 0}
    scores = [[worth.get(asked[0].verdict, -1) for asked in held.values()] for held in (first, second)]
    expected = ttest_rel(*scores)
    assert entry["p"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert entry["difference"]["value"] / entry["difference"]["se"] == pytest.approx(expected.statistic)


@settings(max_examples=examples(25), deadline=None)
@given(BOTH)
def test_both_respondents_are_resampled_alike(rows: list[list[tuple[str, str]]]) -> None:
    from scipy.stats import norm, t

    first, second = sides(rows)
    held, questions = aligned([first, second])
    side = PairedFigures(held, questions, ("trad_score",), WAY)
    tested = side.tested("trad_score", {0: Fraction(1), 1: Fraction(-1)})
    assume(tested["difference"]["value"])
    weights = resampled_sums(numpy.eye(len(held)), list(held.values()), WAY).tolist()
    found = []
    for times in weights:
        shares = [sum(row[at].correct * n for row, n in zip(held, times, strict=True))
                  / sum(row[at].k * n for row, n in zip(held, times, strict=True)) for at in (0, 1)]  # fmt: skip
        found.append(shares[0] - shares[1])
    signs = [(difference > 1e-12) - (difference < -1e-12) for difference in found]
    same = sum(sign == (1 if tested["difference"]["value"] > 0 else -1) for sign in signs)
    assert tested["order"] == pytest.approx((same + signs.count(0) / 2) / len(signs))
    if tested["difference"]["se"] > 1e-9:
        reach = t.ppf(0.975, len(rows) - 1) * math.sqrt(len(rows) / (len(rows) - 1))
        ends = numpy.quantile(found, norm.cdf([-reach, reach])).tolist()
        assert tested["difference"]["ci"] == pytest.approx(ends, abs=1e-9)


def test_only_questions_that_both_answered_are_compared() -> None:
    first, second = sides([[("correct", "wrong")] * 3, [("correct", "correct")], [("wrong", "correct")]])
    del second["item 0"][1]
    del first["item 2"]
    (entry,) = differences(comparison(["a", "b"], [first, second], ["trad_score"], PLAIN))
    assert (entry["items"], entry["questions"], entry["values"]) == (2, 3, [1.0, pytest.approx(1 / 3)])
    (none,) = differences(comparison(["a", "b"], [first, {}], ["rs"], WAY))
    assert (none["items"], none["values"], none["difference"]["value"], none["p"]) == (0, [None, None], None, None)
    assert rank_changes(comparison(["a", "b"], [first, {}], ["rs", "conf"], WAY), [{"rs": 1, "conf": 1}] * 2)


def test_errors_leave_a_difference_open() -> None:
    first, second = sides([[("error", "wrong")], [("correct", "wrong")]])
    (entry,) = differences(comparison(["a", "b"], [first, second], ["trad_score"], WAY))
    assert entry["difference"] == {"value": None, "se": None, "ci": None, "bounds": [0.5, 1.0]}
    assert (entry["p"], entry["p_holm"], entry["order"], entry["values"]) == (None, None, None, [None, 0.0])


def test_p_where_all_items_differ_alike_is_that_of_signs() -> None:
    first, second = marks([["correct"]] * 4), marks([["wrong"]] * 4)
    (entry,) = differences(comparison(["a", "b"], [first, second], ["trad_score"], WAY))
    assert entry["p"] == 0.125 and entry["order"] == 1.0
    assert entry["difference"]["ci"] == [pytest.approx(2 * 0.025 ** (1 / 4) - 1), 1.0]
    (same,) = differences(comparison(["a", "b"], [first, first], ["trad_score"], WAY))
    thirds = [marks([[verdict, "skipped", "skipped"]] * 7) for verdict in ("correct", "wrong")]
    (plain,) = differences(comparison(["a", "b"], thirds, ["rs"], PLAIN))
    assert plain["difference"] == {"value": 7.0, "se": 0.0, "ci": None} and plain["p"] == 2.0**-6
    reach = 1 - 0.025 ** (1 / 4)
    assert same["p"] == 1.0 and same["order"] is None
    assert same["difference"]["ci"] == [pytest.approx(-reach), pytest.approx(reach)]


@settings(max_examples=examples(30), deadline=None)  # scipy is imported in the first example
@given(st.floats(-5, 5), st.floats(0.01, 5), st.integers(2, 500))
def test_p_is_that_of_the_t_distribution_of_scipy(difference: float, error: float, items: int) -> None:
    from scipy.stats import t

    expected = 2 * t.sf(abs(difference / error), items - 1)
    assert two_sided(difference, error, items) == pytest.approx(expected, rel=1e-6, abs=1e-14)
    assert two_sided(difference, None, items) is None


def test_holm_as_published() -> None:
    # Holm's procedure on 0.01, 0.04, 0.03, 0.005 rejects the fourth and the first at 5 % (the usual example).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@settings(max_examples=examples(30))
@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_holm_is_the_closed_test_of_bonferroni(chances: list[float]) -> None:
    # A hypothesis is rejected when every set that holds it is (Marcus, Peritz and Gabriel 1976).
    places = range(len(chances))
    sets = [held for size in range(1, len(chances) + 1) for held in combinations(places, size)]
    for at, found in enumerate(holm(chances)):
        largest = max(min(1.0, len(held) * min(chances[one] for one in held)) for held in sets if at in held)
        assert found == pytest.approx(largest)


def test_reversed_orders_are_found_with_their_chances() -> None:
    # The first answers all and is right more often; the second skips instead of being wrong.
    rows = [[("correct", "correct")]] * 20 + [[("correct", "skipped")]] * 6 + [[("wrong", "skipped")]] * 14
    held = comparison(["bold", "shy"], list(sides(rows)), ["trad_score", "idk_score"], Intervals())
    values = [{name: value(entry, name) for name in held.figures} for entry in held.marks]
    (found,) = rank_changes(held, values)
    assert [row["ranks"] for row in found["ranks"]] == [[1, 2], [2, 1]]
    (change,) = found["changes"]
    assert (change["models"], change["at"]) == (["bold", "shy"], [0, 1])
    # In so many resamples of 40 none of the 6 occurs, which is a tie and counts half.
    assert change["order"][0] == pytest.approx(1 - (34 / 40) ** 40 / 2, abs=0.005)
    assert min(change["order"]) - 0.05 < change["both"] <= min(change["order"])
    both_figures = {entry["figure"]: entry["order"] for entry in differences(held)}
    assert change["order"] == pytest.approx([both_figures[name] for name in held.figures])
    swapped = comparison(["shy", "bold"], list(sides(rows))[::-1], held.figures, Intervals())
    (change,) = rank_changes(swapped, values[::-1])[0]["changes"]
    assert (change["models"], change["at"]) == (["bold", "shy"], [1, 0])
    assert ranks([1.0, None, 1.0, 2.0]) == [2, None, 2, 1]


@settings(max_examples=examples(30), deadline=None)
@given(BOTH)
def test_phi_is_the_correlation_of_numpy(rows: list[list[tuple[str, str]]]) -> None:
    held = comparison(["a", "b"], list(sides(rows)), ["rs"], WAY)
    (found,) = skip_agreement(held, WAY)
    columns = numpy.array([[verdict == "skipped" for verdict in pair] for row in rows for pair in row], dtype=float).T
    counts = Counter(map(tuple, columns.T.astype(bool).tolist()))
    assert [found[key] for key in ("both", "first", "second", "neither")] == [
        counts[True, True], counts[True, False], counts[False, True], counts[False, False]]  # fmt: skip
    if columns.std(axis=1).all():
        assert found["phi"]["value"] == pytest.approx(numpy.corrcoef(columns)[0, 1])
    else:
        assert found["phi"] == {"value": None, "se": None, "ci": None}


def test_the_interval_of_phi_holds_the_value_and_resamples_items() -> None:
    first, second = drawn(7, 80, 2)
    (found,) = skip_agreement(comparison(["a", "b"], [first, second], ["rs"], Intervals()), Intervals())
    low, high = found["phi"]["ci"]
    assert low < found["phi"]["value"] < high and high - low == pytest.approx(3.92 * found["phi"]["se"], rel=0.25)


def test_a_variant_is_paired_with_the_same_instances() -> None:
    ledger = Ledger()
    said: list[tuple[str | None, str, int, str]] = [
        (None, "a", 0, "correct"), (None, "a", 1, "wrong"), (None, "b", 0, "correct"), (None, "c", 0, "skipped"),
        ("aside", "a", 0, "wrong"), ("aside", "b", 0, "wrong"), ("aside", "c", 0, "skipped"), ("none", "d", 0, "wrong"),
    ]  # fmt: skip
    for variant, item, instance, verdict in said:
        ledger.add(variant, item, instance, mark(Verdict(verdict), POINTS))
    found = variant_effects(ledger, WAY)
    assert list(found) == ["aside", "none"] and found["none"] == {"items": 0, "questions": 0, "figures": {}}
    aside = found["aside"]
    assert (aside["items"], aside["questions"]) == (3, 3)
    trad = aside["figures"]["trad_score"]
    assert (trad["base"], trad["variant"], trad["difference"]["value"]) == (
        pytest.approx(2 / 3), 0.0, pytest.approx(-2 / 3))  # fmt: skip
    assert trad["difference"]["se"] == pytest.approx(numpy.std([-1, -1, 0], ddof=1) / math.sqrt(3))
    assert set(aside["figures"]) == set(compared_figures())


def test_groups_are_means_of_their_respondents_over_the_same_questions() -> None:
    held = drawn(9, 40, 3)
    del held[2]["item 0"]
    respondents = Respondents(["a", "b", "c"], held, ["trad_score", "rs"], Intervals("percentile", 800, 2))
    found = respondents.by(["x", "y", "x"])
    assert [(group["value"], group["models"], group["at"]) for group in found["groups"]] == [
        ("x", ["a", "c"], [0, 2]), ("y", ["b"], [1])]  # fmt: skip
    for model in held[:2]:
        model.pop("item 0")
    trad = [value(model, "trad_score") for model in held]
    shares = [group["figures"]["trad_score"]["value"] for group in found["groups"]]
    assert shares == [pytest.approx((trad[0] + trad[2]) / 2), pytest.approx(trad[1])]  # type: ignore[operator]
    entry = next(entry for entry in found["differences"] if entry["figure"] == "trad_score")
    per_item = numpy.array([[sum(m.verdict == "correct" for m in model[item].values()) / 3 for item in held[0]]
                            for model in held])  # fmt: skip
    deviations = (per_item[0] + per_item[2]) / 2 - per_item[1]
    assert (entry["groups"], entry["p"] == entry["p_holm"]) == (["x", "y"], True)
    assert entry["difference"]["value"] == pytest.approx(deviations.mean())
    assert entry["difference"]["se"] == pytest.approx(deviations.std(ddof=1) / math.sqrt(len(deviations)))
    low, high = entry["difference"]["ci"]
    assert low < deviations.mean() < high
    alone = respondents.by([None, None, None])
    assert alone["groups"][0]["value"] == "none" and alone["differences"] == []


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=2, max_size=8))
def test_components_of_variance_are_those_of_the_table_of_variances(groups: list[list[int]]) -> None:
    held = numpy.array(groups, dtype=float)
    inner, outer = held.var(axis=1, ddof=1).mean(), held.mean(axis=1).var(ddof=1)
    found = spread(groups)
    assert found.within == pytest.approx(inner) and found.k == 3
    assert found.between == pytest.approx(max(0.0, outer - inner / 3))
    assert found.error == pytest.approx(math.sqrt(outer / len(groups)))


def test_sizes_are_those_of_the_books() -> None:
    # Two samples that differ by half a standard deviation: 63 each for 80 % (Cohen 1988; 64 by the t distribution).
    assert pytest.approx(2.8016, abs=1e-4) == REACH
    values = [[1.0], [-1.0]] * 50
    deviation = math.sqrt(100 / 99)
    facts = spread(values).detectable("trad_score", 2, 0.5 * deviation)
    assert (facts["needed_items"], facts["needed_k"], facts["within"]) == (63, None, None)
    assert facts["detectable"] == pytest.approx(REACH * deviation * math.sqrt(2 / 100))


def test_sizes_follow_from_the_components() -> None:
    found = power(["a", "b"], drawn(11, 60, 2), 0.08)
    assert (found["alpha"], found["power"], found["difference"]) == (0.05, 0.8, 0.08)
    assert [(entry["model"], entry["figure"]) for entry in found["models"]] == [
        ("a", "trad_score"), ("a", "idk_score"), ("b", "trad_score"), ("b", "idk_score")]  # fmt: skip
    for entry in (*found["models"], *found["pairs"]):
        groups = 1 if "models" in entry else 2
        own = entry["between"] + entry["within"] / entry["k"]
        assert own == pytest.approx(entry["items"] * entry["se"] ** 2)  # with equal k nothing is lost
        assert entry["needed_items"] == math.ceil(groups * own * (REACH / 0.08) ** 2 - 1e-9)
        spare = entry["items"] * (0.08 / REACH) ** 2 / groups - entry["between"]
        assert entry["needed_k"] == (math.ceil(entry["within"] / spare) if spare > 0 else None)
    again = power(["a", "b"], drawn(11, 60, 2), None)["pairs"][0]
    assert (again["needed_items"], again["needed_k"]) == (None, None)


def test_sizes_from_a_pilot_have_intervals_that_hold_the_true_size() -> None:
    generator = numpy.random.default_rng(4)
    many, hits, sets = 400_000, 0, 300
    scores = generator.binomial(3, generator.beta(2, 2, many)) / 3
    true = REACH * scores.std() * math.sqrt(2 / 40)  # of 40 items
    for _ in range(sets):
        pilot = spread([[score] for score in generator.choice(scores, 40)]).detectable("trad_score", 2, 0.1)
        (low, high), (few, more) = pilot["detectable_ci"], pilot["needed_items_ci"]
        assert low < pilot["detectable"] < high and few < pilot["needed_items"] < more
        assert pilot["needed_items"] / more == pytest.approx((pilot["detectable"] / high) ** 2, rel=0.02)
        hits += low <= true <= high
    assert 0.92 <= hits / sets <= 0.98
    four = spread([[0.0], [1.0], [0.0], [1.0]]).detectable("trad_score", 2, 0.1)
    assert four["detectable"] > 0 and four["detectable_ci"] is None and four["needed_items_ci"] is None


def test_an_item_alone_tells_nothing_of_sizes() -> None:
    one: Marks = {"item": {0: mark(Verdict.CORRECT, POINTS)}}
    (entry, _) = power(["a"], [one], 0.1)["models"]
    assert (entry["se"], entry["detectable"], entry["needed_items"], entry["items"]) == (None, None, None, 1)
    broken: dict[Any, dict[int, Mark]] = {"item": {0: mark(Verdict.ERROR, POINTS)}}
    assert power(["a"], [broken], 0.1)["models"][0]["items"] == 0


def test_phi_has_no_interval_where_a_count_is_zero_as_no_resample_knows_of_it() -> None:
    # Skips that know nothing of each other, few enough that none is shared: all resamples are below 0.
    rows = [[("skipped", "correct")]] * 12 + [[("correct", "skipped")]] * 8 + [[("correct", "correct")]] * 178
    (found,) = skip_agreement(comparison(["a", "b"], list(sides(rows)), ["rs"], WAY), WAY)
    assert found["both"] == 0 and found["phi"]["value"] == pytest.approx(-0.0521, abs=1e-4)
    assert (found["phi"]["se"], found["phi"]["ci"]) == (None, None)
    (found,) = skip_agreement(comparison(["a", "b"], list(sides([*rows, [("skipped", "skipped")]])), ["rs"], WAY), WAY)
    low, high = found["phi"]["ci"]
    assert low < 0 < high


def test_values_without_spread_promise_no_size() -> None:
    alike = marks([["correct", "correct"]] * 10)
    found = power(["a", "b"], [alike, alike], 0.1)
    for entry in (*found["models"], *found["pairs"]):
        assert (entry["detectable"], entry["needed_items"], entry["needed_k"]) == (None, None, None)
        assert (entry["items"], entry["se"]) == (10, 0.0)


@pytest.mark.parametrize("answers", [1, 2])
def test_items_that_one_of_two_skipped_are_no_evidence(answers: int) -> None:
    rows = [[("correct", "wrong")]] * answers + [[("skipped", "wrong")]] * 9
    (found,) = differences(comparison(["a", "b"], list(sides(rows)), ["accuracy_answered"], Intervals()))
    assert found["difference"]["value"] == 1.0
    if answers == 1:
        assert (found["difference"]["se"], found["difference"]["ci"], found["p"]) == (None, None, None)
    else:  # 2 of 2^2 ways, and what may lie unseen in two items
        unseen = 1 - 0.025**0.5
        assert found["p"] == 0.5 and found["difference"]["ci"] == pytest.approx([1 - 2 * unseen, 1])
