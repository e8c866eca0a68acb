"""Searches against networkx, published counts, and puzzles whose solutions others published."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from typing import Any

import networkx
import pytest
from helpers.library_calls import call, code, refused
from hypothesis import given
from hypothesis import strategies as st

NODES = st.integers(0, 7)
QUEENS = [1, 1, 0, 0, 2, 10, 4, 40, 92]  # OEIS A000170
# Published with its solution by Peter Norvig, "Solving every sudoku puzzle" (grid1), and by Arto Inkala (2010)
SUDOKUS = {
    "..3.2.6..9..3.5..1..18.64....81.29..7.......8..67.82....26.95..8..2.3..9..5.1.3..": (
        "483921657967345821251876493548132976729564138136798245372689514814253769695417382"
    ),
    "..53.....8......2..7..1.5..4....53...1..7...6..32...8..6.5....9..4....3......97..": (
        "145327698839654127672918543496185372218473956753296481367542819984761235521839764"
    ),
}


@given(st.lists(st.tuples(NODES, NODES), max_size=20), NODES)
def test_paths_and_distances_agree_with_networkx(edges: list[tuple[int, int]], end: int) -> None:
    net = networkx.DiGraph(edges)
    net.add_nodes_from(range(8))
    path = call("search", [0], lambda state: [[n] for n in net[state[0]]], lambda state: state == [end])
    layers = call("reachable", 0, lambda n: list(net[n]))
    distances = networkx.single_source_shortest_path_length(net, 0)
    assert {n: depth for depth, layer in enumerate(layers) for n in layer} == distances
    assert call("reachable", 0, lambda n: list(net[n]), 2) == layers[:3]
    assert len(path) == distances.get(end, -1) + 1
    assert all(net.has_edge(a, b) for [a], [b] in pairwise(path))


def hanoi(pegs: list[int]) -> list[Any]:
    """The positions one move on; pegs[i] is the peg of disk i, the smallest first."""
    tops = [disk for disk, peg in enumerate(pegs) if peg not in pegs[:disk]]
    return [[*pegs[:d], to, *pegs[d + 1 :]] for d in tops for to in range(3) if to not in pegs[: d + 1]]


@pytest.mark.parametrize("disks", range(1, 7))
def test_towers_take_one_move_less_than_a_power_of_two(disks: int) -> None:
    assert len(call("search", [0] * disks, hanoi, lambda pegs: pegs == [2] * disks)) == 2**disks
    assert sum(map(len, call("reachable", [0] * disks, hanoi))) == 3**disks


@pytest.mark.parametrize("n", range(1, 9))
def test_queens_are_counted_by_backtracking_and_as_exact_covers(n: int) -> None:
    def placed(columns: list[int]) -> list[list[int]]:
        row = len(columns)
        return [[*columns, c] for c in range(n) if all(c != d and abs(c - d) != row - r for r, d in enumerate(columns))]

    layers = call("reachable", [], placed, n)
    assert (len(layers[n]) if len(layers) > n else 0) == QUEENS[n]
    lines = [f"row {i}" for i in range(n)] + [f"column {i}" for i in range(n)]
    squares = [[f"row {r}", f"column {c}", f"up {r + c}", f"down {r - c}"] for r, c in product(range(n), repeat=2)]
    assert len(call("exact_cover", lines, squares, 1000)) == QUEENS[n]
    assert len(call("exact_cover", lines, squares)) == min(2, QUEENS[n])


@pytest.mark.parametrize("puzzle", SUDOKUS)
def test_a_published_sudoku_has_its_solution_and_without_a_clue_several(puzzle: str) -> None:
    def covers(clues: str) -> list[str]:
        cells = [(r, c, d) for r, c, d in product(range(9), repeat=3) if clues[9 * r + c] in (".", str(d + 1))]
        options = [[["cell", r, c], ["row", r, d], ["column", c, d], ["box", r // 3, c // 3, d]] for r, c, d in cells]
        items = [list(item) for item in sorted({tuple(item) for option in options for item in option})]
        found = call("exact_cover", items, options)
        return ["".join(str(cells[at][2] + 1) for at in chosen) for chosen in found]

    assert covers(puzzle) == [SUDOKUS[puzzle]]
    assert len(covers(puzzle.replace("3", "."))) == 2


@given(st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=4).map(sorted), max_size=9), st.integers(0, 6))
def test_covers_are_all_subsets_that_cover_each_item_once(options: list[list[int]], most: int) -> None:
    items = list(range(most))

    def is_cover(chosen: tuple[int, ...]) -> bool:
        values = [value for at in chosen for value in options[at]]
        return len(values) == len(set(values)) and set(items) <= set(values)

    useful = [at for at, option in enumerate(options) if set(option) & set(items)]
    subsets = [list(s) for size in range(len(useful) + 1) for s in combinations(useful, size) if is_cover(s)]
    assert sorted(call("exact_cover", items, options, 1000)) == sorted(subsets)
    assert call("exact_cover", items, options) == call("exact_cover", items, options, 1000)[:2]


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True), min_size=1, max_size=9),
    st.sets(st.integers(0, 8), max_size=2).map(sorted),
)
def test_chosen_options_are_in_every_cover_also_if_the_options_were_used_before(
    options: list[list[str]], chosen: list[int]
) -> None:
    items = ["a", "b", "c"]
    covers = call("exact_cover", items, options, 1000)
    for kept in ([], chosen if chosen and chosen[-1] < len(options) else []):
        useful = all(set(options[at]) & set(items) for at in kept)
        expected = [cover for cover in covers if set(kept) <= set(cover)]
        assert not useful or sorted(call("exact_cover", items, options, 1000, kept)) == sorted(expected)
    assert call("exact_cover", ["d"], options, 1000) == call("exact_cover", ["d"], [*options], 1000)


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.lists(st.integers(-3, 4), max_size=5)), max_size=4), st.integers(-20, 20)
)
def test_sums_of_different_values_are_those_of_brute_force(parts: list[tuple[int, list[int]]], total: int) -> None:
    weights, choices = [weight for weight, _ in parts], [values for _, values in parts]
    expected = {
        values
        for values in product(*choices)
        if len(set(values)) == len(values) and sum(w * v for w, v in zip(weights, values, strict=True)) == total
    }
    solutions = call("solve_distinct", weights, choices, total, 10_000)
    assert sorted(map(tuple, solutions)) == sorted(expected)
    assert call("solve_distinct", weights, choices, total) == solutions[:2]


def test_the_oldest_puzzle_with_letters_for_digits_has_its_published_solution() -> None:
    # SEND + MORE = MONEY, Henry Dudeney, Strand Magazine (1924): 9567 + 1085 = 10652
    words = {"SEND": 1, "MORE": 1, "MONEY": -1}
    letters = sorted({letter for word in words for letter in word})
    weights = [
        sum(
            sign * 10 ** (len(word) - 1 - at)
            for word, sign in words.items()
            for at in range(len(word))
            if word[at] == letter
        )
        for letter in letters
    ]
    choices = [list(range(letter in "SM", 10)) for letter in letters]
    (digits,) = call("solve_distinct", weights, choices, 0)
    assert dict(zip(letters, digits, strict=True)) == {"S": 9, "E": 5, "N": 6, "D": 7, "M": 1, "O": 0, "R": 8, "Y": 2}


def test_a_search_without_an_end_stops_at_the_same_state_on_every_machine() -> None:
    states: list[int] = []
    assert code("search", 0, lambda n: states.append(n) or [n + 1, n + 2], lambda n: False) == "E502"
    assert len(states) == 90_909


@pytest.mark.long
def test_searches_through_long_states_stop_too() -> None:
    assert code("reachable", "", lambda text: [text + "a" * 100, text + "b" * 100]) == "E502"
    assert code("exact_cover", list(range(7)), [[v, f"{v}{n}"] for v in range(7) for n in range(40)], 10**6) == "E502"


def test_wrong_arguments_are_refused() -> None:
    assert "must return a list of states; this is integer" in refused("search", 1, lambda n: n, lambda n: False).message
    assert code("search", 1, lambda n: [n], lambda n: n) == "E501"
    assert code("reachable", 1, lambda n: [n], -1) == "E501"
    assert code("exact_cover", [1], [[1]], 0) == "E501"
    assert "option 1" in refused("exact_cover", [1], [[1], [1, 1]]).message
    assert code("exact_cover", [1], [[1]], 2, [1]) == code("exact_cover", [1], [[1]], 2, [-1]) == "E501"
    assert code("solve_distinct", [1], [[1]], 1, 0) == code("solve_distinct", [1], [], 1) == "E501"
    assert code("solve_distinct", [2] * 9, [list(range(99))] * 9, 999) == "E502"
