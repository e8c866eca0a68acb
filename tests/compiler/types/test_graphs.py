"""Graphs as a parameter type: exhausted, counted, connected and trees as networkx sees them, draws pinned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import chain, combinations, permutations, product
from typing import Any

import networkx
import pytest
from dia_compiler.sampling.instance_tree import RecordingChoose, Stream
from dia_compiler.types.base import Domain, OptionFault, key_of
from dia_compiler.types.connected import connected_graphs, pair_number, tree_of
from dia_compiler.types.edges import SpannedEdges
from dia_language.numbers.values import Record
from helpers.drawing import digest, domain, drawn, exhausted
from helpers.examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

Holds = Callable[[Any], bool]


def network(graph: Record) -> Any:
    """The graph as networkx has it."""
    made = networkx.DiGraph() if graph["directed"] else networkx.Graph()
    made.add_nodes_from(graph["nodes"])
    made.add_edges_from(map(tuple, graph["edges"]))
    return made


def graphs(
    nodes: list[Any], lengths: range, holds: Holds = lambda made: True, is_directed: bool = False
) -> list[Record]:
    """Every graph with so many edges that meets the condition."""
    pairs = permutations(nodes, 2) if is_directed else combinations(nodes, 2)
    sets = list(chain.from_iterable(combinations(pairs_, length) for pairs_ in [list(pairs)] for length in lengths))
    found = [Record(nodes=nodes, edges=[list(pair) for pair in edges], directed=is_directed) for edges in sets]
    return [graph for graph in found if holds(network(graph))]


def weighted(found: list[Record], weights: range) -> list[Record]:
    """Every graph with every weighing."""
    return [
        Record(**graph, weights=list(held)) for graph in found for held in product(weights, repeat=len(graph["edges"]))
    ]


def has_parts(made: Any) -> bool:
    return all((a <= 2) != (b <= 2) for a, b in made.edges)


FOUR = [1, 2, 3, 4]
SMALL: dict[str, tuple[Domain, list[Record]]] = {
    "any": (domain("graph", nodes=4), graphs(FOUR, range(7))),
    "one node": (domain("graph", nodes=1), graphs([1], range(1))),
    "chance": (domain("graph", nodes=3, probability=Fraction(1, 5)), graphs([1, 2, 3], range(4))),
    "edges": (domain("graph", nodes=5, edges={"min": 2, "max": 3}), graphs([1, 2, 3, 4, 5], range(2, 4))),
    "directed": (domain("graph", nodes=3, directed=True), graphs([1, 2, 3], range(7), is_directed=True)),
    "named": (domain("graph", nodes=["c", "a", "b"], edges=2), graphs(["a", "b", "c"], range(2, 3))),
    "connected": (domain("graph", nodes=4, connected=True), graphs(FOUR, range(7), networkx.is_connected)),
    "connected with edges": (
        domain("graph", nodes=5, edges={"min": 2, "max": 5}, connected=True),
        graphs([1, 2, 3, 4, 5], range(6), networkx.is_connected),
    ),
    "strongly connected": (
        domain("graph", nodes=3, directed=True, connected=True),
        graphs([1, 2, 3], range(7), networkx.is_strongly_connected, is_directed=True),
    ),
    "tree": (domain("graph", nodes=5, tree=True), graphs([1, 2, 3, 4, 5], range(4, 5), networkx.is_tree)),
    "tree of one node": (domain("graph", nodes=1, tree=True), graphs([1], range(1))),
    "tree of two": (domain("graph", nodes=2, tree=True), graphs([1, 2], range(1, 2))),
    "parts": (domain("graph", parts=[2, 2]), graphs(FOUR, range(5), has_parts)),
    "connected parts": (
        domain("graph", parts=[2, 2], connected=True),
        graphs(FOUR, range(5), lambda made: has_parts(made) and networkx.is_connected(made)),
    ),
    "weighted": (
        domain("graph", nodes=3, weighted={"min": 1, "max": 2}),
        weighted(graphs([1, 2, 3], range(4)), range(1, 3)),
    ),
    "weighted tree": (
        domain("graph", nodes=3, tree=True, weighted={"min": 0, "max": 2}),
        weighted(graphs([1, 2, 3], range(2, 3)), range(3)),
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_small_domain_is_exhausted_exactly(name: str) -> None:
    of, values = SMALL[name]
    assert Counter(map(key_of, exhausted(of, most=20 * len(values) + 50))) == Counter(map(key_of, values))
    assert of.count == len(values) if of.is_counted else of.count >= len(values)
    assert of.is_counted == (name not in ("strongly connected", "connected parts"))
    assert all(of.contains(value) for value in [*values, *of.boundary(), *drawn(of)])


@pytest.mark.parametrize("name", SMALL)
def test_what_another_domain_draws_is_no_member(name: str) -> None:
    of, values = SMALL[name]
    known = set(map(key_of, values))
    strangers = [value for _, held in SMALL.values() for value in held if key_of(value) not in known]
    strangers += [
        Record(value, edges=[*value["edges"], extra]) for value in values[:3] for extra in ([3, 3], [[1], 2], 7)
    ]
    strangers += [Record(value, directed=1) for value in values[:3]] + [Record(values[0], nodes=[True, 2.0])]
    assert len(strangers) > 100 and not any(map(of.contains, strangers))


LARGE: dict[str, tuple[Domain, str]] = {
    "half": (domain("graph", nodes=10), "a077ad92153b26a2"),
    "exact chance": (domain("graph", nodes=12, probability=Fraction(1, 3)), "fd8fe8a1d14d3e4a"),
    "rare": (domain("graph", nodes=60, probability=Fraction(1, 50)), "7cb612bb5a5f2601"),
    "edges": (domain("graph", nodes=10, edges=15), "9b11a7988faacf80"),
    "many edges": (domain("graph", nodes=200, edges=3000), "ebe4b862afa8a787"),
    "directed": (domain("graph", nodes=30, edges={"min": 40, "max": 90}, directed=True), "af58fcbda4ef3132"),
    "connected": (domain("graph", nodes=10, edges=14, connected=True), "05e00f284bf4950f"),
    "sparse": (domain("graph", nodes=100, edges={"min": 99, "max": 120}, connected=True), "016be58f844386cf"),
    "dense": (domain("graph", nodes=40, probability=Fraction(1, 2), connected=True), "94b5aee927463e52"),
    "strong": (domain("graph", nodes=20, edges=90, directed=True, connected=True), "92e1b8cc4cf5bc76"),
    "tree": (domain("graph", nodes=300, tree=True), "bf84d840737eba9e"),
    "weighted": (domain("graph", nodes=8, edges=12, weighted={"min": 1, "max": 99}), "ceddeca2c70b3bd4"),
    "parts": (domain("graph", parts=[5, 6, 7], edges=30), "15280f84c2ac9408"),
}


@pytest.mark.parametrize("name", LARGE)
def test_draws_of_a_large_domain_are_members_and_pinned(name: str) -> None:
    of, pinned = LARGE[name]
    assert all(of.contains(value) for value in [*drawn(of, 10), *of.boundary()])
    assert digest(of) == pinned  # it must never change


@pytest.mark.parametrize("name", LARGE)
def test_positions_of_a_large_domain_differ(name: str) -> None:
    found = exhausted(LARGE[name][0], most=20)
    assert len(found) > 5 and len(set(map(key_of, found))) == len(found)


@pytest.mark.parametrize("name", ["connected", "sparse", "dense", "strong", "tree"])
def test_connected_graphs_are_connected(name: str) -> None:
    for graph in drawn(LARGE[name][0]):
        made = network(graph)
        reaches = networkx.is_strongly_connected if graph["directed"] else networkx.is_connected
        assert reaches(made) and (name != "tree" or networkx.is_tree(made))


def test_edges_ascend_and_join_other_parts() -> None:
    part = [0] * 5 + [1] * 6 + [2] * 7
    for graph in drawn(LARGE["parts"][0]):
        assert graph["edges"] == sorted(graph["edges"]) and len(graph["edges"]) == 30
        assert all(a < b and part[a - 1] != part[b - 1] for a, b in graph["edges"])


def test_a_probability_is_kept() -> None:
    total = sum(len(graph["edges"]) for graph in drawn(LARGE["exact chance"][0], 300))
    assert abs(total - 300 * 66 / 3) < 4 * (300 * 66 * 2 / 9) ** 0.5


@given(st.integers(2, 9), st.data())
def test_trees_are_those_of_their_codes(size: int, data: st.DataObject) -> None:
    code = data.draw(st.lists(st.integers(0, size - 1), min_size=size - 2, max_size=size - 2))
    number = sum(node * size**place for place, node in enumerate(code))
    expected = networkx.from_prufer_sequence(code).edges
    assert tree_of(number, size) == sorted(pair_number(a, b, size) for a, b in expected)


def test_connected_graphs_are_counted() -> None:
    # OEIS A001187, and A057500 for those with as many edges as nodes
    assert [sum(connected_graphs(n, m) for m in range(37)) for n in range(1, 8)] == [1, 1, 4, 38, 728, 26704, 1866256]
    assert [connected_graphs(n, n) for n in range(3, 9)] == [1, 15, 222, 3660, 68295, 1436568]


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(2, 60), st.integers(0, 40), st.integers(0, 2**64))
def test_a_sparse_connected_graph_is_found_at_once(size: int, more: int, seed: int) -> None:
    edges = min(size - 1 + more, size * (size - 1) // 2)
    of = domain("graph", nodes=size, edges=edges, connected=True)
    choose = RecordingChoose((), Stream(seed.to_bytes(32, "big")))
    graph = of.draw(choose)
    assert networkx.is_connected(network(graph)) and len(graph["edges"]) == edges and choose.redraws < 5000


def test_only_what_seldom_clashes_is_built_on_a_tree() -> None:
    assert not SpannedEdges(20, 22, 22).is_spanned(22) and SpannedEdges(100, 120, 120).is_spanned(120)
    assert not SpannedEdges(100, 1000, 1000).is_spanned(1000)


@pytest.mark.parametrize(
    ("options", "option", "word"),
    [
        ({}, "nodes", "between 1 and 500"),
        ({"nodes": 501}, "nodes", "between 1 and 500"),
        ({"nodes": ["a", "a"]}, "nodes", "duplicate"),
        ({"nodes": [["a"]]}, "nodes", "texts or integers"),
        ({"nodes": 4, "edges": 7}, "edges", "between 0 and 6"),
        ({"nodes": 4, "edges": 3, "probability": Fraction(1, 2)}, "probability", "only one of"),
        ({"nodes": 4, "probability": 1}, "probability", "between 0 and 1"),
        ({"nodes": 4, "probability": Fraction(1, 10**7)}, "probability", "denominator"),
        ({"nodes": 300}, None, "at most 20,000 pairs"),
        ({"nodes": 5, "edges": 3, "connected": True}, "edges", "needs at least 4 edges"),
        ({"nodes": 5, "edges": 4, "connected": True, "directed": True}, "edges", "needs at least 5 edges"),
        ({"nodes": 100, "edges": 120, "connected": True, "directed": True}, None, "rarely connected"),
        ({"nodes": 100, "probability": Fraction(1, 100), "connected": True}, None, "rarely connected"),
        ({"nodes": 4, "tree": True, "edges": 3}, "edges", "combined with `tree`"),
        ({"nodes": 4, "tree": True, "directed": True}, "directed", "combined with `tree`"),
        ({"nodes": 4, "parts": [2, 2]}, "parts", "one of `parts` and `nodes`"),
        ({"parts": [2]}, "parts", "two sizes"),
        ({"parts": [2, 0]}, "parts", "positive sizes"),
        ({"nodes": 4, "weighted": True}, "weighted", "min: ..., max: ..."),
        ({"nodes": 4, "connected": "yes"}, "connected", "true or false"),
    ],
)
def test_options_that_cannot_be_are_told(options: dict[str, Any], option: str | None, word: str) -> None:
    with pytest.raises(OptionFault) as caught:
        domain("graph", **options)
    assert caught.value.option == option and word in caught.value.message
