"""The partial credit model (Masters 1982) by conditional maximum likelihood, for scores of several steps.

A row scores h of m at a column with a probability proportional to exp(h (a - d) + t_h), a the row's place, d the
column's, and t_h the same for all cells of a *set* (t_0 = t_m = 0). With a set for each row this is the partial credit
model of the rows; with one set for all cells it is the rating scale model (Andrich 1978); with a set for each template,
the templates have steps of their own. The columns are eliminated by conditioning on their totals, as in `cml`. Binomial
counts are the case t_h = log C(m, h), so they can be tested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from dia_language.diagnostics import DiaError, Diagnostic
from dia_runtime.psychometrics.rasch.counts import Array, Mask, trial_patterns
from dia_runtime.psychometrics.rasch.newton import MOST, halve_until_smaller, not_converged, precise_enough
from numpy.typing import NDArray

Ints = NDArray[np.intp]
WORK = 5e9  # multiplications for one step
LARGEST_VARIANCE = 1e4  # where an estimate diverges, the likelihood becomes flat
WIDTHS = 12.0  # standard deviations of a total that a circle's points cover


@dataclass(frozen=True, slots=True, eq=False)
class PartialCredit:
    """Rows (mean 0), the t_h of each set, the covariance of all of them in this order, and the log likelihood.

    `tau` has for each set the values t_1 to t_(m-1). `positions` has for each set their places in the covariance.
    """

    rows: Array
    tau: list[Array]
    covariance: Array
    positions: list[Ints]
    log_likelihood: float
    iterations: int

    def thresholds(self, row: int, which: int) -> Array:
        """Return the m differences of logits at which two neighbouring scores of a row are equally probable.

        They are locations on the scale of the columns: a column at the location of a threshold passes it half of the
        time.
        """
        return np.asarray(-self.rows[row] - np.diff(np.concatenate([[0.0], self.tau[which], [0.0]])))

    def threshold_errors(self, row: int, which: int) -> Array:
        """Return the standard errors of the thresholds."""
        steps = len(self.tau[which]) + 1
        slopes = np.zeros((steps, len(self.covariance)))
        slopes[:, row] = -1.0
        for at, position in enumerate(self.positions[which]):
            slopes[at, position] = -1.0
            slopes[at + 1, position] = 1.0
        return np.asarray(np.sqrt(np.einsum("ij,jk,ik->i", slopes, self.covariance, slopes)))


@dataclass(frozen=True, slots=True, eq=False)
class _Booklet:
    """Columns of which the same rows were scored, with the same sets: rows, sets, totals, and how many have each."""

    rows: Ints
    sets: Ints
    totals: Array
    number: Array


@dataclass(slots=True, eq=False)
class _Data:
    scores: NDArray[np.int_]
    sets: Ints
    most: Ints  # of each set
    booklets: list[_Booklet]
    positions: list[Ints]
    observed: Array = field(init=False)

    @property
    def size(self) -> int:
        return len(self.scores) + int((self.most - 1).sum())

    def __post_init__(self) -> None:
        """Sum the sufficient statistics: totals of rows, and how often each score of each set occurs."""
        tried = self.scores >= 0
        self.observed = np.zeros(self.size)
        self.observed[: len(self.scores)] = np.where(tried, self.scores, 0).sum(axis=1)
        for which, at in enumerate(self.positions):
            inside = self.scores[tried & (self.sets == which)]
            self.observed[at] = np.bincount(inside, minlength=self.most[which] + 1)[1 : self.most[which]]


@dataclass(slots=True, eq=False)
class _State:
    place: Array
    scores: Array
    information: Array
    log_likelihood: float


def partial_credit(
    scores: NDArray[np.int_], sets: NDArray[np.int_], most: NDArray[np.int_], fixed_tau: list[Array] | None = None
) -> PartialCredit:
    """Return the model of rows by columns with scores from 0 to `most` of their set, -1 where missing.

    `sets` numbers the set of each cell, or of each row or column (broadcast). With `fixed_tau`, these t_h are given and
    only the rows are estimated. Raises DiaError if the data have no finite estimates, or would take long.
    """
    cell_sets = np.broadcast_to(sets, scores.shape).astype(np.intp)
    data = _data(scores, cell_sets, np.asarray(most, dtype=np.intp))
    rows = len(scores)
    free = np.ones(data.size, dtype=bool)
    place = np.zeros(data.size)
    if fixed_tau is not None:
        free[rows:] = False
        for at, values in zip(data.positions, fixed_tau, strict=True):
            place[at] = values
    _require_occurring(data, free)
    state = _state_at(data, place, free)
    largest = float(data.observed.max())
    iterations = 0
    while True:
        residual = float(np.abs(state.scores).max())
        if precise_enough(residual, largest, 1e-10) or iterations == MOST:
            break
        after = halve_until_smaller(
            state, lambda before: _step(data, before, free), lambda reached: float(reached.scores @ reached.scores)
        )
        if after is None:
            break
        state, iterations = after, iterations + 1
        if np.abs(state.place).max() > 30:
            raise _no_estimate()
    if not precise_enough(residual, 1e3 * largest, 1e-10):
        raise not_converged("partial credit", residual)
    covariance = np.zeros((data.size, data.size))
    covariance[np.ix_(free, free)] = _inverse(state.information[np.ix_(free, free)], rows)
    if np.diag(covariance).max() > LARGEST_VARIANCE:
        raise _no_estimate()
    place = state.place
    return PartialCredit(
        place[:rows], [place[at] for at in data.positions], covariance, data.positions, state.log_likelihood, iterations
    )


def binomial_tau(most: NDArray[np.int_]) -> list[Array]:
    """Return the t_h of counts of independent trials, log C(m, h), for each set.

    >>> [values.round(3).tolist() for values in binomial_tau(np.array([3]))]
    [[1.099, 1.099]]
    """
    from scipy.special import gammaln

    tau = []
    for m in map(int, most):
        at = np.arange(1, m)
        tau.append(gammaln(m + 1) - gammaln(at + 1) - gammaln(m - at + 1))
    return tau


def _data(scores: NDArray[np.int_], sets: Ints, most: Ints) -> _Data:
    tried = scores >= 0
    totals = np.where(tried, scores, 0).sum(axis=0)
    limits = np.where(tried, most[sets], 0).sum(axis=0)
    patterns = trial_patterns(np.where(tried, sets + 1, 0))
    assert patterns is not None
    inside = np.flatnonzero((totals > 0) & (totals < limits))
    booklets = []
    for name in np.unique(patterns[inside]):
        columns = inside[patterns[inside] == name]
        rows = np.flatnonzero(tried[:, columns[0]])
        values, number = np.unique(totals[columns], return_counts=True)
        booklets.append(_Booklet(rows, sets[rows, columns[0]], values.astype(float), number.astype(float)))
    ends = len(scores) + np.cumsum(most - 1)
    positions = [np.arange(end - size, end) for end, size in zip(ends, most - 1, strict=True)]
    data = _Data(scores, sets, most, booklets, positions)
    points = sum(len(part.totals) * (most[part.sets].sum() + 1.0) for part in booklets)
    if points * data.size**2 > WORK:
        message = f"partial credit of {len(scores)} by {scores.shape[1]} takes too long"
        raise DiaError(Diagnostic("E893", message, None, "calibrate without `--check partial-credit`"))
    # Columns at an extreme leave nothing to chance; their observed counts are excluded.
    data.scores = np.where((totals > 0) & (totals < limits), scores, -1)
    data.__post_init__()
    return data


def _require_occurring(data: _Data, free: Mask) -> None:
    """Check that every score of every set occurs, and that no row is extreme."""
    tried = data.scores >= 0
    limits = np.where(tried, data.most[data.sets], 0).sum(axis=1)
    rows = data.observed[: len(limits)]
    if ((rows <= 0) | (rows >= limits)).any() or (data.observed[free] <= 0).any():
        raise _no_estimate()


def _no_estimate() -> DiaError:
    message = "partial credit has no finite estimate: a score of an item never occurs, or a model has only one score"
    return DiaError(Diagnostic("E893", message, None, "ask more models, or calibrate without `--check partial-credit`"))


def _state_at(data: _Data, place: Array, free: Mask) -> _State:
    expected, information = np.zeros(data.size), np.zeros((data.size, data.size))
    log_likelihood = float(data.observed @ place)
    for booklet in data.booklets:
        spread, mean, log_gamma = _moments(data, booklet, place)
        at = np.concatenate([booklet.rows, *(data.positions[which] for which in np.unique(booklet.sets))])
        expected[at] += mean
        information[np.ix_(at, at)] += spread
        log_likelihood -= log_gamma
    scores = np.where(free, data.observed - expected, 0.0)
    return _State(place, scores, information, log_likelihood)


def _moments(data: _Data, booklet: _Booklet, place: Array) -> tuple[Array, Array, float]:
    """Return covariance and mean of a booklet's sufficient statistics given the totals, and its log denominators.

    Parameters are the booklet's rows, then the t_h of its sets. Everything is summed over the columns.
    """
    rows, distinct = len(booklet.rows), np.unique(booklet.sets)
    width = int(data.most[booklet.sets].max())
    local = {int(which): rows + int((data.most[distinct[:at]] - 1).sum()) for at, which in enumerate(distinct)}
    size = rows + int((data.most[distinct] - 1).sum())
    logits, own = np.full((rows, width + 1), -np.inf), np.full((rows, width + 1), -1, dtype=np.intp)
    for row, which in enumerate(booklet.sets.tolist()):
        m = int(data.most[which])
        logits[row, : m + 1] = np.arange(m + 1) * place[booklet.rows[row]]
        logits[row, 1:m] += place[data.positions[which]]
        own[row, 1:m] = local[which] + np.arange(m - 1)
    step = np.arange(width + 1)
    spread, mean, log_gamma = np.zeros((size, size)), np.zeros(size), 0.0
    tilts = [_saddle(logits, step, total) for total in booklet.totals]
    order = int(data.most[booklet.sets].sum())
    for total, number, (tilt, deviation) in zip(booklet.totals, booklet.number, tilts, strict=True):
        points = min(order + 1, int(np.ceil(WIDTHS * deviation)) + 40)
        angles = 2 * np.pi * np.arange(points) / points
        tilted = logits + step * tilt
        peak = tilted.max(axis=1, keepdims=True)
        real = np.exp(tilted - peak)
        norm = real.sum(axis=1)
        turned = (real / norm[:, None])[:, :, None] * np.exp(1j * np.outer(step, angles))  # rows x scores x points
        factor = turned.sum(axis=1)
        density = factor.prod(axis=0) * np.exp(-1j * angles * total) / points
        mass = float(density.real.sum())
        weight = density / mass
        chances = turned / factor[:, None, :]
        cell = (chances @ weight).real  # rows x scores: their probabilities given the total
        q = np.zeros((size, points), dtype=complex)
        q[:rows] = np.einsum("h,rhp->rp", step, chances)
        np.add.at(q, own[own >= 0], chances[own >= 0])
        second = ((q * weight) @ q.T).real
        _replace_own_products(second, q[:rows], chances, weight, own, cell, step)
        first = (q @ weight).real
        spread += number * (second - np.outer(first, first))
        mean += number * first
        log_gamma += number * (np.log(mass) + float(np.log(norm).sum() + peak.sum()) - tilt * total)
    return spread, mean, log_gamma


def _replace_own_products(
    second: Array, sums: NDArray[np.complex128], chances: NDArray[np.complex128], weight: NDArray[np.complex128],
    own: Ints, cell: Array, step: Ints,
) -> None:  # fmt: skip
    """Replace the products of a row's indicators with themselves: a row has one score at a time."""
    rows = len(own)
    diagonal = np.arange(rows)
    second[diagonal, diagonal] += cell @ step**2 - ((sums**2) @ weight).real
    inner = np.einsum("rhp,rkp,p->rhk", chances, chances, weight).real
    crossed = np.einsum("rp,rhp,p->rh", sums, chances, weight).real
    for row in diagonal:
        at = np.flatnonzero(own[row] >= 0)
        places = own[row, at]
        mixed = step[at] * cell[row, at] - crossed[row, at]
        second[row, places] += mixed
        second[places, row] += mixed
        second[np.ix_(places, places)] += np.diag(cell[row, at]) - inner[row][np.ix_(at, at)]


