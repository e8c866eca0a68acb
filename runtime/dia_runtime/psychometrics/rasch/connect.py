"""Which models and items are connected, so that one scale can contain them.

Joint and conditional estimates are finite if for every split of the data each side has a win over the other (Fischer
1981): the graph of wins is strongly connected. With random items it only needs to be connected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dia_runtime.psychometrics.rasch.counts import Array, Mask
from numpy.typing import NDArray

AT_ONCE = 16
FIRST_LOOK = 256  # rows and columns
Neighbours = Callable[[NDArray[np.intp]], Mask]
Labels = NDArray[np.intp]


def extremes(successes: Array, trials: NDArray[Any], fixed_rows: Mask, fixed_columns: Mask | None) -> tuple[Mask, Mask]:
    """Return the rows and columns that remain after repeatedly removing those with all or no successes.

    Columns are not removed if `fixed_columns` is None; otherwise fixed ones always remain.
    """
    rows, columns = np.ones(len(successes), dtype=bool), np.ones(successes.shape[1], dtype=bool)
    while True:
        before = int(rows.sum() + columns.sum())
        rows &= fixed_rows | _is_not_extreme(successes, trials, columns, 1)
        if fixed_columns is not None:
            columns &= fixed_columns | _is_not_extreme(successes, trials, rows, 0)
        if int(rows.sum() + columns.sum()) == before:
            return rows, columns


def _is_not_extreme(successes: Array, trials: NDArray[Any], counted: Mask, axis: int) -> Mask:
    weights = counted.astype(float)
    every = np.broadcast_to(trials, successes.shape)
    if axis == 1:
        total = successes @ weights
        most = trials[:, 0] * weights.sum() if trials.shape[1] == 1 else _product_in_parts(every, weights)
    else:
        total, most = (
            weights @ successes,
            _product_in_parts(every.T, weights) if trials.shape[1] > 1 else weights @ every,
        )
    return np.asarray((total > 0) & (total < most))


def _product_in_parts(matrix: NDArray[Any], weights: Array) -> Array:
    """Return the product of a matrix of small numbers and a vector, one part at a time."""
    step = max(1, (1 << 20) // max(1, matrix.shape[1]))
    parts = [matrix[at : at + step].astype(float) @ weights for at in range(0, len(matrix), step)]
    return np.concatenate(parts)


@dataclass(frozen=True, slots=True, eq=False)
class FixedNodes:
    """Rows and columns with given places; `tied` if these connect what the data do not."""

    rows: Mask
    columns: Mask
    tied: bool

    @property
    def nodes(self) -> NDArray[np.intp]:
        """Return their numbers, columns after rows."""
        return np.flatnonzero(np.concatenate([self.rows, self.columns]))


def components(
    successes: Array, trials: NDArray[Any], strong: bool, fixed: FixedNodes | None = None
) -> tuple[Labels, Labels]:
    """Return the block of each row and column; block 0 is the largest, or the largest with a given place."""
    all_trials = np.broadcast_to(trials, successes.shape)
    if _is_plainly_connected(successes, trials, strong):
        return np.zeros(len(successes), dtype=np.intp), np.zeros(successes.shape[1], dtype=np.intp)

    def wins(at: NDArray[np.intp]) -> Mask:
        return np.asarray((successes[at] > 0 if strong else all_trials[at] > 0).any(axis=0))

    def failed(at: NDArray[np.intp]) -> Mask:
        return np.asarray((successes[:, at] < all_trials[:, at] if strong else all_trials[:, at] > 0).any(axis=1))

    def fails(at: NDArray[np.intp]) -> Mask:
        return np.asarray((successes[at] < all_trials[at]).any(axis=0))

    def won(at: NDArray[np.intp]) -> Mask:
        return np.asarray((successes[:, at] > 0).any(axis=1))

    if _reach_all(wins, failed, successes.shape) and (not strong or _reach_all(fails, won, successes.shape)):
        return np.zeros(len(successes), dtype=np.intp), np.zeros(successes.shape[1], dtype=np.intp)
    return _labelled(successes, all_trials, strong, fixed)


def _is_plainly_connected(successes: Array, trials: NDArray[Any], strong: bool) -> bool:
    """Return whether the first columns show that everything is connected: each row beats every other somewhere.

    Columns with all or no successes have been removed, so each remaining one is connected to some row in both
    directions.
    """
    if not strong:
        return bool(trials.shape[1] == 1)
    if len(successes) > FIRST_LOOK:
        return False
    some = successes[:, :FIRST_LOOK]
    lost = some < (trials if trials.shape[1] == 1 else trials[:, :FIRST_LOOK])
    beaten = (some > 0).astype(np.float32) @ lost.astype(np.float32).T
    np.fill_diagonal(beaten, 1)
    return bool(beaten.all())


def _reach_all(onwards: Neighbours, back: Neighbours, shape: tuple[int, ...]) -> bool:
    """Return whether everything is reached from the first row."""
    reached = (np.zeros(shape[0], dtype=bool), np.zeros(shape[1], dtype=bool))
    reached[0][0] = True
    queues: tuple[list[int], list[int]] = ([0], [])
    neighbours = (onwards, back)
    while queues[0] or queues[1]:
        for side in (0, 1):
            here = np.array(queues[side][:AT_ONCE], dtype=np.intp)
            del queues[side][:AT_ONCE]
            if len(here) and not reached[1 - side].all():
                new = neighbours[side](here) & ~reached[1 - side]
                reached[1 - side][new] = True
                queues[1 - side].extend(np.flatnonzero(new).tolist())
        if reached[0].all() and reached[1].all():
            return True
    return False


def _labelled(successes: Array, trials: NDArray[Any], strong: bool, fixed: FixedNodes | None) -> tuple[Labels, Labels]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size, number = len(successes), sum(successes.shape)
    rows, columns = np.nonzero(trials > 0)
    won = successes[rows, columns] > 0 if strong else np.ones(len(rows), dtype=bool)
    lost = successes[rows, columns] < trials[rows, columns] if strong else won
    heads = np.concatenate([rows[won], columns[lost] + size])
    tails = np.concatenate([columns[won] + size, rows[lost]])
    fixed_nodes = np.zeros(0, dtype=np.intp) if fixed is None else fixed.nodes
    if fixed is not None and fixed.tied:  # their distance is known without any replies
        heads, tails = np.concatenate([heads, fixed_nodes]), np.concatenate([tails, np.roll(fixed_nodes, 1)])
    graph = coo_matrix((np.ones(len(heads), dtype=np.int8), (heads, tails)), shape=(number, number))
    _, labels = connected_components(graph, directed=True, connection="strong" if strong else "weak")
    sizes = np.bincount(labels)
    holds = np.bincount(labels[fixed_nodes], minlength=len(sizes)) > 0
    order = np.lexsort((-sizes, ~holds))
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[order] = np.arange(len(sizes))
    return rank[labels[:size]], rank[labels[size:]]
