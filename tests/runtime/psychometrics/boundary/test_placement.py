"""Abilities against dense grids and optimisers, and placements against what must hold of them."""

from __future__ import annotations

import numpy as np
import pytest
from dia_runtime.psychometrics.boundary.ability import (
    Ability,
    Prior,
    ability,
    information,
    success_probabilities,
    uncertain_slopes,
)
from dia_runtime.psychometrics.boundary.placement import BankUncertainty, EstimationMethod, Placement, StoppingRule
from dia_runtime.psychometrics.boundary.selection import Selection, SelectionRule
from helpers.examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm

Array = NDArray[np.float64]
NOTHING = np.empty(0)
PRIOR, GOAL = Prior(), StoppingRule()
REPLIES = st.lists(
    st.tuples(st.floats(-4, 4), st.integers(0, 5), st.integers(1, 5)).filter(lambda reply: reply[1] <= reply[2]),
    min_size=1,
    max_size=40,
)


def columns(replies: list[tuple[float, int, int]]) -> tuple[Array, Array, Array]:
    b, s, n = (np.array(column, dtype=float) for column in zip(*replies, strict=True))
    return b, s, n


def by_grid(b: Array, s: Array, n: Array, prior: Prior = PRIOR, points: int = 5_001) -> Ability:
    """Mean and deviation of the posterior on a dense grid, by the plain formulas."""
    theta = np.linspace(-14, 14, points)
    p = 1 / (1 + np.exp(b[None, :] - theta[:, None]))
    log = (s * np.log(p) + (n - s) * np.log1p(-p)).sum(axis=1) - 0.5 * ((theta - prior.mean) / prior.sd) ** 2
    density = np.exp(log - log.max())
    density /= density.sum()
    mean = float(density @ theta)
    return Ability(mean, float(np.sqrt(density @ (theta - mean) ** 2)))


@settings(max_examples=examples(30))
@given(REPLIES)
def test_the_mean_of_the_posterior_is_that_of_a_dense_grid(replies: list[tuple[float, int, int]]) -> None:
    held = columns(replies)
    found, exact = ability(*held), by_grid(*held)
    assert found.value == pytest.approx(exact.value, abs=2e-2) and found.se == pytest.approx(exact.se, abs=2e-2)


@pytest.mark.parametrize(("items", "worst"), [(5, 1e-3), (45, 1e-6), (150, 1e-8)])
def test_adaptive_nodes_are_as_near_as_they_are_said_to_be(items: int, worst: float) -> None:
    generator = np.random.default_rng(5)
    errors = []
    for _ in range(40):
        theta, b = generator.normal(), generator.normal(0, 1.5, items)
        if items == 5:  # the items that a placement would choose
            b = theta + generator.normal(0, 0.7, items)
        s = (generator.random(items) < success_probabilities(theta, b)).astype(float)
        if 0 < s.sum() < items:
            errors.append(abs(ability(b, s, np.ones(items)).value - by_grid(b, s, np.ones(items)).value))
    assert len(errors) >= 20 and max(errors) < worst


def test_items_far_from_the_prior_do_not_keep_the_mode_from_being_found() -> None:
    """Where plain Newton steps from the prior's mean leap to and fro: most items lie where the model is."""
    b = np.concatenate([np.linspace(0, 1.5, 5), np.linspace(2.0, 3.0, 40)])
    s = np.concatenate([np.ones(5), np.tile([1.0, 0.0], 20)])
    found, exact = ability(b, s, np.ones(45)), by_grid(b, s, np.ones(45), points=20_001)
    assert found.value == pytest.approx(exact.value, abs=1e-7) and found.se == pytest.approx(exact.se, abs=1e-6)


