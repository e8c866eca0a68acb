"""Boundary search on simulated models: what it finds, at what price, beside two simpler searches and a fixed set.

A template is simulated: three parameters of 8 to 23 levels whose difficulty grows unevenly, and twelve skills of six
groups, each with a difficulty of its own. Every item deviates from what its parameters and skills say by 0.4 logits
(standard deviation). Models of abilities from -4 to 4 pass an item by the Rasch model. Predicted difficulties are those
that `dia explain` predicts after nine models have answered 300 other items of the template, once each.

    python docs/studies/boundary_search.py            # all of it, with a fixed seed
    python docs/studies/boundary_search.py --repeats 2
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from dia_language.numbers.values import encode
from dia_runtime.psychometrics.boundary.ability import ability
from dia_runtime.psychometrics.boundary.belief import Forecast, Predictor
from dia_runtime.psychometrics.boundary.search import ACCEPT_PREDICTED, HIGH, LOW, Plan, Search
from dia_runtime.psychometrics.boundary.space import Cell, Dimension, Skill, Space
from dia_runtime.psychometrics.explain import Explanation, explain
from dia_runtime.psychometrics.panel import ItemFacts, Panel
from dia_runtime.psychometrics.rasch.bank import Bank, BankItem, BankModel
from scipy.special import betainc
from scipy.stats import kendalltau

ABILITIES = (-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0)
BANK_ABILITIES = ABILITIES  # of the models that answered the bank's items
PANEL = tuple(at / 4 for at in range(-16, 17))  # closer together, so that their order is not plain to see
OWN = 0.4  # standard deviation of what is an item's own, in logits
BANKED = 300  # items of the template that nine models answered once each
SKILLS, DIMENSIONS = 12, 3
STAGES, NEAR, HOPELESS, HALF = (3, 5, 10), 0.2, 0.05, 0.5
SHARP = 0.7  # hardly more can be said by ten trials alone


class World:
    """A simulated template: its space, and how hard its cells and items are."""

    def __init__(self, seed: int, stream: int = 7) -> None:
        self.seed = seed
        draw = np.random.Generator(np.random.PCG64([seed, 7]))
        sizes = [int(draw.integers(8, 24)) for _ in range(DIMENSIONS)]
        dimensions = tuple(Dimension(f"parameter {at}", size, size // 3) for at, size in enumerate(sizes))
        skills = tuple(Skill(f"skill {at}", f"group {at // 2}") for at in range(SKILLS))
        self.space = Space(dimensions, skills, 1, 6)
        self.slopes, self.bends = draw.uniform(1.0, 4.0, DIMENSIONS), draw.uniform(0.6, 1.6, DIMENSIONS)
        self.weights = draw.normal(0.7, 0.4, SKILLS)
        self.generator = draw if stream == 7 else np.random.Generator(np.random.PCG64([seed, stream]))

    def difficulty(self, cell: Cell) -> float:
        """What parameters and skills say, in logits."""
        parts = zip(self.slopes, self.bends, cell.levels, self.space.dimensions, strict=True)
        moved = sum(slope * (2 * (level / (held.size - 1)) ** bend - 1) for slope, bend, level, held in parts)
        return float(moved + sum(self.weights[at] for at in cell.skills) - 2)

    def item(self, cell: Cell) -> float:
        """The difficulty of a new item of a cell."""
        return self.difficulty(cell) + float(self.generator.normal(0, OWN))

    def guide(self, theta: float) -> Predictor:
        """What a bank predicts, in which nine models answered other items of this template.

        Items that the search tries are new, and so are most of their cells.
        """
        explanation = explained(self.seed)
        known: dict[Cell, Forecast] = {}

        def forecast(cell: Cell) -> Forecast:
            if cell not in known:
                difficulty, se, error = explanation.predict_parts(parameters(cell), skills(self.space, cell), "t")
                known[cell] = Forecast(theta - difficulty, se, error)
            return known[cell]

        return forecast


def parameters(cell: Cell) -> dict[str, int]:
    """The drawn values of an item of a cell."""
    return {f"n{at}": level for at, level in enumerate(cell.levels)}


def skills(space: Space, cell: Cell) -> tuple[str, ...]:
    """The skills of an item of a cell."""
    return tuple(space.skills[at].name for at in cell.skills)


@cache
def explained(seed: int) -> Explanation:
    """The explanation of the replies of nine models to items of a world's template, each asked once."""
    world = World(seed, stream=8)
    cells = [world.space.draw(world.generator) for _ in range(BANKED)]
    difficulties = np.array([world.item(cell) for cell in cells])
    chances = 1 / (1 + np.exp(difficulties - np.array(BANK_ABILITIES)[:, None]))
    replies = (world.generator.random(chances.shape) < chances).astype(float)
    names, models = tuple(f"t/{at}" for at in range(BANKED)), tuple(f"m{at}" for at in range(len(BANK_ABILITIES)))
    about = tuple(
        ItemFacts(
            "t", None, skills(world.space, cell), (json.dumps({n: encode(v) for n, v in parameters(cell).items()}),)
        )
        for cell in cells
    )
    panel = Panel(models, names, replies, np.ones((len(models), 1)), "instances", about)
    placed = tuple(BankModel(name, ability) for name, ability in zip(models, BANK_ABILITIES, strict=True))
    return explain(panel, Bank(tuple(BankItem(name, 0.0) for name in names), placed, "known", "none"))


