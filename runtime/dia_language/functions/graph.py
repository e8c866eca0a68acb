"""Graphs: their nodes and edges, and what shape they have.

A graph is a record of `nodes`, `edges` (pairs of nodes), `directed`, and `weights` where it has them. It has one
node or more, no loops, and at most one edge between two nodes (in a directed graph one in each direction).
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
    """Graph of the nodes, given as a list or as a number n for 1 to n, and the edges, each a pair of nodes.

    The nodes are integers or texts. In an undirected graph the two ends of an edge are put in the nodes' order.
    `weights` gives each edge a rational weight. At most 100,000 nodes; an error for loops and for two edges between
    the same nodes.

    >>> edges(graph(3, [[2, 1], [2, 3]]))
    [[1, 2], [2, 3]]
    """
    size = nodes if isinstance(nodes, int) else len(nodes)
    if not 1 <= size <= NODES:
        raise LanguageError(f"`graph` takes 1 to {NODES} nodes", code="E501" if size < 1 else "E502")
    named = list(range(1, nodes + 1)) if isinstance(nodes, int) else nodes
    if any(len(edge) != 2 for edge in edges):
        raise LanguageError("an edge is a list of two nodes")
    record = Record(nodes=named, edges=edges, directed=directed)
    if weights is not None:
        record["weights"] = weights
    indexed_graph = indexed(record)
    order = sorted(range(len(edges)), key=lambda at: _ends(indexed_graph, at))
    result = Record(
        nodes=named, edges=[[named[place] for place in _ends(indexed_graph, at)] for at in order], directed=directed
    )
    if weights is not None:
        result["weights"] = [weights[at] for at in order]
    return result


def _ends(graph: IndexedGraph, at: int) -> tuple[int, int]:
    a, b, _ = graph.edges[at]
    return (a, b) if graph.is_directed or a < b else (b, a)


@library_function
def nodes(graph: Graph) -> list[Value]:
    """Nodes of the graph.

    >>> nodes(graph(3, []))
    [1, 2, 3]
    """
    return list(graph["nodes"])


@library_function
def edges(graph: Graph) -> list[list[Value]]:
    """Edges of the graph, each a list of two nodes; of a directed graph from the first to the second.

    >>> edges(graph(["a", "b"], [["b", "a"]])), edges(graph(["a", "b"], [["b", "a"]], True))
    ([['a', 'b']], [['b', 'a']])
    """
    return [list(edge) for edge in graph["edges"]]


@library_function
def neighbours(graph: Graph, node: Value) -> list[Value]:
    """Nodes to which an edge leads from the node, in the graph's order.

    >>> neighbours(graph(4, [[1, 2], [1, 4]]), 1)
    [2, 4]
    """
    indexed_graph = indexed(graph)
    return [indexed_graph.nodes[place] for place in sorted(indexed_graph.after[indexed_graph.place(node)])]


@library_function
def degree_of(graph: Graph, node: Value) -> int:
    """How many edges end at the node, whatever their direction.

    >>> degree_of(graph(4, [[1, 2], [1, 4]]), 1)
    2
    """
    indexed_graph = indexed(graph)
    place = indexed_graph.place(node)
    return sum(place in edge[:2] for edge in indexed_graph.edges)


@library_function
def adjacency_matrix(graph: Graph) -> Matrix:
    """Matrix with the weight of the edge (1 without weights) from the row's node to the column's, 0 without an edge.

    At most 1,000 nodes.

    >>> adjacency_matrix(graph(3, [[1, 2], [2, 3]]))
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
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
    """Connected parts of the graph, each the list of its nodes, in the graph's order; directions do not count.

    >>> components(graph(5, [[1, 3], [2, 5]]))
    [[1, 3], [2, 5], [4]]
    """
    indexed_graph = indexed(graph)
    part, around = [-1] * len(indexed_graph.nodes), _undirected(indexed_graph)
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


def _undirected(graph: IndexedGraph) -> list[list[int]]:
    around: list[list[int]] = [[] for _ in graph.nodes]
    for a, b, _ in graph.edges:
        around[a].append(b)
        around[b].append(a)
    return around


@library_function
def is_connected(graph: Graph) -> bool:
    """Whether every node can be reached from every other along edges; directions do not count.

    >>> is_connected(graph(3, [[1, 2], [2, 3]])), is_connected(graph(3, [[1, 2]]))
    (True, False)
    """
    return len(components(graph)) == 1


@library_function
def is_bipartite(graph: Graph) -> bool:
    """Whether the nodes fall into two groups such that every edge joins one group to the other.

    >>> is_bipartite(graph(4, [[1, 2], [2, 3], [3, 4], [1, 4]])), is_bipartite(graph(3, [[1, 2], [2, 3], [1, 3]]))
    (True, False)
    """
    indexed_graph = indexed(graph)
    side, around = [-1] * len(indexed_graph.nodes), _undirected(indexed_graph)
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
    """Whether one can go along different edges (in a directed graph in their direction) back to where one began.

    >>> has_cycle(graph(3, [[1, 2], [2, 3], [1, 3]])), has_cycle(graph(3, [[1, 2], [2, 3], [1, 3]], True))
    (True, False)
    """
    indexed_graph = indexed(graph)
    if indexed_graph.is_directed:
        return len(_in_order(indexed_graph)) < len(indexed_graph.nodes)
    return len(indexed_graph.edges) > len(indexed_graph.nodes) - len(components(graph))


@library_function
def is_tree(graph: Graph) -> bool:
    """Whether the graph is connected and has no cycle; directions do not count.

    >>> is_tree(graph(3, [[1, 2], [2, 3]])), is_tree(graph(3, [[1, 2]]))
    (True, False)
    """
    return is_connected(graph) and len(graph["edges"]) == len(graph["nodes"]) - 1


@library_function
def topological_order(graph: Graph) -> list[Value]:
    """Nodes of the directed graph in an order in which every edge leads forwards.

    Of several orders the one that always takes the first possible node of the graph. An error where there is a
    cycle. Source: Kahn, Communications of the ACM 5 (1962).

    >>> topological_order(graph(3, [[3, 1], [1, 2]], True))
    [3, 1, 2]
    """
    indexed_graph = indexed(graph)
    if not indexed_graph.is_directed:
        raise LanguageError("`topological_order` needs a directed graph")
    places = _in_order(indexed_graph)
    if len(places) < len(indexed_graph.nodes):
        raise LanguageError("the graph has a cycle, so its nodes have no such order", code="E504")
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
    """How many trees of the graph's edges join all its nodes; weights do not count.

    At most 100 nodes. Source: Kirchhoff (1847), the matrix-tree theorem.

    >>> count_spanning_trees(graph(4, [[1, 2], [2, 3], [3, 4], [1, 4], [1, 3]]))
    8
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
