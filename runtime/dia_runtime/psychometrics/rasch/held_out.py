"""How well a scale foretells replies that it has not seen, beside guesses that know no scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_language.diagnostics import DiaError
from dia_runtime.psychometrics.rasch.counts import Array, Mask, chance
from dia_runtime.psychometrics.rasch.estimate import Options, estimate
from numpy.typing import NDArray

EDGE = 1e-6  # no prediction is surer than this


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Mean negative log likelihood of a held-out trial: of the scale, of one rate for all, of a rate for each model.

    `gain` is by how much the scale beats the better of the two, with its standard error over folds.
    """

    trials: int
    scale: float
    one_rate: float
    model_rates: float
    gain: float
    gain_se: float


def held_out(successes: Array, trials: NDArray[Any], options: Options, folds: int = 5, seed: int = 0) -> HeldOut | None:
    """The figures over all cells, each held out once; None where no fold leaves a scale."""
    every = np.broadcast_to(trials, successes.shape).astype(float)
    generator = np.random.default_rng(seed)
    fold = generator.integers(0, folds, successes.shape)
    found = []
    for number in range(folds):
        out = (fold == number) & (every > 0)
        scores = _scores(successes, every, out, options)
        if scores is not None:
            found.append(scores)
    if not found:
        return None
    table = np.array(found)
    tried = table[:, 0]
    scale, one, models = (float(table[:, at].sum() / tried.sum()) for at in (1, 2, 3))
    gains = np.minimum(table[:, 2], table[:, 3]) / tried - table[:, 1] / tried
    width = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else float("nan")
    return HeldOut(int(tried.sum()), scale, one, models, min(one, models) - scale, width)


def _scores(successes: Array, trials: Array, out: Mask, options: Options) -> tuple[float, float, float, float] | None:
    """Trials and summed losses of one fold."""
    inside = np.where(out, 0.0, trials)
    seen = np.where(out, 0.0, successes)
    if not (inside.sum(axis=1) > 0).all():
        return None
    try:
        found = estimate(seen, inside, options)
    except DiaError:
        return None
    abilities, difficulties = found.abilities[:, None], found.difficulties
    use = out & np.isfinite(abilities) & np.isfinite(difficulties)
    if not use.any():
        return None
    right = chance(np.nan_to_num(abilities) - np.nan_to_num(difficulties))
    model = np.broadcast_to((seen.sum(axis=1) / inside.sum(axis=1))[:, None], right.shape)
    one = np.full(right.shape, seen.sum() / inside.sum())
    losses = [_loss(successes[use], trials[use], rate[use]) for rate in (right, one, model)]
    return float(trials[use].sum()), losses[0], losses[1], losses[2]


def _loss(successes: Array, trials: Array, right: Array) -> float:
    inside = np.clip(right, EDGE, 1 - EDGE)
    return float(-(successes * np.log(inside) + (trials - successes) * np.log(1 - inside)).sum())
