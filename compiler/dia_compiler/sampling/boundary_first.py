"""Boundary values first: which parameters are at an edge of their type in the first instances.

The classes of a parameter are its boundary values and its interior. The first rows take every boundary value of every
parameter; later ones take, for every two parameters, each pair of classes, by the smallest array that does so:
its columns are subsets of half of the rows, none of which covers another (Katona, 1973; Kleitman and Spencer, 1973).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice
from math import comb
from typing import TypeAlias

# For each parameter the number of its boundary value, None for its interior, or FREE for any value.
Row: TypeAlias = tuple[int | None, ...]
INTERIOR: None = None
FREE = -1


def edge_rows(edges: Sequence[int]) -> list[Row]:
    """Return rows in which each of the `edges[i]` boundary values of parameter i appears at least once.

    >>> edge_rows([2, 3])
    [(0, 0), (1, 1), (0, 2)]
    """
    return [tuple(place % size if size else INTERIOR for size in edges) for place in range(max(edges, default=0))]


def single_rows(edges: Sequence[int], row: Row) -> list[Row]:
    """Return the boundary values of a row one by one, with the interior everywhere else."""
    alone = []
    for at, place in enumerate(row):
        if place is not None and sum(1 for value_place in row if value_place is not None) > 1:
            alone.append(tuple(place if at_column == at else INTERIOR for at_column in range(len(edges))))
    return alone


def pair_rows(edges: Sequence[int]) -> list[Row]:
    """Return rows in which every two parameters with edges have each of the four pairs of classes.

    >>> pair_rows([1, 1, 1])
    [(0, 0, 0), (None, None, 0), (None, 0, None), (0, None, None)]
    """
    varied = [at for at, size in enumerate(edges) if size]
    columns = dict(zip(varied, _columns(len(varied)), strict=True))
    height = len(next(iter(columns.values()), ()))
    return [
        tuple((place % size if size and not columns[at][place] else INTERIOR) for at, size in enumerate(edges))
        for place in range(height)
    ]


def _columns(count: int) -> list[tuple[bool, ...]]:
    """Return the columns of an array of strength two: true is the interior; the first row is all edges."""
    if count == 0:
        return []
    if count == 1:
        return [(False, True)]
    rows = next(n for n in range(4, 4096) if comb(n - 1, (n + 1) // 2) >= count)
    chosen = islice(combinations(range(1, rows), (rows + 1) // 2), count)
    return [tuple(row in subset for row in range(rows)) for subset in map(set, chosen)]
