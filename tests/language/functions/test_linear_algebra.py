"""Exact linear algebra against sympy's matrices and numpy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy
import sympy
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import normal
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

ENTRIES = st.one_of(st.integers(-9, 9), st.fractions(-5, 5, max_denominator=7).map(normal))


def matrices(rows: int, columns: int) -> st.SearchStrategy[list[list[Any]]]:
    return st.lists(st.lists(ENTRIES, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 5))
ANY_MATRIX = SHAPES.flatmap(lambda shape: matrices(*shape))
SQUARE = st.integers(1, 5).flatmap(lambda size: matrices(size, size))


def in_sympy(matrix: list[list[Any]]) -> Any:
    return sympy.Matrix([[sympy.Rational(Fraction(entry)) for entry in row] for row in matrix])


def back(matrix: Any) -> list[list[Any]]:
    return [[normal(entry) for entry in row] for row in matrix.tolist()]


@settings(deadline=None)
@given(ANY_MATRIX)
def test_ranks_and_products_agree_with_sympy(matrix: list[list[Any]]) -> None:
    known = in_sympy(matrix)
    assert call("rank", matrix) == known.rank()
    assert call("transpose", matrix) == back(known.T)
    assert call("matrix_multiply", matrix, call("transpose", matrix)) == back(known * known.T)
    column = [row[0] for row in call("transpose", matrix)]
    assert call("dot", matrix, column) == [row[0] for row in back(known * in_sympy([[v] for v in column]))]


@settings(deadline=None)
@given(SQUARE)
def test_determinants_traces_and_inverses_agree_with_sympy(matrix: list[list[Any]]) -> None:
    known, size = in_sympy(matrix), len(matrix)
    assert call("det", matrix) == normal(known.det())
    assert call("trace", matrix) == normal(known.trace())
    if size > 1:
        assert call("minor", matrix, size - 1, 0) == normal(known.minor(size - 1, 0))
    right = [row[-1] for row in matrix]
    if known.det() == 0:
        assert code("inverse", matrix) == code("solve_linear", matrix, right) == "E504"
        return
    assert call("inverse", matrix) == back(known.inv())
    assert call("dot", matrix, call("solve_linear", matrix, right)) == right


@given(st.lists(st.lists(st.integers(-(10**30), 10**30), min_size=3, max_size=3), min_size=3, max_size=3))
def test_large_determinants_leave_the_remainders_that_sympy_leaves(matrix: list[list[int]]) -> None:
    wanted = int(in_sympy(matrix).det())
    for modulus in (1, 2, 97, 2**61 - 1, 10**20):
        assert call("determinant_mod", matrix, modulus) == wanted % modulus


def test_determinants_of_many_rows_agree_with_numpy() -> None:
    matrix = [[(3 * row + column * column + row * column) % 7 - 3 for column in range(9)] for row in range(9)]
    assert call("det", matrix) == round(numpy.linalg.det(numpy.array(matrix, dtype=float)))
    hilbert = [[Fraction(1, row + column + 1) for column in range(12)] for row in range(12)]
    assert call("matrix_multiply", hilbert, call("inverse", hilbert)) == call("identity", 12)


@settings(deadline=None)
@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.integers(-5, 5), min_size=n * n, max_size=n * n)))
def test_eigenvalues_of_symmetric_matrices_agree_with_numpy(entries: list[int]) -> None:
    size = round(len(entries) ** 0.5)
    square = [entries[at * size : (at + 1) * size] for at in range(size)]
    matrix = [[square[row][column] + square[column][row] for column in range(size)] for row in range(size)]
    wanted = numpy.linalg.eigvalsh(numpy.array(matrix, dtype=float))
    try:
        found = call("eigenvalues", matrix)
    except LanguageError as error:
        assert size > 2
        assert "square roots" in error.message
        return
    assert numpy.allclose([float(value) for value in found], wanted, atol=1e-6)


def test_eigenvalues_are_exact_ordered_and_repeated() -> None:
    root = sympy.sqrt(2)
    assert call("eigenvalues", [[5]]) == [5]
    assert call("eigenvalues", [[0, 2], [1, 0]]) == [-root, root]
    assert call("eigenvalues", [[Fraction(1, 2), 0], [0, Fraction(1, 2)]]) == [Fraction(1, 2)] * 2
    assert call("eigenvalues", [[3, 0, 0], [0, 1, 0], [0, 0, 3]]) == [1, 3, 3]
    assert call("eigenvalues", [[0, 2, 0], [1, 0, 0], [0, 0, 1]]) == [-root, 1, root]
    assert call("eigenvalues", [[root, 0], [0, 1]]) == [1, root]


def test_eigenvalues_without_a_real_closed_form_are_refused() -> None:
    assert code("eigenvalues", [[0, -1], [1, 0]]) == "E504"
    assert code("eigenvalues", [[0, 0, 1], [1, 0, 0], [0, 1, 0]]) == "E504"
    assert code("eigenvalues", [[1, 2, 3], [2, 4, 5], [3, 5, 6]]) == "E504"
    assert code("eigenvalues", [[sympy.sqrt(2), 0, 0], [0, 1, 0], [0, 0, 1]]) == "E501"


def test_symbolic_entries_go_through_sympy() -> None:
    x = call("symbol", "x")
    assert call("det", [[x, 1], [1, x]]) == x**2 - 1
    assert call("rank", [[x, 1], [x**2, x]]) == 1
    assert call("rank", [[x, 1], [1, x]]) == 2
    assert call("dot", [x, 1], [2, 3]) == 2 * x + 3
    root = sympy.sqrt(2)
    assert call("solve_linear", [[root, 1], [1, root]], [1, 0]) == [root, -1]
    assert call("inverse", [[root]]) == [[root / 2]]


def test_shapes_are_checked() -> None:
    flat = [[1, 2, 3], [4, 5, 6]]
    for name in ("det", "trace", "inverse", "eigenvalues"):
        assert code(name, flat) == "E501"
    assert code("solve_linear", flat, [1, 2]) == code("solve_linear", [[1]], [1, 2]) == "E501"
    assert code("matrix_multiply", flat, flat) == code("dot", flat, [1]) == code("dot", [1], [1, 2]) == "E501"
    assert code("minor", [[1]], 0, 0) == code("minor", [[1, 2], [3, 4]], 2, 0) == "E501"
    assert code("determinant_mod", [[1]], 0) == "E501"
    assert call("dot", [], []) == 0


def test_sizes_are_bounded() -> None:
    assert code("identity", 0) == "E501"
    assert code("identity", 1001) == "E502"
    assert code("det", call("identity", 200)) == "E502"
    assert code("det", [[2**600_000, 1], [1, 2**600_000]]) == "E502"