def test_fixed_nodes_are_what_was_published_and_miss_the_posterior() -> None:
    generator = np.random.default_rng(11)
    b = generator.normal(0, 1.5, 100)
    s = (generator.random(100) < success_probabilities(0.9, b)).astype(float)
    fixed, exact = ability(b, s, np.ones(100), quadrature="fixed"), by_grid(b, s, np.ones(100))
    nodes = 3 * np.polynomial.hermite_e.hermegauss(21)[0]
    assert min(abs(nodes - fixed.value)) < 0.3 < abs(fixed.value - exact.value) + 0.31
    assert fixed.se < 0.5 * exact.se or abs(fixed.value - exact.value) > exact.se


@settings(max_examples=examples(30))
@example([(3.375, 1, 1), (3.375, 1, 1)])
@given(REPLIES)
def test_the_mode_and_the_weighted_estimate_are_zeros_of_their_slopes(replies: list[tuple[float, int, int]]) -> None:
    b, s, n = columns(replies)
    mode = ability(b, s, n, method="map").value
    assert float(s.sum() - n @ success_probabilities(mode, b)) - mode / 9 == pytest.approx(0, abs=1e-9)
    warm = ability(b, s, n, method="wle").value
    p = success_probabilities(warm, b)
    each = n * p * (1 - p)
    assert float(s.sum() - n @ p) + float((each * (1 - 2 * p)).sum() / (2 * each.sum())) == pytest.approx(0, abs=1e-6)


def test_nothing_said_leaves_the_prior() -> None:
    found = ability(NOTHING, NOTHING, NOTHING, Prior(0.5, 2.0))
    assert found.value == pytest.approx(0.5) and found.se == pytest.approx(2.0)
    assert ability(NOTHING, NOTHING, NOTHING, method="wle").se == float("inf")


def test_the_most_informative_item_is_the_nearest_one() -> None:
    b = np.array([-2.0, -0.4, 0.3, 1.0])
    chosen = Selection(b, SelectionRule())
    assert [chosen.take(0.0) for _ in range(5)] == [2, 1, 3, 0, None]
    assert information(0.3, b)[2] == pytest.approx(0.25)


def test_randomesque_draws_among_the_best_and_repeats_by_its_seed() -> None:
    b = np.linspace(-3, 3, 200)

    def drawn(seed: int) -> list[int | None]:
        selection = Selection(b, SelectionRule("randomesque", 5, seed))
        return [selection.take(0.0) for _ in range(40)]

    assert drawn(1) == drawn(1) != drawn(2)
    nearest = set(np.argsort(abs(b))[:44])
    assert set(drawn(1)) <= nearest


@pytest.mark.parametrize("name", ["randomesque", "random"])
def test_what_is_resumed_draws_as_if_it_had_not_been_interrupted(name: str) -> None:
    b = np.linspace(-3, 3, 200)
    whole, resumed = (Selection(b, SelectionRule(name, 5, 3)) for _ in range(2))
    asked = [whole.take(0.1 * n) for n in range(40)]
    for item in asked[:25]:
        assert item is not None
        resumed.use(item)
    assert [resumed.take(0.1 * n) for n in range(25, 40)] == asked[25:]


def test_categories_are_asked_alike() -> None:
    b, categories = np.zeros(30), ["a"] * 20 + ["b"] * 10
    selection = Selection(b, SelectionRule(balance=True), categories)
    taken = [categories[item] for item in (selection.take(0.0) for _ in range(16)) if item is not None]
    assert taken.count("a") == taken.count("b") == 8


def placed(theta: float, b: Array, seed: int, goal: StoppingRule = GOAL, at_once: int = 1) -> Placement:
    """A placement of a simulated model, of whom so many items are under way at once."""
    generator = np.random.default_rng(seed)
    placement, waiting = Placement(b, goal), list[int]()
    while True:
        while len(waiting) < at_once and (item := placement.next()) is not None:
            waiting.append(item)
        if not waiting:
            return placement
        item = waiting.pop(0)
        placement.add(
            item,
            float(generator.binomial(goal.trials, success_probabilities(theta, b[item : item + 1])[0])),
            goal.trials,
        )


