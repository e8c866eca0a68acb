"""Paths, trees and flows against networkx."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import networkx
from dia_language.numbers.values import Record, normal
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

WEIGHTS = st.integers(1, 9) | st.fractions(1, 5, max_denominator=4).map(normal)


@st.composite
def graphs(draw: st.DrawFn) -> Record:
    size, directed = draw(st.integers(2, 7)), draw(st.booleans())
    pairs = [list(pair) for pair in combinations(range(1, size + 1), 2)]
    if directed:
        pairs += [[b, a] for a, b in pairs]
    chosen = draw(st.lists(st.sampled_from(pairs), unique_by=tuple))
    return call("graph", size, chosen, directed, [draw(WEIGHTS) for _ in chosen])  # type: ignore[no-any-return]


def in_networkx(graph: Record) -> Any:
    made = networkx.DiGraph() if graph["directed"] else networkx.Graph()
    made.add_nodes_from(graph["nodes"])
    made.add_weighted_edges_from((a, b, w) for (a, b), w in zip(graph["edges"], graph["weights"], strict=True))
    return made


@settings(deadline=None)
@given(graphs(), st.lists(st.integers(0, 8), max_size=4))
def test_lengths_of_paths_agree_with_networkx(graph: Record, path: list[int]) -> None:
    known = in_networkx(graph)
    is_path = bool(path) and all(node in known for node in path) and networkx.is_path(known, path)
    expected = networkx.path_weight(known, path, "weight") if is_path else None
    assert call("path_length", graph, path) == expected


def test_a_path_has_only_nodes_of_the_graph() -> None:
    graph = call("graph", ["a", "b"], [["a", "b"]])
    lengths = [
        call("path_length", graph, path) for path in ([], ["a"], ["a", "b", "a"], ["a", ["b"]], ["a", True], ["c"])
    ]
    assert lengths == [None, 0, 2, None, None, None]


@settings(deadline=None)
@given(graphs())
def test_shortest_paths_agree_with_networkx(graph: Record) -> None:
    known, end = in_networkx(graph), len(graph["nodes"])
    if not networkx.has_path(known, 1, end):
        assert code("shortest_path", graph, 1, end) == code("shortest_path_length", graph, 1, end) == "E504"
        assert code("diameter", graph) == "E504"
        return
    assert call("shortest_path_length", graph, 1, end) == networkx.dijkstra_path_length(known, 1, end)
    assert call("shortest_path", graph, 1, end) == min(networkx.all_shortest_paths(known, 1, end, weight="weight"))
    lengths = dict(networkx.all_pairs_dijkstra_path_length(known))
    if all(len(row) == end for row in lengths.values()):
        assert call("diameter", graph) == max(max(row.values()) for row in lengths.values())


@settings(deadline=None)
@given(graphs())
def test_flows_agree_with_networkx(graph: Record) -> None:
    end = len(graph["nodes"])
    wanted = networkx.maximum_flow_value(in_networkx(graph), 1, end, capacity="weight")
    assert call("max_flow", graph, 1, end) == wanted


@settings(deadline=None)
@given(graphs().filter(lambda graph: not graph["directed"]))
def test_lightest_trees_agree_with_networkx(graph: Record) -> None:
    known = in_networkx(graph)
    if networkx.is_connected(known):
        wanted = networkx.minimum_spanning_tree(known, algorithm="prim").size("weight")
        assert call("minimum_spanning_tree_weight", graph) == wanted
    else:
        assert code("minimum_spanning_tree_weight", graph) == "E504"


def test_without_weights_edges_count() -> None:
    square = call("graph", 4, [[1, 2], [2, 3], [3, 4], [1, 4]])
    assert call("shortest_path", square, 1, 3) == [1, 2, 3]
    assert call("shortest_path", square, 2, 2) == [2] and call("shortest_path_length", square, 2, 2) == 0
    assert call("diameter", square) == call("max_flow", square, 1, 3) == 2
    assert call("minimum_spanning_tree_weight", square) == 3


def test_weights_that_make_no_sense_are_refused() -> None:
    negative = call("graph", 2, [[1, 2]], False, [Fraction(-1, 2)])
    for name in ("shortest_path", "shortest_path_length", "max_flow"):
        assert code(name, negative, 1, 2) == "E501"
    assert code("diameter", negative) == code("max_flow", call("graph", 2, []), 1, 1) == "E501"
    assert code("minimum_spanning_tree_weight", call("graph", 2, [[1, 2]], True)) == "E501"
    assert call("minimum_spanning_tree_weight", negative) == Fraction(-1, 2)
    assert code("shortest_path", negative, 1, 3) == "E501"