@dataclass(slots=True)
class Found:
    """What a search found: accepted items by their difficulties, queries, and all difficulties that were tried."""

    accepted: list[float]
    queries: int
    ending: str = ""


Cells = Generator[Cell, bool, None]  # cells to try; told whether the last one was passed


def rate(theta: float, difficulty: float) -> float:
    """How often a model passes."""
    return 1 / (1 + math.exp(difficulty - theta))


def guided(world: World, theta: float, plan: Plan, is_guided: bool) -> Found:
    """The search of dia, with or without predicted difficulties."""
    held = Search(world.space, plan, world.guide(theta) if is_guided else None)
    items: dict[int, float] = {}
    while asks := held.next_requests():
        for ask in asks:
            if ask.item.number not in items:
                items[ask.item.number] = world.item(ask.item.cell)
            b = items[ask.item.number]
            held.record(ask.item, int(world.generator.binomial(ask.trials, rate(theta, b))), ask.trials)
    return Found([items[item.number] for item in held.accepted], held.queries, held.ending or "")


def beta_within(s: int, n: int, low: float, high: float) -> float:
    """The posterior of a success rate between two values, from a uniform prior."""
    return float(betainc(1 + s, 1 + n - s, high) - betainc(1 + s, 1 + n - s, low))


def staged(world: World, theta: float, b: float, left: int, accept: float) -> tuple[int, int, bool]:
    """Successes, trials and acceptance of an item that is tried in stages by itself."""
    s = n = 0
    for stage in STAGES:
        more = min(stage - n, left - n)
        s, n = s + int(world.generator.binomial(more, rate(theta, b))), n + more
        if n < stage or beta_within(s, n, 0.5 - NEAR, 0.5 + NEAR) < HOPELESS:
            return s, n, False
    return s, n, beta_within(s, n, LOW, HIGH) >= accept


def simple(world: World, theta: float, plan: Plan, cells: Callable[[], Cells], accept: float) -> Found:
    """A search that takes cells as they come, and is told nothing; bisection sends its answer back."""
    found = Found([], 0)
    while len(found.accepted) < plan.items and plan.budget - found.queries >= STAGES[0]:
        source = cells()
        cell: Cell | None = next(source)
        while cell is not None and len(found.accepted) < plan.items and plan.budget - found.queries >= STAGES[0]:
            b = world.item(cell)
            s, n, is_accepted = staged(world, theta, b, plan.budget - found.queries, accept)
            found.queries += n
            found.accepted += [b] if is_accepted else []
            try:
                cell = None if is_accepted else source.send(s / n > 0.5)
            except StopIteration:
                cell = None
    return found


def at_random(world: World) -> Callable[[], Cells]:
    """A cell of the space, each as likely as another."""

    def cells() -> Cells:
        while True:
            yield world.space.draw(world.generator)

    return cells


def by_halves(world: World) -> Callable[[], Cells]:
    """Bisection between the easiest and the hardest cell, by way of a random one; the item that fails is halved on."""

    def cells() -> Cells:
        space = world.space
        weights = world.generator.random(SKILLS).tolist()
        low, high = space.end(False, weights), space.end(True, weights)
        cell: Cell | None = space.draw(world.generator)
        while cell is not None:
            is_passed = yield cell
            low, high = (cell, high) if is_passed else (low, cell)
            cell = space.between(low, high)

    return cells