def test_a_placement_ends_at_the_error_the_budget_or_the_end_of_the_bank() -> None:
    b = np.random.default_rng(1).normal(0, 1.5, 300)
    one = placed(0.4, b, 1)
    assert one.ending == "se" and one.estimate.se <= 0.3 and 40 <= len(one.answered) <= 60 and not one.is_outside
    assert len(set(one.answered)) == len(one.answered)
    spent = placed(0.4, b, 1, StoppingRule(0.3, budget=7))
    assert (spent.ending, len(spent.answered), spent.under_way) == ("budget", 7, 0)
    empty = placed(0.4, b[:10], 1)
    assert (empty.ending, len(empty.answered), empty.is_outside) == ("exhausted", 10, True)


def test_a_model_beyond_the_bank_is_said_to_be_outside() -> None:
    b = np.random.default_rng(1).normal(0, 1.0, 300)
    assert placed(9.0, b, 2).is_outside and placed(-9.0, b, 2).is_outside


def test_several_under_way_do_not_spoil_the_estimate() -> None:
    b = np.random.default_rng(3).normal(0, 1.5, 500)
    many = placed(0.7, b, 4, at_once=8)
    held = np.array(many.answered)
    assert many.ending == "se" and many.under_way == 0
    assert abs(many.estimate.value - 0.7) < 3 * many.estimate.se
    spent = placed(0.7, b, 4, StoppingRule(0.01, budget=20), at_once=8)
    assert len(spent.answered) == 20 and len(set(held)) == len(held)


def test_several_trials_an_item_need_fewer_items() -> None:
    b = np.random.default_rng(3).normal(0, 1.5, 500)
    assert len(placed(0.2, b, 4, StoppingRule(0.3, trials=5)).answered) <= 12


def test_replies_that_were_there_before_count_and_are_not_asked_again() -> None:
    b = np.random.default_rng(3).normal(0, 1.5, 50)
    placement = Placement(b)
    placement.add(7, 1, 1)
    taken = {placement.next() for _ in range(49)}
    assert 7 not in taken and None not in taken and placement.next() is None


def test_methods_and_rules_that_there_are_not_are_refused() -> None:
    with pytest.raises(ValueError, match="no method"):
        Placement([0.0], method=EstimationMethod("mle"))
    with pytest.raises(ValueError, match="no rule"):
        Placement([0.0], rule=SelectionRule("best"))
    with pytest.raises(ValueError, match="without items"):
        Placement([])


def test_an_uncertain_difficulty_flattens_the_curve_as_the_integral_has_it() -> None:
    for se in (0.3, 0.75, 1.2):
        (slope,) = uncertain_slopes(np.array([se]))
        for theta in (-2.0, -0.5, 1.0):
            exact, _ = quad(lambda b, at=theta, sd=se: norm.pdf(b, 0, sd) / (1 + np.exp(b - at)), -10, 10)
            assert 1 / (1 + np.exp(-slope * theta)) == pytest.approx(exact, abs=0.01)


def test_items_of_one_family_count_for_less_and_others_come_first() -> None:
    difficulties, families = np.linspace(-0.1, 0.1, 40), [str(at // 10) for at in range(40)]
    known = Placement(difficulties, StoppingRule(0.01, budget=20))
    spread = Placement(
        difficulties, StoppingRule(0.01, budget=20), uncertainty=BankUncertainty(np.zeros(40), families, 1.0)
    )
    asked = []
    while (item := spread.next()) is not None:
        asked.append(families[item])
        for placement in (known, spread):
            placement.add(item, float(len(asked) % 2), 1.0)
    assert all(sorted(asked[at : at + 4]) == ["0", "1", "2", "3"] for at in range(0, 20, 4))
    assert known.estimate.value == spread.estimate.value
    # Five replies with p = 1/2 in each of four families: I = 5, J = 5 + 4 * 5 * 4 / 16 = 10 without the prior.
    precision, extra = known.estimate.se**-2, 5.0
    assert spread.estimate.se**2 == pytest.approx((precision + extra) / precision**2, rel=0.02)
