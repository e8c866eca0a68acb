"""Graphs against networkx."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx
import pytest
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import Record
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st


@st.composite
def graphs(draw: st.DrawFn, directed: bool = False) -> Record:
    names = draw(
        st.lists(st.integers(0, 20) | st.text("abc", min_size=1, max_size=2), min_size=1, max_size=8, unique=True)
    )
    pairs = [list(pair) for pair in combinations(names, 2)]
    if directed:
        pairs += [[b, a] for a, b in pairs]
    chosen = draw(st.lists(st.sampled_from(pairs), unique_by=tuple)) if pairs else []
    return call("graph", names, chosen, directed)  # type: ignore[no-any-return]


def in_networkx(graph: Record) -> Any:
    made = networkx.DiGraph() if graph["directed"] else networkx.Graph()
    made.add_nodes_from(graph["nodes"])
    made.add_edges_from(map(tuple, graph["edges"]))
    return made


@settings(deadline=None)
@given(graphs())
def test_undirected_graphs_have_the_shape_that_networkx_sees(graph: Record) -> None:
    known = in_networkx(graph)
    place = {node: at for at, node in enumerate(call("nodes", graph))}
    assert call("nodes", graph) == list(known) and len(call("edges", graph)) == known.number_of_edges()
    assert all(place[a] < place[b] for a, b in call("edges", graph))
    assert call("edges", graph) == sorted(call("edges", graph), key=lambda edge: [place[node] for node in edge])
    assert call("adjacency_matrix", graph) == networkx.to_numpy_array(known, dtype=int).tolist()
    assert {frozenset(part) for part in call("components", graph)} == set(
        map(frozenset, networkx.connected_components(known))
    )
    assert call("is_connected", graph) is networkx.is_connected(known)
    assert call("is_bipartite", graph) is networkx.is_bipartite(known)
    assert call("is_tree", graph) is networkx.is_tree(known)
    assert call("has_cycle", graph) is bool(networkx.cycle_basis(known))
    for node in graph["nodes"]:
        assert call("degree_of", graph, node) == known.degree(node)
        assert call("neighbours", graph, node) == sorted(known.neighbors(node), key=place.__getitem__)


@settings(deadline=None)
@given(graphs(directed=True))
def test_directed_graphs_have_the_shape_that_networkx_sees(graph: Record) -> None:
    known = in_networkx(graph)
    place = {node: at for at, node in enumerate(graph["nodes"])}
    assert call("adjacency_matrix", graph) == networkx.to_numpy_array(known, dtype=int).tolist()
    assert call("is_connected", graph) is networkx.is_weakly_connected(known)
    assert call("has_cycle", graph) is not networkx.is_directed_acyclic_graph(known)
    for node in graph["nodes"]:
        assert call("neighbours", graph, node) == sorted(known.successors(node), key=place.__getitem__)
        assert call("degree_of", graph, node) == known.degree(node)
    if networkx.is_directed_acyclic_graph(known):
        order = call("topological_order", graph)
        assert order == list(networkx.lexicographical_topological_sort(known, key=place.__getitem__))
    else:
        assert code("topological_order", graph) == "E504"


@settings(deadline=None)
@given(graphs())
def test_spanning_trees_are_as_many_as_subsets_of_edges_that_are_trees(graph: Record) -> None:
    nodes, edges = graph["nodes"], graph["edges"]
    if len(edges) <= 10:
        subsets = combinations(edges, len(nodes) - 1)
        trees = [
            part for part in subsets if networkx.is_tree(in_networkx(Record(nodes=nodes, edges=part, directed=False)))
        ]
        assert call("count_spanning_trees", graph) == len(trees)


def test_complete_graphs_have_the_trees_that_cayley_counted() -> None:
    assert call("count_spanning_trees", call("graph", 7, [list(pair) for pair in combinations(range(1, 8), 2)])) == 7**5
    assert call("count_spanning_trees", call("graph", 1, [])) == 1


def test_edges_are_put_in_order_with_their_weights() -> None:
    made = call("graph", 3, [[3, 2], [2, 1]], False, [5, 7])
    assert made == Record(nodes=[1, 2, 3], edges=[[1, 2], [2, 3]], directed=False, weights=[7, 5])
    assert call("adjacency_matrix", made) == [[0, 7, 0], [7, 0, 5], [0, 5, 0]]
    assert call("edges", call("graph", 3, [[3, 2], [2, 3]], True)) == [[2, 3], [3, 2]]


def test_what_is_no_graph_is_refused() -> None:
    for arguments in ((0, []), (2, [[1, 1]]), (2, [[1, 2], [2, 1]]), (2, [[1, 3]]), (2, [[1]]), ([1, 1], []),
                      ([], []), ([[1]], []), (2, [[1, 2]], False, [1, 2]), (2, [[1, 2]], True, [call("sqrt", 2)])):  # fmt: skip
        assert code("graph", *arguments) == "E501"
    assert code("graph", 10**7, []) == code("adjacency_matrix", call("graph", 1001, [])) == "E502"
    assert code("count_spanning_trees", call("graph", 101, [])) == "E502"
    assert (
        code("count_spanning_trees", call("graph", 2, [], True))
        == code("topological_order", call("graph", 2, []))
        == "E501"
    )
    hostile = Record(nodes=[1, 2], edges=[[1, [2]]], directed=False)
    assert code("components", hostile) == code("degree_of", call("graph", 2, []), 5) == "E501"
    with pytest.raises(LanguageError, match="`nodes` needs a graph as `graph`; this is a record"):
        call("nodes", Record(nodes=[1]))


def test_a_graph_that_was_read_is_not_taken_for_another_that_is_alike() -> None:
    first = call("graph", 3, [[1, 2], [2, 3]])
    for graph in (first, Record(first), Record(first, directed=True), first):
        degrees = [call("degree_of", graph, node) for node in (1, 2, 3)]
        assert degrees == [1, 2, 1]
        assert call("adjacency_matrix", graph)[1] == [0 if graph["directed"] else 1, 0, 1]
    damaged = Record(first, edges=[[1, 1]])
    for _ in range(2):
        with pytest.raises(LanguageError):
            call("degree_of", damaged, 1)
    assert call("degree_of", first, 2) == 2
