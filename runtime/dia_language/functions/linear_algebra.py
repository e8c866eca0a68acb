"""Linear algebra with exact numbers. A matrix is a list of rows; rows and columns are counted from 0.

Rational matrices are computed in integer arithmetic, matrices with symbolic entries by sympy.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import Any

from dia_language.budgets import SIZE, charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Matrix, Number, Rational
from dia_language.functions.arithmetic import INTEGERS, sqrt
from dia_language.functions.ordering import order
from dia_language.functions.registry import library_function
from dia_language.limits import INTEGER_BITS
from dia_language.numbers import operators
from dia_language.numbers.values import is_symbolic, normal

MANY = 9  # number of entries from which on checking for integers pays off


@library_function
def det(matrix: Matrix) -> Number:
    """The determinant of a square matrix.

    Costs n**3 steps for n rows. Source: Bareiss, Mathematics of Computation 22 (1968).

    Examples:
        det([[1, 2], [3, 4]]) -> -2
    """
    _square("det", matrix)
    if _symbolic(matrix):
        return normal(_sympy(matrix).det(method="berkowitz").expand())
    rows, scale = _integers(matrix)
    determinant = _eliminated(rows)[1]
    return determinant if scale == 1 else operators.divide(determinant, scale)


@library_function
def rank(matrix: Matrix) -> int:
    """The rank of the matrix: the number of linearly independent rows.

    Examples:
        rank([[1, 2, 3], [2, 4, 6], [1, 0, 1]]) -> 2
    """
    if _symbolic(matrix):
        return int(_sympy(matrix).rank(simplify=True))
    return _eliminated(_integers(matrix)[0])[0]


@library_function
def trace(matrix: Matrix) -> Number:
    """The sum of the diagonal entries of a square matrix.

    Examples:
        trace([[1, 2], [3, 4]]) -> 5
    """
    _square("trace", matrix)
    return reduce(operators.add, (row[at] for at, row in enumerate(matrix)), 0)


@library_function
def transpose(matrix: Matrix) -> Matrix:
    """The matrix with rows and columns exchanged.

    Examples:
        transpose([[1, 2, 3], [4, 5, 6]]) -> [[1, 4], [2, 5], [3, 6]]
    """
    return [list(column) for column in zip(*matrix, strict=True)]


@library_function
def matrix_multiply(a: Matrix, b: Matrix) -> Matrix:
    """The product of the matrices `a` and `b`.

    Raises an error unless `a` has as many columns as `b` has rows.

    Examples:
        matrix_multiply([[1, 2], [3, 4]], [[0, 1], [1, 0]]) -> [[2, 1], [4, 3]]
    """
    columns = transpose(b)
    charge(len(a) * len(columns) * len(b))
    return [[_inner(row, column) for column in columns] for row in a]


@library_function
def dot(a: Matrix | list[Number], b: list[Number]) -> Number | list[Number]:
    """The dot product of two vectors, or the product of a matrix and a vector.

    Raises an error if the lengths differ.

    Examples:
        dot([1, 2, 3], [4, 5, 6]) -> 32
        dot([[1, 2], [3, 4]], [5, 6]) -> [17, 39]
    """
    charge(len(a) * (len(b) if a and isinstance(a[0], list) else 1))
    if a and isinstance(a[0], list):
        return [_inner(row, b) for row in a]
    return _inner(a, b)


def _inner(a: list[Number], b: list[Number]) -> Number:
    if len(a) != len(b):
        raise LanguageError(f"the lengths {len(a)} and {len(b)} do not match")
    if len(a) >= MANY and _is_whole([a, b]) and _longest(a) + _longest(b) <= SIZE.bits:
        return sum(map(mul, a, b))
    return reduce(operators.add, map(operators.multiply, a, b), 0)


def _longest(numbers: list[int]) -> int:
    return max(max(numbers), -min(numbers)).bit_length()


@library_function
def solve_linear(matrix: Matrix, right: list[Number]) -> list[Number]:
    """The unique vector whose product with the square matrix is `right`.

    Computed by Gaussian elimination with exact numbers. Raises an error if the determinant is 0, because there is then
    no solution or more than one.

    Examples:
        solve_linear([[2, 1], [1, 3]], [3, 5]) -> [4/5, 7/5]
    """
    _square("solve_linear", matrix)
    if len(right) != len(matrix):
        raise LanguageError(
            f"`solve_linear` needs one right side per row; these have {len(matrix)} and {len(right)} entries"
        )
    return [row[0] for row in _reduced(matrix, [[value] for value in right])]


@library_function
def inverse(matrix: Matrix) -> Matrix:
    """The inverse of a square matrix.

    Raises an error if the determinant is 0.

    Examples:
        inverse([[1, 2], [3, 5]]) -> [[-5, 2], [3, -1]]
    """
    _square("inverse", matrix)
    return _reduced(matrix, identity(len(matrix)))


@library_function
def identity(n: int) -> Matrix:
    """The identity matrix with `n` rows.

    `n` must be from 1 to 1,000.

    Examples:
        identity(2) -> [[1, 0], [0, 1]]
    """
    if not 1 <= n <= 1_000:
        raise LanguageError("`identity` needs `n` from 1 to 1,000", code="E501" if n < 1 else "E502")
    charge(n * n)
    return [[int(row == column) for column in range(n)] for row in range(n)]


@library_function
def minor(matrix: Matrix, row: int, column: int) -> Number:
    """The determinant of the square matrix without the given row and column, both counted from 0.

    Raises an error for a matrix with only one row.

    Examples:
        minor([[1, 2, 3], [4, 5, 6], [7, 8, 10]], 0, 0) -> 2
    """
    size = _square("minor", matrix)
    if size < 2 or not (0 <= row < size and 0 <= column < size):
        raise LanguageError("`minor` needs a matrix with 2 or more rows, and a row and column inside it")
    other_rows = [values for at, values in enumerate(matrix) if at != row]
    return det([values[:column] + values[column + 1 :] for values in other_rows])


@library_function
def determinant_mod(matrix: list[list[int]], modulus: int) -> int:
    """The determinant of a square integer matrix modulo `modulus`, from 0 to modulus - 1.

    `modulus` must be 1 or more and need not be prime.

    Examples:
        determinant_mod([[1, 2], [3, 4]], 7) -> 5
    """
    if modulus < 1:
        raise LanguageError("`determinant_mod` needs `modulus` to be 1 or more")
    return int(det([[entry % modulus for entry in row] for row in matrix]) % modulus)


@library_function
def eigenvalues(matrix: Matrix) -> list[Number]:
    """The exact eigenvalues of a square matrix in ascending order, repeated by multiplicity.

    Finds rational eigenvalues and those with a single square root. Raises an error if an eigenvalue is not real, or is
    a root of an irreducible polynomial of degree 3 or more. Matrices with symbolic entries can have at most 2 rows.

    Examples:
        eigenvalues([[2, 1], [1, 2]]) -> [1, 3]
        eigenvalues([[1, 1], [1, 0]]) -> [1/2 - sqrt(5)/2, 1/2 + sqrt(5)/2]
    """
    size = _square("eigenvalues", matrix)
    if size == 1:
        return [matrix[0][0]]
    if size == 2 and not _symbolic(matrix):
        return _rational_quadratic(trace(matrix), det(matrix))
    values = _quadratic(1, operators.negate(trace(matrix)), det(matrix)) if size == 2 else _by_factors(matrix)
    return [values[place] for place in order(values)]


def _rational_quadratic(total: Rational, product: Rational) -> list[Number]:
    """The two real numbers with this rational sum and product, the smaller first."""
    inside = total * total - 4 * product
    if inside < 0:
        raise LanguageError("an eigenvalue is not real", code="E504")
    middle, root = normal(Fraction(total) / 2), sqrt(normal(Fraction(inside) / 4))
    return [operators.subtract(middle, root), operators.add(middle, root)]


def _quadratic(a: Number, b: Number, c: Number) -> list[Number]:
    """The two real roots of a x**2 + b x + c."""
    inside = operators.subtract(operators.multiply(b, b), operators.multiply(4, operators.multiply(a, c)))
    if operators.less(inside, 0):
        raise LanguageError("an eigenvalue is not real", code="E504")
    root, middle = sqrt(inside), operators.negate(b)
    return [
        _expanded(operators.divide(operators.subtract(middle, root), operators.multiply(2, a))),
        _expanded(operators.divide(operators.add(middle, root), operators.multiply(2, a))),
    ]


def _expanded(value: Number) -> Number:
    if not is_symbolic(value):
        return value
    import sympy

    return normal(sympy.sqrtdenest(value).expand())


def _by_factors(matrix: Matrix) -> list[Number]:
    """The roots of the characteristic polynomial, from its factors over the rationals."""
    if _symbolic(matrix):
        raise LanguageError("`eigenvalues` of 3 rows or more needs rational entries")
    import sympy

    charge(len(matrix) ** 4)
    polynomial = _sympy(matrix).charpoly(sympy.Symbol("x"))
    roots: list[Number] = []
    for factor, multiplicity in polynomial.factor_list()[1]:
        coefficients = [normal(coefficient) for coefficient in factor.all_coeffs()]
        roots += _roots(factor, coefficients) * multiplicity
    return roots


def _roots(factor: Any, coefficients: list[Number]) -> list[Number]:
    if len(coefficients) == 2:
        return [operators.divide(operators.negate(coefficients[1]), coefficients[0])]
    if len(coefficients) == 3:
        return _quadratic(*coefficients)
    if factor.count_roots() < factor.degree():
        raise LanguageError("an eigenvalue is not real", code="E504")
    raise LanguageError("an eigenvalue cannot be written with square roots", code="E504")


def _square(name: str, matrix: Matrix) -> int:
    size = len(matrix)
    if any(len(row) != size for row in matrix):
        raise LanguageError(f"`{name}` needs a square matrix; this one is {size} by {len(matrix[0])}")
    return size


def _symbolic(matrix: Matrix) -> bool:
    return not _is_whole(matrix) and any(is_symbolic(entry) for row in matrix for entry in row)


def _is_whole(matrix: Matrix) -> bool:
    return all(INTEGERS.issuperset(map(type, row)) for row in matrix)


def _sympy(matrix: Matrix) -> Any:
    import sympy

    return sympy.Matrix([[operators.symbolic(entry) for entry in row] for row in matrix])


def _integers(matrix: Matrix) -> tuple[list[list[int]], int]:
    """The matrix with each row multiplied by its common denominator, and the product of these denominators."""
    if _is_whole(matrix):
        scales, rows = [1], [row.copy() for row in matrix]
    else:
        scales = [math.lcm(*(entry.denominator for entry in row)) for row in matrix]
        rows = [[int(entry * scale) for entry in row] for row, scale in zip(matrix, scales, strict=True)]
    longest = max((max(map(int.bit_length, row)) for row in rows if row), default=0)
    if len(rows) * (longest + len(rows).bit_length()) > INTEGER_BITS:
        raise LanguageError(f"the result could exceed {INTEGER_BITS:,} bits", code="E502")
    return rows, math.prod(scales)


def _eliminated(rows: list[list[int]]) -> tuple[int, int]:
    """The rank of an integer matrix, and its determinant if it is square, by Bareiss elimination."""
    height, width = len(rows), len(rows[0])
    charge(height * min(height, width) * width)
    rank, previous, sign = 0, 1, 1
    for column in range(width):
        pivot = next((at for at in range(rank, height) if rows[at][column]), None)
        if pivot is None:
            continue
        if pivot != rank:
            rows[rank], rows[pivot], sign = rows[pivot], rows[rank], -sign
        _clear_below(rows, rank, column, previous)
        previous, rank = rows[rank][column], rank + 1
        if rank == height:
            break
    return rank, sign * previous if rank == height else 0


def _clear_below(rows: list[list[int]], top: int, column: int, previous: int) -> None:
    lead = rows[top]
    pivot = lead[column]
    for at in range(top + 1, len(rows)):
        row, factor = rows[at], rows[at][column]
        rows[at] = [(pivot * value - factor * above) // previous for value, above in zip(row, lead, strict=True)]


def _reduced(matrix: Matrix, right: Matrix) -> Matrix:
    """The right side after the row operations that turn the matrix into the identity (Gauss-Jordan)."""
    size = len(matrix)
    charge(size * size * (size + len(right[0])))
    if _is_whole(matrix) and _is_whole(right):
        return _reduced_integers(matrix, right)
    rows = [_exact(left + values) for left, values in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = next((at for at in range(column, size) if not operators.equal(rows[at][column], 0)), None)
        if pivot is None:
            raise _singular()
        rows[column], rows[pivot] = rows[pivot], rows[column]
        lead = rows[column] = [value / rows[column][column] for value in rows[column]]
        for at in range(size):
            if at != column and rows[at][column] != 0:
                factor = rows[at][column]
                rows[at] = [value - factor * above for value, above in zip(rows[at], lead, strict=True)]
    return [[_finished(value) for value in row[size:]] for row in rows]


def _reduced_integers(matrix: Matrix, right: Matrix) -> Matrix:
    """Like `_reduced`, but without fractions until the end: all rows keep one common factor (Bareiss-Jordan)."""
    size, previous = len(matrix), 1
    rows = [left + values for left, values in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = next((at for at in range(column, size) if rows[at][column]), None)
        if pivot is None:
            raise _singular()
        rows[column], rows[pivot] = rows[pivot], rows[column]
        lead = rows[column]
        times = lead[column]
        for at in range(size):
            if at != column:
                row, factor = rows[at], rows[at][column]
                rows[at] = [
                    (times * value - factor * above) // previous for value, above in zip(row, lead, strict=True)
                ]
        previous = times
    return [[normal(Fraction(value, previous)) for value in row[size:]] for row in rows]


def _singular() -> LanguageError:
    return LanguageError("the determinant is 0, so there is no unique solution", code="E504")


def _exact(row: list[Number]) -> list[Any]:
    return [value if is_symbolic(value) else Fraction(value) for value in row]


def _finished(value: Any) -> Number:
    if not is_symbolic(value):
        return normal(value)
    import sympy

    return normal(sympy.radsimp(sympy.cancel(value)))