def _saddle(logits: Array, step: Ints, total: float) -> tuple[float, float]:
    """Return the tilt at which the total is expected, and its standard deviation there; it need not be exact."""
    low, high, tilt = -60.0, 60.0, 0.0
    deviation = 1.0
    for _ in range(100):
        tilted = logits + step * tilt
        chance = np.exp(tilted - tilted.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        mean = chance @ step
        variance = float((chance @ step**2 - mean**2).sum())
        excess = float(mean.sum()) - total
        deviation = variance**0.5
        if abs(excess) < 1e-3:
            break
        low, high = (tilt, high) if excess < 0 else (low, tilt)
        move = tilt - excess / variance if variance > 0 else np.nan
        tilt = float(move) if low < move < high else (low + high) / 2
    return tilt, deviation


def _step(data: _Data, state: _State, free: Mask) -> Callable[[float], _State]:
    at = np.flatnonzero(free)
    step = np.zeros(data.size)
    step[at] = _inverse(state.information[np.ix_(at, at)], len(data.scores)) @ state.scores[at]
    longest = np.abs(step).max()
    step *= min(1.0, 3.0 / longest) if longest > 0 else 1.0
    return lambda size: _state_at(data, state.place + size * step, free)


def _inverse(information: Array, rows: int) -> Array:
    """Return the covariance of rows with mean 0 and of the other parameters; only differences of rows matter."""
    shift = np.zeros(len(information))
    shift[:rows] = 1 / rows
    scale = np.trace(information) / len(information)
    try:
        inverse = np.linalg.inv(information + scale * np.outer(shift, shift) * rows)
    except np.linalg.LinAlgError:
        raise _no_estimate() from None
    centre = np.eye(len(information))
    centre[:rows, :rows] -= 1 / rows
    return np.asarray(centre @ inverse @ centre.T)


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Places of columns given the rows, with their standard errors: a row's logits at x are h (a + x) + t_h."""

    values: Array
    errors: Array


def column_places(
    model: PartialCredit,
    scores: NDArray[np.int_],
    sets: NDArray[np.int_],
    most: NDArray[np.int_],
    weighted: bool = True,
) -> Places:
    """Return Warm's (1989) estimates of the columns, or those of maximum likelihood (infinite at extreme totals)."""
    cell_sets = np.broadcast_to(sets, scores.shape)
    tried = scores >= 0
    totals = np.where(tried, scores, 0).sum(axis=0)
    steps = np.arange(int(most.max()) + 1)
    tables = np.full((len(most), len(steps)), -np.inf)
    for which, m in enumerate(map(int, most)):
        tables[which, : m + 1] = np.concatenate([[0.0], model.tau[which], [0.0]]) if m else [0.0]
    shape = tables[cell_sets] + model.rows[:, None, None] * steps  # rows x columns x scores
    low, high = np.full(len(totals), -40.0), np.full(len(totals), 40.0)
    for _ in range(60):
        place = (low + high) / 2
        expected, variance, third = _cumulants(shape, place, steps, tried)
        excess = totals - expected + (third / (2 * variance) if weighted else 0.0)
        low, high = np.where(excess > 0, place, low), np.where(excess > 0, high, place)
    limits = np.where(tried, most[cell_sets], 0).sum(axis=0)
    if not weighted:
        place = np.where(totals <= 0, -np.inf, np.where(totals >= limits, np.inf, place))
    return Places(place, 1 / np.sqrt(variance))


def _cumulants(shape: Array, place: Array, steps: Ints, tried: Mask) -> tuple[Array, Array, Array]:
    """Return expectation, variance and third cumulant of each column's total."""
    logits = shape + place[None, :, None] * steps
    chance = np.exp(logits - logits.max(axis=2, keepdims=True))
    chance /= chance.sum(axis=2, keepdims=True)
    mean = chance @ steps
    centred = steps - mean[:, :, None]
    variance, third = (chance * centred**2).sum(axis=2), (chance * centred**3).sum(axis=2)
    return tuple(np.where(tried, values, 0.0).sum(axis=0) for values in (mean, variance, third))
