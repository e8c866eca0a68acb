"""Paths in graphs: shortest paths, minimum spanning trees, maximum flow. Weights are exact."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import Any

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Graph, Rational, Value
from dia_language.functions.indexed_graph import IndexedGraph, indexed
from dia_language.functions.registry import library_function


@library_function
def shortest_path(graph: Graph, start: Value, end: Value) -> list[Value]:
    """The nodes of the shortest path from `start` to `end`, both included.

    The length is the sum of the weights, which must be positive, or the number of edges in an unweighted graph. If
    there are several shortest paths, the result is the first of them when nodes are compared one by one in the graph's
    node order. Raises an error if there is no path. Source: Dijkstra, Numerische Mathematik 1 (1959).

    Examples:
        shortest_path(graph(4, [[1, 2], [1, 3], [2, 4], [3, 4]]), 1, 4) -> [1, 2, 4]
    """
    indexed_graph = _positive("shortest_path", indexed(graph))
    at, target = indexed_graph.place(start), indexed_graph.place(end)
    left = _distances(_turned(indexed_graph), target)
    _reached(left, at)
    path = [at]
    while at != target:
        at = next(
            other
            for other in sorted(indexed_graph.after[at])
            if left.get(other) == left[at] - indexed_graph.after[at][other]
        )
        path.append(at)
    return [indexed_graph.nodes[place] for place in path]


@library_function
def shortest_path_length(graph: Graph, start: Value, end: Value) -> Rational:
    """The length of the shortest path from `start` to `end`.

    The length is the sum of the weights, which must be positive, or the number of edges in an unweighted graph. Raises
    an error if there is no path.

    Examples:
        shortest_path_length(graph(3, [[1, 2], [2, 3], [1, 3]], false, [2, 3, 7]), 1, 3) -> 5
    """
    indexed_graph = _positive("shortest_path_length", indexed(graph))
    return _reached(_distances(indexed_graph, indexed_graph.place(start)), indexed_graph.place(end))


@library_function
def path_length(graph: Graph, path: list[Value]) -> Rational | None:
    """The length of a path, given as the list of its nodes; none if the graph has no such path.

    The length is the sum of the weights, or the number of edges in an unweighted graph. A path may visit a node twice.
    A list with one node has the length 0; an empty list is not a path.

    Examples:
        path_length(graph(3, [[1, 2], [2, 3]], false, [2, 7]), [1, 2, 3]) -> 9
        path_length(graph(3, [[1, 2], [2, 3]], false, [2, 7]), [1, 3]) -> none
    """
    indexed_graph = indexed(graph)
    charge(len(path))
    places = [indexed_graph.places[node] for node in path if type(node) in (int, str) and node in indexed_graph.places]
    if not path or len(places) < len(path):
        return None
    weights = [indexed_graph.after[a][b] for a, b in pairwise(places) if b in indexed_graph.after[a]]
    return sum(weights) if len(weights) == len(places) - 1 else None


@library_function
def diameter(graph: Graph) -> Rational:
    """The greatest length of a shortest path between two nodes of the graph.

    Lengths are those of `shortest_path_length`. Raises an error if a node cannot be reached from another.

    Examples:
        diameter(graph(4, [[1, 2], [2, 3], [3, 4]])) -> 3
    """
    indexed_graph = _positive("diameter", indexed(graph))
    eccentricities: list[Rational] = []
    for start in range(len(indexed_graph.nodes)):
        lengths = _distances(indexed_graph, start)
        if len(lengths) < len(indexed_graph.nodes):
            raise LanguageError("a node of the graph cannot be reached from another", code="E504")
        eccentricities.append(max(lengths.values()))
    return max(eccentricities)


def _distances(graph: IndexedGraph, start: int) -> dict[int, Rational]:
    """The length of the shortest path to each reachable node."""
    charge(len(graph.nodes) + 2 * len(graph.edges))
    if all(weight == 1 for _, _, weight in graph.edges):
        return _steps(graph, start)
    lengths: dict[int, Rational] = {}
    waiting: list[tuple[Rational, int]] = [(0, start)]
    while waiting:
        length, place = heapq.heappop(waiting)
        if place in lengths:
            continue
        lengths[place] = length
        for other, weight in graph.after[place].items():
            if other not in lengths:
                heapq.heappush(waiting, (length + weight, other))
    return lengths


def _steps(graph: IndexedGraph, start: int) -> dict[int, Rational]:
    """The smallest number of edges from the start to each reachable node, breadth first."""
    lengths: dict[int, Rational] = {start: 0}
    places = [start]
    for place in places:
        length = lengths[place] + 1
        for other in graph.after[place]:
            if other not in lengths:
                lengths[other] = length
                places.append(other)
    return lengths


def _reached(lengths: dict[int, Rational], place: int) -> Rational:
    if place not in lengths:
        raise LanguageError("there is no path between the two nodes", code="E504")
    return lengths[place]


def _turned(graph: IndexedGraph) -> IndexedGraph:
    """The graph with all edges reversed."""
    after: list[dict[int, Any]] = [{} for _ in graph.nodes]
    for place, others in enumerate(graph.after):
        for other, weight in others.items():
            after[other][place] = weight
    return IndexedGraph(graph.nodes, graph.places, graph.edges, graph.is_directed, after)


def _positive(name: str, graph: IndexedGraph) -> IndexedGraph:
    if any(weight <= 0 for _, _, weight in graph.edges):
        raise LanguageError(f"`{name}` needs positive weights")
    return graph


@library_function
def minimum_spanning_tree_weight(graph: Graph) -> Rational:
    """The total weight of a minimum spanning tree of an undirected graph.

    In an unweighted graph each edge counts as 1. Raises an error if the graph is not connected. Source: Kruskal,
    Proceedings of the American Mathematical Society 7 (1956).

    Examples:
        minimum_spanning_tree_weight(graph(3, [[1, 2], [2, 3], [1, 3]], false, [2, 3, 7])) -> 5
    """
    indexed_graph = indexed(graph)
    if indexed_graph.is_directed:
        raise LanguageError("`minimum_spanning_tree_weight` needs an undirected graph")
    leader = list(range(len(indexed_graph.nodes)))
    total: Rational = 0
    joined = 1
    for a, b, weight in sorted(indexed_graph.edges, key=lambda edge: edge[2]):
        first, second = _leader(leader, a), _leader(leader, b)
        if first != second:
            leader[first], total, joined = second, total + weight, joined + 1
    if joined < len(indexed_graph.nodes):
        raise LanguageError("the graph is not connected", code="E504")
    return total


def _leader(leader: list[int], place: int) -> int:
    while leader[place] != place:
        leader[place] = leader[leader[place]]
        place = leader[place]
    return place


@library_function
def max_flow(graph: Graph, source: Value, sink: Value) -> Rational:
    """The maximum flow from `source` to `sink`, where the weight of each edge is its capacity.

    Weights must be 0 or more; in an unweighted graph each edge has capacity 1. An edge of an undirected graph can carry
    flow in either direction. The result equals the capacity of a minimum cut. Source: Edmonds and Karp, Journal of the
    ACM 19 (1972).

    Examples:
        max_flow(graph(4, [[1, 2], [1, 3], [2, 4], [3, 4]], true, [3, 2, 2, 3]), 1, 4) -> 4
    """
    indexed_graph = indexed(graph)
    start, end = indexed_graph.place(source), indexed_graph.place(sink)
    if start == end or any(weight < 0 for _, _, weight in indexed_graph.edges):
        raise LanguageError("`max_flow` needs two different nodes, and weights that are 0 or more")
    spare = [dict(others) for others in indexed_graph.after]
    for a, b, _ in indexed_graph.edges:
        spare[b].setdefault(a, 0)
    total: Rational = 0
    while (path := _augmenting(spare, start, end)) is not None:
        carried = min(spare[a][b] for a, b in path)
        total += carried
        for a, b in path:
            spare[a][b] -= carried
            spare[b][a] += carried
    return total


def _augmenting(spare: list[dict[int, Any]], start: int, end: int) -> list[tuple[int, int]] | None:
    """The edges of the shortest augmenting path; None if there is none."""
    came: dict[int, int] = {start: start}
    waiting = [start]
    for place in waiting:
        charge(1 + len(spare[place]))
        for other, room in spare[place].items():
            if room > 0 and other not in came:
                came[other] = place
                waiting.append(other)
    if end not in came:
        return None
    path, place = [], end
    while place != start:
        path.append((came[place], place))
        place = came[place]
    return path