def searches(repeats: int, seed: int) -> None:
    """Prints what the searches find, and at what price."""
    ways: dict[str, Callable[[World, float, Plan], Found]] = {
        "dia, predicted": lambda world, theta, plan: guided(world, theta, replace(plan, accept=ACCEPT_PREDICTED), True),
        "dia, predicted, mass 0.78": lambda world, theta, plan: guided(world, theta, plan, True),
        "dia, predicted, mass 0.5": lambda world, theta, plan: guided(world, theta, replace(plan, accept=HALF), True),
        "dia, nothing predicted": lambda world, theta, plan: guided(world, theta, plan, False),
        "the same, mass 0.7": lambda world, theta, plan: guided(
            world, theta, replace(plan, accept=ACCEPT_PREDICTED), False
        ),
        "bisection alone, mass 0.5": lambda world, theta, plan: simple(world, theta, plan, by_halves(world), HALF),
        "bisection alone, mass 0.7": lambda world, theta, plan: simple(world, theta, plan, by_halves(world), SHARP),
        "random items, mass 0.5": lambda world, theta, plan: simple(world, theta, plan, at_random(world), HALF),
        "random items, mass 0.7": lambda world, theta, plan: simple(world, theta, plan, at_random(world), SHARP),
    }
    print(f"{'search':28} {'accepted':>8} {'in 0.35-0.65':>13} {'queries each':>13} {'SD of p':>8} {'CPU s':>6}")
    for name, way in ways.items():
        begun = time.process_time()
        rates, queries, spreads = [], 0, []
        for theta in ABILITIES:
            for repeat in range(repeats):
                found = way(World(seed + repeat), theta, Plan(20, 800, seed=seed + repeat))
                own = [rate(theta, b) for b in found.accepted]
                rates += own
                queries += found.queries
                spreads += [float(np.std(own, ddof=1))] if len(own) > 1 else []
        print(f"{name:28} {figures(rates, queries, spreads)} {time.process_time() - begun:6.1f}", flush=True)


def figures(rates: list[float], queries: int, spreads: list[float]) -> str:
    """The accepted items, their share within the target, queries for each, and mean SD; a dash for what is unknown."""
    spread = f"{np.mean(spreads):8.3f}" if spreads else f"{'-':>8}"  # no model has two accepted items
    if not rates:
        return f"{0:8} {'-':>13} {'-':>13} {spread}"
    inside = sum(LOW <= p <= HIGH for p in rates)
    share, error = inside / len(rates), math.sqrt(inside * (len(rates) - inside) / len(rates) ** 3)
    return f"{len(rates):8} {share:.3f} +-{error:.3f} {queries / len(rates):13.1f} {spread}"


def beside_a_fixed_set(repeats: int, seed: int, queries: int = 100) -> None:
    """Prints what a set that is the same for all models tells, and what items at each model's boundary tell."""
    tables: dict[str, list[tuple[float, float, float]]] = {"fixed set": [], "at the boundary": []}
    for repeat in range(repeats):
        world = World(seed + repeat)
        fixed = np.array([world.item(world.space.draw(world.generator)) for _ in range(queries)])
        places: dict[str, list[float]] = {name: [] for name in tables}
        at_end: dict[str, list[float]] = {name: [] for name in tables}
        for theta in PANEL:
            p = 1 / (1 + np.exp(fixed - theta))
            s = (world.generator.random(queries) < p).astype(float)
            places["fixed set"].append(float(s.mean()))
            at_end["fixed set"].append(float(((p < 0.1) | (p > 0.9)).mean()))
            b, won, tried = _tried(world, theta, queries, seed + repeat)
            places["at the boundary"].append(ability(b, won, tried).value)
            own = 1 / (1 + np.exp(b - theta))
            at_end["at the boundary"].append(float((tried * ((own < 0.1) | (own > 0.9))).sum() / tried.sum()))
        for name in tables:
            agreement = float(kendalltau(places[name], PANEL).statistic)
            tables[name].append((float(np.mean(at_end[name])), max(at_end[name]), agreement))
    print(f"\n{queries} queries a model      at floor or ceiling   worst model   rank agreement (Kendall's tau)")
    for name, rows in tables.items():
        share, worst, agreement = np.mean(rows, axis=0)
        print(f"{name:24} {share:19.3f} {worst:13.3f} {agreement:12.3f}")


def _tried(world: World, theta: float, queries: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Difficulties (as predicted), successes and trials of all items that a search tried."""
    guide = world.guide(theta)
    held = Search(world.space, Plan(1000, queries, seed=seed), guide)
    items: dict[int, float] = {}
    while asks := held.next_requests():
        for ask in asks:
            if ask.item.number not in items:
                items[ask.item.number] = world.item(ask.item.cell)
            chance = rate(theta, items[ask.item.number])
            held.record(ask.item, int(world.generator.binomial(ask.trials, chance)), ask.trials)
    tried = [item for item in held.items if item.trials]
    told = [theta - guide(item.cell).logit for item in tried]
    return np.array(told), np.array([i.successes for i in tried], float), np.array([i.trials for i in tried], float)


def main() -> None:
    """Prints both studies."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--seed", type=int, default=2001)
    given = parser.parse_args()
    searches(given.repeats, given.seed)
    beside_a_fixed_set(given.repeats, given.seed)


if __name__ == "__main__":
    main()
