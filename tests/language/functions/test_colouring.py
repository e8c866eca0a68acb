"""Colourings and cliques against brute force and networkx."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import networkx
import pytest
from dia_language.numbers.values import Record
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st


def graphs(most: int) -> st.SearchStrategy[Record]:
    def made(size: int) -> st.SearchStrategy[Record]:
        pairs = [list(pair) for pair in combinations(range(1, size + 1), 2)]
        kept = st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))
        return kept.map(lambda bits: call("graph", size, [pair for pair, bit in zip(pairs, bits, strict=True) if bit]))

    return st.integers(1, most).flatmap(made)


def proper(graph: Record, colours: int) -> int:
    places = {node: at for at, node in enumerate(graph["nodes"])}
    edges = [(places[a], places[b]) for a, b in graph["edges"]]
    tried = product(range(colours), repeat=len(places))
    return sum(all(chosen[a] != chosen[b] for a, b in edges) for chosen in tried)


@settings(deadline=None, max_examples=examples(60))
@given(graphs(5), st.integers(0, 4))
def test_colourings_are_as_many_as_brute_force_finds(graph: Record, colours: int) -> None:
    assert call("count_colourings", graph, colours) == proper(graph, colours)


@settings(deadline=None, max_examples=examples(100))
@given(graphs(5), st.lists(st.lists(st.sampled_from(["a", "b", 1, 2]), max_size=3), min_size=5, max_size=5))
def test_colourings_with_choices_are_those_of_brute_force(graph: Record, choices: list[list[Any]]) -> None:
    choices = choices[: len(graph["nodes"])]
    expected = {
        values for values in product(*choices) if all(values[a - 1] != values[b - 1] for a, b in graph["edges"])
    }
    colourings = call("colourings", graph, choices, 1000)
    assert set(map(tuple, colourings)) == expected and len(colourings) == len(expected)
    assert call("colourings", graph, choices) == colourings[:2]


def test_a_sudoku_is_coloured_as_its_author_published_it() -> None:
    # Arto Inkala (2010); the solution is also in the tests of exact covers
    clues = "..53.....8......2..7..1.5..4....53...1..7...6..32...8..6.5....9..4....3......97.."
    cells = list(product(range(9), repeat=2))
    edges = [
        [a, b]
        for (a, (r, c)), (b, (s, d)) in combinations(enumerate(cells), 2)
        if r == s or c == d or (r // 3, c // 3) == (s // 3, d // 3)
    ]
    sudoku = call("graph", list(range(81)), edges)
    choices = [list("123456789") if clue == "." else [clue] for clue in clues]
    assert ["".join(digits) for digits in call("colourings", sudoku, choices)] == [
        "145327698839654127672918543496185372218473956753296481367542819984761235521839764"
    ]


def test_wrong_choices_of_colours_are_refused() -> None:
    two = call("graph", 2, [[1, 2]])
    assert code("colourings", two, [[1]]) == code("colourings", two, [[1], [2]], 0) == "E501"


@settings(deadline=None, max_examples=examples(150))
@given(graphs(9))
def test_the_fewest_colours_are_those_that_first_have_a_colouring(graph: Record) -> None:
    fewest = call("chromatic_number", graph)
    assert call("count_colourings", graph, fewest) > 0 == call("count_colourings", graph, fewest - 1)


@settings(deadline=None)
@given(graphs(8))
def test_cliques_agree_with_networkx(graph: Record) -> None:
    known = networkx.Graph(list(map(tuple, graph["edges"])))
    known.add_nodes_from(graph["nodes"])
    cliques = [sorted(clique) for clique in networkx.find_cliques(known)]
    largest = max(map(len, cliques))
    assert call("max_clique", graph) == min(clique for clique in cliques if len(clique) == largest)


def made(known: Any) -> Record:
    return call("graph", sorted(known), [sorted(edge) for edge in known.edges])  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "known,fewest",
    [(networkx.petersen_graph(), 3), (networkx.mycielski_graph(4), 4), (networkx.complete_graph(12), 12),
     (networkx.cycle_graph(31), 3), (networkx.mycielski_graph(5), 5), (networkx.empty_graph(64), 1),
     (networkx.circulant_graph(13, [1, 5]), 4), (networkx.complete_multipartite_graph(5, 5, 5, 5), 4)],
)  # fmt: skip
def test_graphs_with_known_numbers(known: Any, fewest: int) -> None:
    assert call("chromatic_number", made(known)) == fewest


def test_chromatic_polynomials_at_a_place() -> None:
    assert call("count_colourings", made(networkx.petersen_graph()), 3) == 120
    assert call("count_colourings", made(networkx.cycle_graph(20)), 7) == 6**20 + 6
    assert call("count_colourings", made(networkx.random_labeled_tree(30, seed=1)), 10) == 10 * 9**29
    assert call("count_colourings", call("graph", 32, []), 10**30) == 10**960


def test_large_graphs_are_refused() -> None:
    assert code("chromatic_number", call("graph", 65, [])) == code("max_clique", call("graph", 65, [])) == "E502"
    assert code("count_colourings", call("graph", 33, []), 2) == "E502"
    assert code("count_colourings", call("graph", 2, []), -1) == "E501"


@pytest.mark.long
def test_searches_are_bounded() -> None:
    hard = networkx.gnp_random_graph(64, 0.5, seed=1)
    assert code("chromatic_number", made(hard)) == "E502"
    assert code("count_colourings", made(networkx.gnp_random_graph(32, 0.4, seed=1)), 9) == "E502"
