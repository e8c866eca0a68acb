"""A graph of the language read once: nodes as places from 0, neighbours as sets of places and as bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.numbers.operators import is_number
from dia_language.numbers.values import Record, Value, is_symbolic, plain


@dataclass(frozen=True)
class IndexedGraph:
    """The graph by node index; `after[i]` maps the neighbours of node i to the weights of the edges."""

    nodes: list[Value]
    places: dict[Value, int]
    edges: list[tuple[int, int, Any]]
    is_directed: bool
    after: list[dict[int, Any]]

    def place(self, node: Value) -> int:
        """The index of the node. Raises LanguageError if the graph does not have it."""
        try:
            return self.places[node]
        except (KeyError, TypeError):
            raise LanguageError(f"the graph has no node {plain(node)}", "`nodes` lists them") from None

    @cached_property
    def around(self) -> list[int]:
        """For each node, its neighbours in either direction as bits. Must not be modified."""
        masks = [0] * len(self.nodes)
        for a, b, _ in self.edges:
            masks[a] |= 1 << b
            masks[b] |= 1 << a
        return masks

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """For each node, its neighbours in either direction. Must not be modified."""
        neighbours: list[list[int]] = [[] for _ in self.nodes]
        for a, b, _ in self.edges:
            neighbours[a].append(b)
            neighbours[b].append(a)
        return neighbours


def indexed(graph: Record) -> IndexedGraph:
    """The checked graph; must not be modified. Raises LanguageError for a record that `graph` cannot create.

    A graph of a recent call is not read again.
    """
    charge(len(graph["nodes"]) + 2 * len(graph["edges"]))
    for record, indexed_graph in _RECENT:
        if record is graph:
            return indexed_graph
    result = _read(graph)
    _RECENT[:] = [(graph, result), *_RECENT[: MOST_RECENT - 1]]
    return result


_RECENT: list[tuple[Record, IndexedGraph]] = []
MOST_RECENT = 4


def _read(graph: Record) -> IndexedGraph:
    nodes, edges, is_directed = graph["nodes"], graph["edges"], graph["directed"]
    if not nodes or not NAMES.issuperset(map(type, nodes)):
        raise LanguageError("a graph needs one or more nodes, each an integer or a text")
    places = {node: place for place, node in enumerate(nodes)}
    if len(places) < len(nodes):
        raise LanguageError("two nodes of the graph are equal")
    result = IndexedGraph(nodes, places, [], is_directed, [{} for _ in nodes])
    after, append = result.after, result.edges.append
    for (one, other), weight in zip(edges, _weights(graph), strict=True):
        try:
            a, b = places[one], places[other]
        except (KeyError, TypeError):
            a, b = result.place(one), result.place(other)  # raises an error that names the node
        if a == b or b in after[a]:
            raise LanguageError("each edge must join two different nodes, and no two edges may join the same nodes")
        append((a, b, weight))
        after[a][b] = weight
        if not is_directed:
            after[b][a] = weight
    return result


NAMES = frozenset({int, str})


def _weights(graph: Record) -> list[Any]:
    """The weights of the graph's edges; all 1 in an unweighted graph."""
    if "weights" not in graph:
        return [1] * len(graph["edges"])
    weights = graph["weights"]
    if type(weights) is not list or len(weights) != len(graph["edges"]) or not all(map(_is_weight, weights)):
        raise LanguageError("a weighted graph needs one rational weight for each edge")
    return weights


def _is_weight(weight: Value) -> bool:
    return is_number(weight) and not is_symbolic(weight)


def require_size(name: str, graph: IndexedGraph, most: int) -> None:
    """Raise LanguageError if the graph has more nodes than the function accepts."""
    if len(graph.nodes) > most:
        raise LanguageError(f"`{name}` accepts graphs of at most {most:,} nodes", code="E502")
