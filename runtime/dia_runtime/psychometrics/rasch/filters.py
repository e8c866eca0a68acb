"""Which items of a bank are kept: by pass rate, difficulty or fit; and a two-stage choice among filters.

The rules and the stages are those of Dynamic Boundary Evaluation (Wang, Yu and Zhang 2026). Where the paper leaves a
figure open, the choice is ours, and stated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dia_language.diagnostics import did_you_mean
from dia_runtime.psychometrics.rasch.counts import Array, Mask, logistic_in_place
from dia_runtime.psychometrics.rasch.estimate import EstimationOptions, calibration_error
from dia_runtime.psychometrics.rasch.fit import Fits, Locations
from dia_runtime.psychometrics.rasch.held_out import held_out
from numpy.typing import NDArray

RULES: Mapping[str, tuple[float, ...]] = {
    "avg": (0.05, 0.95),
    "atlas": (0.05, 0.95, 0.05),
    "difficulty": (-2.0, 2.0),
    "infit": (0.7, 1.3),
}
CANDIDATES = (
    "avg:0.05,0.95", "avg:0.1,0.9", "avg:0.15,0.85", "avg:0.2,0.8", "avg:0.25,0.75", "avg:0.3,0.7", "avg:0.4,0.6",
    "atlas:0.05,0.95,0.05", "atlas:0.1,0.9,0.1",
    "difficulty:-3,3", "difficulty:-2,2", "difficulty:-1,1",
    "infit:0.5,1.5", "infit:0.6,1.4", "infit:0.7,1.3",
)  # fmt: skip
NUMBER = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{1,9})?", re.ASCII)
INFIT_BAND = (0.5, 1.5)  # of a panel of few models; 0.7 to 1.3 is usual for many
INFIT_GATE = 0.9  # share of kept items inside the band
BUDGET = 50  # items after which the errors of abilities are compared


@dataclass(frozen=True, slots=True)
class Rule:
    """A filter: its name, and its bounds."""

    name: str
    bounds: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.name}:{','.join(f'{bound:g}' for bound in self.bounds)}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """The result of a filter: how many items it keeps, the gates of stage A, and the two aims of stage B.

    `budget_se` is the mean error of an ability after the best items within the budget, over the panel's abilities;
    `kept` is the share of items that are kept. With fewer than two items nothing is estimated.
    """

    rule: str
    items: int
    kept: float
    gain: float | None = None
    infit_share: float = 0.0
    admitted: bool = False
    budget_se: float | None = None
    pareto: bool = False


def parse_rule(text: str) -> Rule:
    """Parse a filter such as `avg:0.05,0.95`, or a name alone with its usual bounds. Raises DiaError (exit 2)."""
    name, _, bounds_text = text.partition(":")
    if name not in RULES:
        raise calibration_error(f"`{name}` is not a filter; choose from {', '.join(RULES)}", did_you_mean(name, RULES))
    bounds = (
        tuple(float(part) for part in bounds_text.split(","))
        if _is_numbers(bounds_text)
        else RULES[name]
        if not bounds_text
        else ()
    )
    if len(bounds) != len(RULES[name]) or bounds[0] > bounds[1]:
        example = ",".join(f"{bound:g}" for bound in RULES[name])
        raise calibration_error(f"`{text}` is not a filter", f"write `{name}:{example}`, with the lower bound first")
    return Rule(name, bounds)


def _is_numbers(text: str) -> bool:
    return bool(text) and all(NUMBER.fullmatch(part) for part in text.split(","))


def keep(rule: Rule, successes: Array, trials: NDArray[Any], locations: Locations, fits: Fits) -> Mask:
    """Return the items that are kept."""
    low, high, *more = rule.bounds
    if rule.name == "difficulty":
        return np.asarray(locations.items & (locations.difficulties >= low) & (locations.difficulties <= high))
    if rule.name == "infit":
        return np.asarray((fits.infit >= low) & (fits.infit <= high))
    every = np.broadcast_to(trials, successes.shape).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = successes / every
    tried = every > 0
    number = tried.sum(axis=0)
    mean = np.where(tried, rates, 0).sum(axis=0) / np.maximum(number, 1)
    is_kept = (number > 0) & (mean >= low) & (mean <= high)
    if more:
        squares = np.where(tried, (rates - mean) ** 2, 0).sum(axis=0) / np.maximum(number, 1)
        is_kept &= np.sqrt(squares) >= more[0]
    return np.asarray(is_kept)


def choose(
    successes: Array,
    trials: NDArray[Any],
    locations: Locations,
    fits: Fits,
    options: EstimationOptions,
    budget: int = BUDGET,
) -> list[Candidate]:
    """Return all candidates with their gates and aims, those on the Pareto frontier marked.

    Stage A admits a filter if its items predict held-out replies better than the null model, and enough of them are
    within the infit band. Of these, stage B keeps the filters that no other filter beats in both aims.
    """
    candidates = [
        _candidate(parse_rule(text), successes, trials, locations, fits, options, budget) for text in CANDIDATES
    ]
    admitted = [entry for entry in candidates if entry.admitted]
    return [replace(entry, pareto=entry.admitted and _is_on_frontier(entry, admitted)) for entry in candidates]


def _candidate(
    rule: Rule,
    successes: Array,
    trials: NDArray[Any],
    locations: Locations,
    fits: Fits,
    options: EstimationOptions,
    budget: int,
) -> Candidate:
    is_kept = keep(rule, successes, trials, locations, fits) & locations.items
    every = np.broadcast_to(trials, successes.shape)
    pool = max(1, int((every > 0).any(axis=0).sum()))
    size, share = int(is_kept.sum()), float(is_kept.sum() / pool)
    if size < 2:
        return Candidate(str(rule), size, share)
    inside = float(((fits.infit[is_kept] >= INFIT_BAND[0]) & (fits.infit[is_kept] <= INFIT_BAND[1])).mean())
    prediction = held_out(np.ascontiguousarray(successes[:, is_kept]), np.ascontiguousarray(every[:, is_kept]), options)
    gain = None if prediction is None else prediction.gain
    is_admitted = gain is not None and gain > 0 and inside >= INFIT_GATE
    return Candidate(str(rule), size, share, gain, inside, is_admitted, budget_se(locations, every, is_kept, budget))


def budget_se(locations: Locations, trials: NDArray[Any], is_kept: Mask, budget: int) -> float:
    """Return the mean over the panel of the error of an ability, after the most informative items of the budget."""
    probability = logistic_in_place(locations.abilities[locations.models][:, None] - locations.difficulties[is_kept])
    information = np.maximum(trials[locations.models][:, is_kept], 1) * probability * (1 - probability)
    best = -np.sort(-information, axis=1)[:, :budget]
    return float((1 / np.sqrt(best.sum(axis=1))).mean())


def _is_on_frontier(entry: Candidate, admitted: Sequence[Candidate]) -> bool:
    """Return whether no other admitted candidate is at least as good in both aims, and better in one of them."""
    se, share = entry.budget_se or 0.0, entry.kept
    others = [(candidate.budget_se or 0.0, candidate.kept) for candidate in admitted]
    return not any(
        other_se <= se and other_kept >= share and (other_se < se or other_kept > share)
        for other_se, other_kept in others
    )


def chosen(candidates: Sequence[Sequence[Candidate]]) -> str | None:
    """Return the filter on the most frontiers, of equals the one that keeps most items; None if none is admitted."""
    votes: dict[str, tuple[int, float]] = {}
    for group in candidates:
        for entry in group:
            if entry.pareto:
                count, share = votes.get(entry.rule, (0, 0.0))
                votes[entry.rule] = (count + 1, share + entry.kept)
    return max(votes, key=lambda rule: votes[rule]) if votes else None
