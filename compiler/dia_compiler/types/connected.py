"""Connectivity of graphs, counts of connected graphs, and trees by number."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from functools import cache
from math import comb

Pair = tuple[int, int]


def reached(size: int, edges: Iterable[Pair]) -> int:
    """Return the number of nodes that can be reached from node 0 along the edges."""
    neighbours: list[list[int]] = [[] for _ in range(size)]
    for a, b in edges:
        neighbours[a].append(b)
    visited, waiting = {0}, [0]
    while waiting:
        fresh = [node for node in neighbours[waiting.pop()] if node not in visited]
        visited.update(fresh)
        waiting += dict.fromkeys(fresh)
    return len(visited)


def is_connected(size: int, edges: list[Pair]) -> bool:
    """Return whether every node can be reached from every other along the edges, in either direction."""
    return len(edges) >= size - 1 and reached(size, [*edges, *((b, a) for a, b in edges)]) == size


def is_strongly_connected(size: int, edges: list[Pair]) -> bool:
    """Return whether every node can be reached from every other in the direction of the edges."""
    return reached(size, edges) == size and reached(size, [(b, a) for a, b in edges]) == size


@cache
def connected_graphs(size: int, edges: int) -> int:
    """Return the number of connected graphs on labelled nodes with this many edges.

    Computed as all graphs minus those in which the component of the first node is smaller.
    """
    if not 0 <= edges <= comb(size, 2):
        return 0
    smaller = (
        comb(size - 1, part - 1) * connected_graphs(part, inside) * comb(comb(size - part, 2), edges - inside)
        for part in range(1, size)
        for inside in range(part - 1, min(edges, comb(part, 2)) + 1)
    )
    return comb(comb(size, 2), edges) - sum(smaller)


def tree_of(number: int, size: int) -> list[int]:
    """Return the labelled tree with this number, below size**(size - 2), as the ascending numbers of its edges.

    The digits of the number in base `size` are the Pruefer code of the tree (Pruefer, 1918).
    """
    if size < 2:
        return []
    code = []
    for _ in range(size - 2):
        number, node = divmod(number, size)
        code.append(node)
    return sorted(pair_number(a, b, size) for a, b in _joined(code, size))


def _joined(code: list[int], size: int) -> list[Pair]:
    degrees = [1 + code.count(node) for node in range(size)]
    leaves = [node for node in range(size) if degrees[node] == 1]
    edges = []
    for node in code:
        edges.append((leaves.pop(0), node))
        degrees[node] -= 1
        if degrees[node] == 1:
            insort(leaves, node)
    return [*edges, (leaves[0], leaves[1])]


def pair_number(a: int, b: int, size: int) -> int:
    """Return the number of the undirected edge between two nodes, in the ascending order of all edges."""
    a, b = min(a, b), max(a, b)
    return a * (2 * size - a - 1) // 2 + b - a - 1
