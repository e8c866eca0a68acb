"""Boundary search on simulated models, and what it believes against optimisers and dense grids."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable

import numpy as np
import pytest
from dia_runtime.psychometrics.boundary.belief import Belief, Forecast, Trials
from dia_runtime.psychometrics.boundary.search import ENOUGH, EXHAUSTED, SPENT, TOO_EASY, TOO_HARD, Plan, Search, search
from dia_runtime.psychometrics.boundary.space import Cell, Dimension, Skill, Space
from helpers.examples import examples
from helpers.places import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

PLAIN = Space((Dimension("length", 12, 4), Dimension("digits", 9, 3)))
SKILLED = Space(
    (Dimension("length", 8, 3),), tuple(Skill(f"s{at}", None if at > 5 else f"g{at // 2}") for at in range(8)), 1, 5
)


def rate(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def logit_of(space: Space, theta: float, step: float = 0.6) -> Callable[[Cell], float]:
    """A model to which each level and each skill above the middle is harder by a step."""

    def logit(cell: Cell) -> float:
        moved = sum(level - held.size / 2 for level, held in zip(cell.levels, space.dimensions, strict=True))
        return theta - step * (moved + len(cell.skills) - space.most / 2)

    return logit


def run(space: Space, logit: Callable[[Cell], float], plan: Plan) -> Search:
    generator = np.random.Generator(np.random.PCG64(plan.seed + 100))
    return search(space, lambda cell, trials: int(generator.binomial(trials, rate(logit(cell)))), plan)


# the space


@settings(max_examples=examples(25))
@given(st.sampled_from([PLAIN, SKILLED]), st.integers(0, 10_000), st.booleans())
def test_a_step_stays_in_the_space_and_goes_one_way(space: Space, seed: int, is_harder: bool) -> None:
    cell = space.draw(np.random.Generator(np.random.PCG64(seed)))
    assert space.contains(cell)
    for moved in space.steps(cell, is_harder):
        assert space.contains(moved) and moved != cell
        gained = sum(moved.levels) + len(moved.skills) - sum(cell.levels) - len(cell.skills)
        assert gained > 0 if is_harder else gained < 0
        apart = sum(a != b for a, b in zip(moved.levels, cell.levels, strict=True))
        assert apart + len(set(moved.skills) ^ set(cell.skills)) == 1


@settings(max_examples=examples(25))
@given(st.sampled_from([PLAIN, SKILLED]), st.integers(0, 10_000))
def test_halving_ends_between_its_two_cells(space: Space, seed: int) -> None:
    generator = np.random.Generator(np.random.PCG64(seed))
    one, other = space.draw(generator), space.draw(generator)
    for _ in range(12):
        middle = space.between(one, other)
        if middle is None:
            return
        assert space.contains(middle)
        for low, level, high in zip(one.levels, middle.levels, other.levels, strict=True):
            assert min(low, high) <= level <= max(low, high)
        assert set(middle.skills) <= set(one.skills) | set(other.skills)
        other = middle
    raise AssertionError("it does not end")


def test_the_ends_of_a_space_hold_what_may_stand_together() -> None:
    high, low = SKILLED.end(True), SKILLED.end(False)
    assert (high.levels, len(high.skills), low.levels, len(low.skills)) == ((7,), 5, (0,), 1)
    assert SKILLED.contains(high) and SKILLED.is_end(high, True) and not SKILLED.is_end(high, False)


# what is believed


def test_the_mode_is_that_of_an_optimiser() -> None:
    tried = [
        Trials(Cell((2, 3)), 5, 5),
        Trials(Cell((4, 3)), 3, 5),
        Trials(Cell((9, 6)), 0, 10),
        Trials(Cell((5, 3)), 4, 10),
    ]
    belief = Belief(PLAIN, tried)
    s, n = np.array([5.0, 3, 0, 4]), np.array([5.0, 5, 10, 10])
    inverse = np.linalg.inv(belief.kernel)

    def lost(f: np.ndarray) -> float:
        apart = f - belief.prior
        return float(0.5 * apart @ inverse @ apart - s @ f + n @ np.logaddexp(0, f))

    exact = minimize(lost, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    assert belief.at_tried_cells().mean == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize(("successes", "trials"), [(0, 3), (2, 3), (5, 10), (10, 10)])
def test_the_mass_at_the_boundary_is_near_that_of_a_dense_grid(successes: int, trials: int) -> None:
    belief = Belief(PLAIN, [Trials(Cell((4, 3)), successes, trials)])
    f = np.linspace(-25, 25, 20_001)
    variance = float(belief.kernel[0, 0])
    log = -0.5 * (f - belief.prior[0]) ** 2 / variance + successes * f - trials * np.logaddexp(0, f)
    density = np.exp(log - log.max())
    p = 1 / (1 + np.exp(-f))
    exact = density[(p >= 0.35) & (p <= 0.65)].sum() / density.sum()
    assert belief.at_tried_cells().within(0.35, 0.65)[0] == pytest.approx(exact, abs=0.06)


def test_what_was_tried_tells_of_its_neighbours() -> None:
    before, after = Belief(PLAIN, []), Belief(PLAIN, [Trials(Cell((6, 4)), 0, 10)])
    cells = [Cell((6, 5)), Cell((0, 0))]
    assert (after.at_new_cells(cells).mean < before.at_new_cells(cells).mean).all()
    assert after.at_new_cells(cells).sd[0] < before.at_new_cells(cells).sd[0]


# the search


def test_a_search_finds_the_boundary_within_its_budget() -> None:
    for space, theta in ((PLAIN, 1.5), (SKILLED, -1.0)):
        logit = logit_of(space, theta)
        found = run(space, logit, Plan(items=5, budget=400, seed=4))
        inside = sum(0.35 <= rate(logit(item.cell)) <= 0.65 for item in found.accepted)
        assert found.ending == ENOUGH and len(found.accepted) >= 5 and found.queries <= 400
        assert inside >= 4
        assert all(item.trials == 10 and item.mass >= 0.78 for item in found.accepted)


def test_a_search_follows_from_its_seed_and_the_replies() -> None:
    one, same, other = (run(PLAIN, logit_of(PLAIN, 0), Plan(2, 90, seed=seed)).items for seed in (1, 1, 2))
    assert one == same and one != other


def test_items_are_tried_in_stages_and_never_beyond_the_budget() -> None:
    held = Search(PLAIN, Plan(5, 100, seed=4))
    seen: dict[int, list[int]] = {}
    generator = np.random.Generator(np.random.PCG64(9))
    while asks := held.next_requests():
        for ask in asks:
            seen.setdefault(ask.item.number, []).append(ask.trials)
            held.record(
                ask.item, int(generator.binomial(ask.trials, rate(logit_of(PLAIN, 0)(ask.item.cell)))), ask.trials
            )
        assert held.queries <= 100
    assert all(trials == [3, 2, 5][: len(trials)] for trials in seen.values())
    assert held.ending in (ENOUGH, SPENT)


@pytest.mark.parametrize("space", [PLAIN, SKILLED])
@pytest.mark.parametrize(("share", "ending"), [(1.0, TOO_EASY), (0.0, TOO_HARD)])
def test_the_end_of_what_can_be_made_is_told(space: Space, share: float, ending: str) -> None:
    found = search(space, lambda cell, trials: int(share * trials), Plan(5, 600))
    assert (found.ending, found.accepted) == (ending, []) and found.queries < 300


def test_a_sharp_edge_has_no_boundary() -> None:
    space = Space((Dimension("digits", 10, 3),))
    found = search(space, lambda cell, trials: trials * (cell.levels[0] < 6), Plan(3, 400))
    assert (found.ending, found.accepted) == (EXHAUSTED, []) and {item.cell.levels[0] for item in found.items} >= {5, 6}


def test_what_cannot_be_made_is_not_asked_for_again() -> None:
    held = Search(SKILLED, Plan(2, 120, seed=2))
    generator = np.random.Generator(np.random.PCG64(5))
    refused: list[Cell] = []
    while asks := held.next_requests():
        for ask in asks:
            if not ask.item.trials and 0 in ask.item.cell.skills:
                assert not any(cell.levels == ask.item.cell.levels and set(cell.skills) <= set(ask.item.cell.skills)
                               for cell in refused[:-8])  # fmt: skip
                held.refuse(ask.item)
                refused.append(ask.item.cell)
            else:
                logit = logit_of(SKILLED, 0)(ask.item.cell)
                held.record(ask.item, int(generator.binomial(ask.trials, rate(logit))), ask.trials)
    assert refused and all(0 not in item.cell.skills for item in held.accepted)


def test_what_is_foretold_is_where_a_search_begins() -> None:
    logit = logit_of(SKILLED, 2)
    held = Search(SKILLED, Plan(5, 200, at_once=6), lambda cell: Forecast(logit(cell), 0.4, 0.4))
    first = held.next_requests()
    assert sum(abs(logit(ask.item.cell)) < 0.7 for ask in first) >= len(first) - 1


@pytest.mark.long
@pytest.mark.filterwarnings("error")
def test_the_study_prints_what_each_search_finds(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "docs" / "studies" / "boundary_search.py"
    study = runpy.run_path(str(path))
    study["searches"].__globals__.update(ABILITIES=(1.0,))  # one model in place of nine
    study["searches"](1, 3)
    lines = capsys.readouterr().out.splitlines()
    rows = {line[:28].strip(): line[28:].split() for line in lines[1:]}
    shares = {name: (float(row[1]), float(row[3])) for name, row in rows.items()}
    foretold, halved, drawn = (
        shares[name] for name in ("dia, predicted", "bisection alone, mass 0.5", "random items, mass 0.5")
    )
    assert foretold[0] > 0.7 and foretold[1] < halved[1] < drawn[1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("rates", "spreads", "expected"),
    [
        ([], [], ["0", "-", "-", "-"]),
        ([0.5], [], ["1", "1.000", "+-0.000", "12.0", "-"]),
        ([0.5, 0.6, 0.4, 0.1], [0.1, 0.2], ["4", "0.750", "+-0.217", "3.0", "0.150"]),
    ],
)
def test_the_study_prints_a_dash_for_what_no_item_shows(
    rates: list[float], spreads: list[float], expected: list[str]
) -> None:
    row = runpy.run_path(str(ROOT / "docs" / "studies" / "boundary_search.py"))["figures"](rates, 12, spreads)
    assert row.split() == expected and len(row) == 8 + 1 + 13 + 1 + 13 + 1 + 8


def test_what_foretells_nothing_of_a_parameter_does_not_mislead() -> None:
    logit = logit_of(PLAIN, 0.5, 1.0)

    def blind(cell: Cell) -> Forecast:
        return Forecast(4.0 - cell.levels[0] + 6.0, 0.4, 0.4)  # knows of the length alone, and is far too sure

    generator = np.random.Generator(np.random.PCG64(8))
    plan = Plan(3, 400, seed=2)
    found = search(PLAIN, lambda cell, trials: int(generator.binomial(trials, rate(logit(cell)))), plan, blind)
    assert found.ending == ENOUGH and sum(abs(logit(item.cell)) < 1.1 for item in found.accepted) >= 2
