"""Graphs: their nodes, edges and properties.

A graph is a record of `nodes`, `edges` (pairs of nodes), `directed`, and, for a weighted graph, `weights`. It has one
or more nodes, no loops, and at most one edge between two nodes (in a directed graph, one in each direction).
"""

from __future__ import annotations

import heapq

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Graph, Matrix, Number, Value
from dia_language.functions.indexed_graph import IndexedGraph, indexed, require_size
from dia_language.functions.linear_algebra import det
from dia_language.functions.registry import library_function
from dia_language.numbers.values import Record

NODES = 100_000
MATRIX_NODES = 1_000
TREES_NODES = 100


@library_function
def graph(
    nodes: int | list[Value], edges: list[list[Value]], directed: bool = False, weights: list[Number] | None = None
) -> Record:
    """The graph with the given nodes and edges.

    `nodes` is a list of integers or texts, or a number n for the nodes 1 to n. Each edge is a list of two nodes; in an
    undirected graph its ends are sorted into node order. `weights` gives a rational weight for each edge. At most
    100,000 nodes. Raises an error for loops and for two edges between the same nodes.

    Examples:
        edges(graph(3, [[2, 1], [2, 3]])) -> [[1, 2], [2, 3]]
    """
    size = nodes if isinstance(nodes, int) else len(nodes)
    if not 1 <= size <= NODES:
        raise LanguageError(f"`graph` needs 1 to {NODES:,} nodes", code="E501" if size < 1 else "E502")
    named = list(range(1, nodes + 1)) if isinstance(nodes, int) else nodes
    if any(len(edge) != 2 for edge in edges):
        raise LanguageError("each edge must be a list of two nodes")
    record = Record(nodes=named, edges=edges, directed=directed)
    if weights is not None:
        record["weights"] = weights
    indexed_graph = indexed(record)
    ends = [(a, b) if directed or a < b else (b, a) for a, b, _ in indexed_graph.edges]
    order = sorted(range(len(edges)), key=ends.__getitem__)
    ordered = [[named[a], named[b]] for a, b in map(ends.__getitem__, order)]
    result = Record(nodes=named, edges=ordered, directed=directed)
    if weights is not None:
        result["weights"] = [weights[at] for at in order]
    return result


@library_function
def nodes(graph: Graph) -> list[Value]:
    """The nodes of the graph.

    Examples:
        nodes(graph(3, [])) -> [1, 2, 3]
    """
    return list(graph["nodes"])


@library_function
def edges(graph: Graph) -> list[list[Value]]:
    """The edges of the graph, each as a list of two nodes; in a directed graph, from the first to the second.

    Examples:
        edges(graph(["a", "b"], [["b", "a"]])) -> [["a", "b"]]
        edges(graph(["a", "b"], [["b", "a"]], true)) -> [["b", "a"]]
    """
    return [list(edge) for edge in graph["edges"]]


@library_function
def neighbours(graph: Graph, node: Value) -> list[Value]:
    """The nodes to which an edge leads from `node`, in the graph's node order.

    Examples:
        neighbours(graph(4, [[1, 2], [1, 4]]), 1) -> [2, 4]
    """
    indexed_graph = indexed(graph)
    return [indexed_graph.nodes[place] for place in sorted(indexed_graph.after[indexed_graph.place(node)])]


@library_function
def degree_of(graph: Graph, node: Value) -> int:
    """The number of edges at the node, in either direction.

    Examples:
        degree_of(graph(4, [[1, 2], [1, 4]]), 1) -> 2
    """
    indexed_graph = indexed(graph)
    place = indexed_graph.place(node)
    return sum(place in edge[:2] for edge in indexed_graph.edges)


