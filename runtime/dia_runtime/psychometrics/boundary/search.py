"""Skill-guided boundary search: find items at which a model succeeds about half of the time.

A search proposes cells, learns how often the model succeeded there, and proposes again. It does not depend on specs,
bundles or models. Its steps:

1. Each tried cell has a Beta posterior, and all cells together a belief (see `belief`), which starts from the
difficulties that a bank explains, if any.

2. Proposed are cells halfway between one that was passed and one that was failed, and cells one step from a tried one:
harder if the rate drawn from its Beta posterior is above 1/2, easier if it is below. Which of the two kinds is used is
drawn from the Beta posteriors of their own success (Thompson 1933), as is the proposed cell that is tried.

3. An item is tried in stages. After each it is dropped if P(|p - 0.5| < 0.2) < 0.05; which items go on, and whether a
new one is tried instead, depends on the expected gain per query.

4. After the last stage it is accepted if at least `accept` of its posterior is between 0.35 and 0.65.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from dia_runtime.psychometrics.boundary.belief import Array, Belief, Predictor, Trials
from dia_runtime.psychometrics.boundary.space import Cell, Space
from scipy.special import betainc

LOW, HIGH = 0.35, 0.65  # of the target success rate
NEAR, NEGLIGIBLE = 0.2, 0.05  # dropped when P(|p - 0.5| < NEAR) < NEGLIGIBLE
POOL = 24  # cells from which one is chosen
ANYWHERE = 100  # cells of the whole space that are proposed in addition to those near tried ones
REPEATED, ALIKE = 1.0, 0.25  # logits: the penalty for a cell with an item, and for one like all accepted items
IDLE = 0.1  # logits: the weight of a step that changes nothing
PAIRS = 6  # of passed and failed cells for midpoints
ENDS = 3  # cells at the end of all levels that show that nothing harder (or easier) exists
MOST_EMPTY_ROUNDS = 6  # rounds in a row without a candidate that end a search
ENOUGH, SPENT, TOO_EASY, TOO_HARD, EXHAUSTED = "items", "budget", "too easy", "too hard", "nothing left"
# Share of an item's posterior at the boundary from which it is accepted, without and with predicted difficulties.
# Predicted items are close to the boundary before they are tried; with both values, 80 % of accepted items are at the
# boundary.
ACCEPT, ACCEPT_PREDICTED = 0.78, 0.7
OPERATORS = ("bisect", "step")


@dataclass(frozen=True, slots=True)
class Plan:
    """The wanted number of items, the budget of queries, the stages of trials, parallel items, and the seed."""

    items: int = 20
    budget: int = 1000
    stages: tuple[int, ...] = (3, 5, 10)
    at_once: int = 8
    seed: int = 0
    accept: float = ACCEPT


@dataclass(slots=True)
class Item:
    """An item that is tried: its cell, its number within the cell, its trials, and its state.

    `state` is open, accepted, dropped, missed (all trials, and not at the boundary) or impossible.
    """

    number: int
    cell: Cell
    repeat: int
    operator: str
    successes: int = 0
    trials: int = 0
    state: str = "open"
    mass: float = 0.0


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """An item that will be tried this many more times."""

    item: Item
    trials: int


class Search:
    """A running search: `next_requests` returns what to try, `record` takes results, `ending` says why it ended."""

    def __init__(self, space: Space, plan: Plan | None = None, predictor: Predictor | None = None) -> None:
        """`predictor` predicts logits of success; without it, only results of trials are known."""
        self.space, self.plan, self.predictor = space, plan or Plan(), predictor
        self.items: list[Item] = []
        self.ending: str | None = None
        self.generator = np.random.Generator(np.random.PCG64(self.plan.seed))
        self.operator_outcomes = {name: [1, 1] for name in OPERATORS}
        self.empty_rounds = 0
        self.impossible: set[Cell] = set()

    # requested trials

    @property
    def queries(self) -> int:
        """Return how many trials there were."""
        return sum(item.trials for item in self.items)

    @property
    def accepted(self) -> list[Item]:
        """Return the items at the boundary."""
        return [item for item in self.items if item.state == "accepted"]

    def next_requests(self) -> list[TrialRequest]:
        """Return what to try now; nothing if the search is over."""
        while self.ending is None:
            belief = self.belief()
            self._update_states(belief)
            self._update_ending(belief)
            if self.ending is not None:
                break
            chosen = self._select(belief)
            self.empty_rounds = 0 if chosen else self.empty_rounds + 1
            if chosen:
                return chosen
            if self.empty_rounds >= MOST_EMPTY_ROUNDS:
                self.ending = self._why_exhausted()
        return []

    def record(self, item: Item, successes: int, trials: int) -> None:
        """Record the result of more trials of an item."""
        item.successes += successes
        item.trials += trials

    def refuse(self, item: Item) -> None:
        """Record that the item cannot be generated."""
        item.state = "impossible"
        self.impossible.add(item.cell)

    def belief(self) -> Belief:
        """Return the belief after all trials so far."""
        tried = [Trials(item.cell, item.successes, item.trials) for item in self._tried_items()]
        return Belief(self.space, tried, self.predictor)

    def _tried_items(self) -> list[Item]:
        return [item for item in self.items if item.trials]

    # states of items

    def _update_states(self, belief: Belief) -> None:
        """Drop hopeless items, and accept those at the boundary."""
        tried = self._tried_items()
        if not tried:
            return
        logits = belief.at_tried_cells()
        near, mass = logits.within(0.5 - NEAR, 0.5 + NEAR), logits.within(LOW, HIGH)
        for item, is_near, at_boundary in zip(tried, near.tolist(), mass.tolist(), strict=True):
            if item.state != "open":
                continue
            item.mass = at_boundary
            if item.trials >= self.plan.stages[-1]:
                item.state = "accepted" if at_boundary >= self.plan.accept else "missed"
            elif is_near < NEGLIGIBLE:
                item.state = "dropped"
            if item.state != "open" and item.operator in self.operator_outcomes:
                self.operator_outcomes[item.operator][item.state != "accepted"] += 1

    def _update_ending(self, belief: Belief) -> None:
        if len(self.accepted) >= self.plan.items:
            self.ending = ENOUGH
        elif self.plan.budget - self.queries < self.plan.stages[0]:
            self.ending = SPENT
        else:
            self.ending = self._saturated(belief)

    def _saturated(self, belief: Belief) -> str | None:
        """Return whether the hardest cell was tried and is passed, or the easiest is failed."""
        weights = self._weights(belief)
        for is_hardest, why in ((True, TOO_EASY), (False, TOO_HARD)):
            cell = self.space.end(is_hardest, weights)
            tried = [item for item in self._tried_items() if item.cell == cell and item.state in ("dropped", "missed")]
            passed = sum(item.successes for item in tried) * 2 > sum(item.trials for item in tried)
            if tried and passed == is_hardest and not self._has_prospects(belief):
                return why
        return next(
            (why for is_hardest, why in ((True, TOO_EASY), (False, TOO_HARD)) if self._is_ended(is_hardest)), None
        )

    def _is_ended(self, is_hardest: bool) -> bool:
        """Return whether cells at the end of all levels, of different skills, are almost surely passed (or failed)."""
        at_end = [item for item in self._tried_items() if self.space.is_end(item.cell, is_hardest)]
        if len({item.cell for item in at_end}) < ENDS:
            return False
        wins = sum(item.successes if is_hardest else item.trials - item.successes for item in at_end)
        losses = sum(item.trials for item in at_end) - wins
        return float(betainc(1 + wins, 1 + losses, HIGH)) < NEGLIGIBLE

    def _has_prospects(self, belief: Belief) -> bool:
        """Return whether an open item, or a cell near a tried one, has a chance."""
        if any(item.state == "open" and item.mass > NEGLIGIBLE for item in self._tried_items()):
            return True
        cells = [cell for cell in self._propose(belief, 2 * POOL) if not self._is_closed(cell)]
        return bool(cells) and bool((belief.at_new_cells(cells).within(LOW, HIGH) > NEGLIGIBLE).any())

    def _weights(self, belief: Belief) -> list[float]:
        """Return how much harder each skill makes a cell."""
        if not self.space.skills:
            return []
        levels = self.space.begin().levels
        cells = [Cell(levels), *(Cell(levels, (at,)) for at in range(len(self.space.skills)))]
        if self.predictor is not None:
            logits = [self.predictor(cell).logit for cell in cells]
            return [logits[0] - value for value in logits[1:]]
        mean = belief.at_new_cells(cells).mean
        return [float(mean[0] - value) for value in mean[1:]]

    def _why_exhausted(self) -> str:
        """Return why nothing is left to try: everything was passed, everything was failed, or neither."""
        tried = self._tried_items()
        if tried and all(2 * item.successes > item.trials for item in tried):
            return TOO_EASY
        return TOO_HARD if tried and all(2 * item.successes < item.trials for item in tried) else EXHAUSTED

    # what to try next

    def _select(self, belief: Belief) -> list[TrialRequest]:
        """Return open and new items, those with the greatest expected gain per query first."""
        budget = self.plan.budget - self.queries
        missing = self.plan.items - len(self.accepted)
        choice: list[tuple[float, int, Item | Cell, str]] = []
        for item in self.items:
            if item.state == "open" and item.trials:
                choice.append((item.mass / (self.plan.stages[-1] - item.trials), len(choice), item, ""))
        fresh = self._new_candidates(belief)
        masses = belief.at_new_cells([cell for cell, _ in fresh]).within(LOW, HIGH).tolist() if fresh else []
        for (cell, operator), mass in zip(fresh, masses, strict=True):
            choice.append((mass / self.plan.stages[-1], len(choice), cell, operator))
        requests: list[TrialRequest] = []
        for _, _, candidate, operator in sorted(choice, key=lambda entry: (-entry[0], entry[1])):
            if len(requests) >= min(self.plan.at_once, max(2, 2 * missing)):
                break
            open_item = candidate if isinstance(candidate, Item) else None
            trials = self._trials_of_next_stage(0 if open_item is None else open_item.trials)
            if trials <= budget and isinstance(candidate, Cell):
                open_item = self._new_item(candidate, operator)
            if trials <= budget and open_item is not None:
                requests.append(TrialRequest(open_item, trials))
                budget -= trials
        return requests

    def _trials_of_next_stage(self, trials: int) -> int:
        """Return how many trials the next stage adds."""
        return next(stage for stage in self.plan.stages if stage > trials) - trials

    def _new_item(self, cell: Cell, operator: str) -> Item:
        repeat = sum(item.cell == cell for item in self.items)
        self.items.append(Item(len(self.items), cell, repeat, operator))
        return self.items[-1]

    def _new_candidates(self, belief: Belief) -> list[tuple[Cell, str]]:
        """Return new items: from each pool of proposals, the one whose drawn rate is nearest to 1/2."""
        if not self.items:
            return [
                (self.space.begin(), "begin"),
                *((cell, "begin") for cell in self._initial_cells(self.plan.at_once - 1)),
            ]
        chosen: list[tuple[Cell, str]] = []
        proposals = self._propose(belief, POOL * 2)
        for _ in range(ANYWHERE if self.predictor is not None else 0):
            proposals.setdefault(self.space.draw(self.generator), "anywhere")
        pool = {cell: name for cell, name in proposals.items() if not self._is_closed(cell)}
        if not pool:
            return []
        cells = list(pool)
        logits = belief.at_new_cells(cells)
        for _ in range(self.plan.at_once):
            sd = np.sqrt(np.maximum(logits.sd**2 - belief.item_sd**2, 0))  # effects of single items cannot be learned
            distances = np.abs(self.generator.normal(logits.mean, sd)) + self._crowding(cells, chosen)
            at = int(np.argmin(distances))
            chosen.append((cells[at], pool[cells[at]]))
        return list(dict(chosen).items())

    def _crowding(self, cells: Sequence[Cell], chosen: Sequence[tuple[Cell, str]]) -> Array:
        """Return the penalties of cells that already have items, or many similar accepted ones."""
        counts: dict[Cell, int] = {}
        for cell in [*(item.cell for item in self.items), *(cell for cell, _ in chosen)]:
            counts[cell] = counts.get(cell, 0) + 1
        repeated = np.array([REPEATED * counts.get(cell, 0) for cell in cells])
        return repeated + ALIKE * self._likeness(cells, [*(item.cell for item in self.accepted), *dict(chosen)])

    def _likeness(self, cells: Sequence[Cell], others: Sequence[Cell]) -> Array:
        """Return the share of the others that have a cell's level, averaged over its dimensions."""
        if not others or not self.space.dimensions:
            return np.zeros(len(cells))
        levels, accepted = (np.array([cell.levels for cell in group]) for group in (cells, others))
        return np.asarray((levels[:, None, :] == accepted[None, :, :]).mean(axis=(1, 2)))

    def _initial_cells(self, number: int) -> Iterator[Cell]:
        """Return the initial cells: from easiest to hardest, or the most promising if difficulties are predicted."""
        if self.predictor is None:
            low, high = self.space.end(False), self.space.end(True)
            middle = self.space.begin()
            cells = [self.space.between(low, middle), self.space.between(middle, high), low, high]
            yield from list(dict.fromkeys(cell for cell in cells if cell is not None and cell != middle))[:number]
            return
        predictor = self.predictor
        drawn = {self.space.draw(self.generator): None for _ in range(20 * POOL)}
        yield from sorted(drawn, key=lambda cell: abs(predictor(cell).logit))[:number]

    def _is_closed(self, cell: Cell) -> bool:
        """Return whether a cell is not worth another item: it cannot be generated, or its items mostly failed."""
        if any(
            impossible.levels == cell.levels and set(impossible.skills) <= set(cell.skills)
            for impossible in self.impossible
        ):
            return True  # adding skills does not make an incompatible combination possible
        tried = [item for item in self.items if item.cell == cell]
        return any(item.state == "dropped" or not item.trials for item in tried) or (
            sum(item.state == "missed" for item in tried) > sum(item.state == "accepted" for item in tried)
        )

    def _propose(self, belief: Belief, number: int) -> dict[Cell, str]:
        """Yield the cells that the operators propose, and the operator of each."""
        tried = self._tried_items()
        if not tried:
            return {}
        rates = self.generator.beta(
            [1 + item.successes for item in tried], [1 + item.trials - item.successes for item in tried]
        )
        near = np.argsort(np.abs(rates - 0.5), kind="stable").tolist()
        midpoints = list(self._midpoints(tried, rates, near))
        proposals: dict[Cell, str] = dict.fromkeys(midpoints[:2], "bisect")
        steps_of: dict[int, tuple[list[Cell], Array]] = {}
        for _ in range(number):
            rate_by_operator = {
                name: self.generator.beta(won, lost) for name, (won, lost) in self.operator_outcomes.items()
            }
            if rate_by_operator["bisect"] > rate_by_operator["step"] and midpoints:
                proposals.setdefault(midpoints[int(self.generator.integers(len(midpoints)))], "bisect")
                continue
            parent = near[min(int(self.generator.geometric(0.3)) - 1, len(near) - 1)]
            if parent not in steps_of:
                steps = list(self.space.steps(tried[parent].cell, bool(rates[parent] > 0.5)))
                steps_of[parent] = steps, self._chances(belief, tried[parent].cell, steps)
            steps, chances = steps_of[parent]
            if steps:
                proposals.setdefault(steps[int(self.generator.choice(len(steps), p=chances))], "step")
        for item in tried:
            if item.state == "accepted":
                proposals.setdefault(item.cell, "step")
        return proposals | dict.fromkeys(self._extreme_cells(tried), "step")

    def _chances(self, belief: Belief, parent: Cell, steps: Sequence[Cell]) -> Array:
        """Return how often each step is proposed: more often if it is expected to change the success rate more.

        So levels that make no difference are rarely changed, except at the boundary, where all steps are equally good.
        """
        if not steps:
            return np.zeros(0)
        means = belief.at_new_cells([parent, *steps]).mean
        gained = np.maximum(np.abs(means[0]) - np.abs(means[1:]), 0.0) + IDLE
        return np.asarray(gained / gained.sum())

    def _extreme_cells(self, tried: Sequence[Item]) -> Iterator[Cell]:
        """Return the hardest cells if everything so far was passed, the easiest if everything was failed."""
        for is_hardest in (True, False):
            if all((2 * item.successes > item.trials) == is_hardest for item in tried):
                weights = self.generator.random(len(self.space.skills)).tolist()
                yield self.space.end(is_hardest, weights)

    def _midpoints(self, tried: Sequence[Item], rates: Array, near: Sequence[int]) -> Iterator[Cell]:
        """Yield the cells halfway between passed and failed ones."""
        passed = [tried[at].cell for at in near if rates[at] > 0.5][:PAIRS]
        failed = [tried[at].cell for at in near if rates[at] <= 0.5][:PAIRS]
        for easy in passed:
            for hard in failed:
                middle = self.space.between(easy, hard)
                if middle is not None:
                    yield middle


def search(
    space: Space, ask: Callable[[Cell, int], int], plan: Plan | None = None, predictor: Predictor | None = None
) -> Search:
    """Run the search to its end; `ask` tries a new item of a cell this many times and returns the successes.

    Trials of one item are requested one after the other; to identify items, use `next_requests` and `record` of a
    `Search`.
    """
    running = Search(space, plan, predictor)
    while next_requests := running.next_requests():
        for request in next_requests:
            running.record(request.item, ask(request.item.cell, request.trials), request.trials)
    return running