@library_function
def adjacency_matrix(graph: Graph) -> Matrix:
    """The adjacency matrix: the weight of the edge from the row's node to the column's node, 0 if there is none.

    In an unweighted graph every edge counts as 1. At most 1,000 nodes.

    Examples:
        adjacency_matrix(graph(3, [[1, 2], [2, 3]])) -> [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    indexed_graph = indexed(graph)
    require_size("adjacency_matrix", indexed_graph, MATRIX_NODES)
    size = len(indexed_graph.nodes)
    charge(size * size)
    rows: Matrix = [[0] * size for _ in range(size)]
    for row, others in zip(rows, indexed_graph.after, strict=True):
        for column, weight in others.items():
            row[column] = weight
    return rows


@library_function
def components(graph: Graph) -> list[list[Value]]:
    """The connected components, each as a list of its nodes, in the graph's node order; edge directions are ignored.

    Examples:
        components(graph(5, [[1, 3], [2, 5]])) -> [[1, 3], [2, 5], [4]]
    """
    indexed_graph = indexed(graph)
    part, around = [-1] * len(indexed_graph.nodes), indexed_graph.neighbours
    for start in range(len(part)):
        waiting = [start] if part[start] < 0 else []
        while waiting:
            place = waiting.pop()
            if part[place] < 0:
                part[place] = start
                waiting += around[place]
    members: dict[int, list[Value]] = {}
    for place, node in enumerate(indexed_graph.nodes):
        members.setdefault(part[place], []).append(node)
    return list(members.values())


@library_function
def is_connected(graph: Graph) -> bool:
    """Whether every node can be reached from every other; edge directions are ignored.

    Examples:
        is_connected(graph(3, [[1, 2], [2, 3]])) -> True
        is_connected(graph(3, [[1, 2]])) -> False
    """
    return len(components(graph)) == 1


@library_function
def is_bipartite(graph: Graph) -> bool:
    """Whether the nodes can be split into two groups such that every edge joins one group to the other.

    Examples:
        is_bipartite(graph(4, [[1, 2], [2, 3], [3, 4], [1, 4]])) -> True
        is_bipartite(graph(3, [[1, 2], [2, 3], [1, 3]])) -> False
    """
    indexed_graph = indexed(graph)
    side, around = [-1] * len(indexed_graph.nodes), indexed_graph.neighbours
    for start in range(len(side)):
        if side[start] >= 0:
            continue
        side[start], waiting = 0, [start]
        while waiting:
            place = waiting.pop()
            for other in around[place]:
                if side[other] < 0:
                    side[other] = 1 - side[place]
                    waiting.append(other)
    return all(side[a] != side[b] for a, b, _ in indexed_graph.edges)


@library_function
def has_cycle(graph: Graph) -> bool:
    """Whether the graph has a cycle; in a directed graph, one that follows the edge directions.

    Examples:
        has_cycle(graph(3, [[1, 2], [2, 3], [1, 3]])) -> True
        has_cycle(graph(3, [[1, 2], [2, 3], [1, 3]], true)) -> False
    """
    indexed_graph = indexed(graph)
    if indexed_graph.is_directed:
        return len(_in_order(indexed_graph)) < len(indexed_graph.nodes)
    return len(indexed_graph.edges) > len(indexed_graph.nodes) - len(components(graph))


@library_function
def is_tree(graph: Graph) -> bool:
    """Whether the graph is connected and has no cycle; edge directions are ignored.

    Examples:
        is_tree(graph(3, [[1, 2], [2, 3]])) -> True
        is_tree(graph(3, [[1, 2]])) -> False
    """
    return is_connected(graph) and len(graph["edges"]) == len(graph["nodes"]) - 1


@library_function
def topological_order(graph: Graph) -> list[Value]:
    """The nodes of a directed graph, ordered so that every edge points forward.

    If there are several such orders, each step takes the possible node that comes first in the graph's node order.
    Raises an error if the graph has a cycle. Source: Kahn, Communications of the ACM 5 (1962).

    Examples:
        topological_order(graph(3, [[3, 1], [1, 2]], true)) -> [3, 1, 2]
    """
    indexed_graph = indexed(graph)
    if not indexed_graph.is_directed:
        raise LanguageError("`topological_order` needs a directed graph")
    places = _in_order(indexed_graph)
    if len(places) < len(indexed_graph.nodes):
        raise LanguageError("the graph has a cycle, so it has no topological order", code="E504")
    return [indexed_graph.nodes[place] for place in places]


def _in_order(graph: IndexedGraph) -> list[int]:
    before = [0] * len(graph.nodes)
    for _, b, _ in graph.edges:
        before[b] += 1
    ready = [place for place, count in enumerate(before) if not count]
    ordered = []
    while ready:
        place = heapq.heappop(ready)
        ordered.append(place)
        for other in graph.after[place]:
            before[other] -= 1
            if not before[other]:
                heapq.heappush(ready, other)
    return ordered


@library_function
def count_spanning_trees(graph: Graph) -> int:
    """The number of spanning trees of the graph; weights are ignored.

    At most 100 nodes. Source: Kirchhoff (1847), the matrix-tree theorem.

    Examples:
        count_spanning_trees(graph(4, [[1, 2], [2, 3], [3, 4], [1, 4], [1, 3]])) -> 8
    """
    indexed_graph = indexed(graph)
    require_size("count_spanning_trees", indexed_graph, TREES_NODES)
    if indexed_graph.is_directed:
        raise LanguageError("`count_spanning_trees` needs an undirected graph")
    size = len(indexed_graph.nodes)
    rows = [
        [
            len(indexed_graph.after[row]) if row == column else -int(column in indexed_graph.after[row])
            for column in range(1, size)
        ]
        for row in range(1, size)
    ]
    return int(det(rows)) if rows else 1
