"""Plane geometry against scipy, sympy's geometry and counting."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy
import pytest
import scipy.spatial
import sympy
from dia_language.diagnostics import LanguageError
from dia_language.numbers.values import normal
from helpers.examples import examples
from helpers.library_calls import call, code
from hypothesis import given, settings
from hypothesis import strategies as st

POINTS = st.lists(st.integers(-6, 6), min_size=2, max_size=2)


def test_every_clock_angle_is_that_of_the_hands_positions() -> None:
    for hour in range(25):
        for minute in range(60):
            hands = [Fraction(hour % 12) * 30 + Fraction(minute, 2), Fraction(6 * minute)]
            wanted = min(abs(hands[0] - hands[1]), 360 - abs(hands[0] - hands[1]))
            assert call("clock_angle", hour, minute) == wanted
    assert [call("clock_angle", *time) for time in ((3, 0), (6, 0), (9, 30), (12, 0))] == [90, 180, 105, 0]
    assert code("clock_angle", 25, 0) == code("clock_angle", 3, 60) == code("clock_angle", -1, 0) == "E501"


def test_angle_sums() -> None:
    assert [call("polygon_angle_sum", sides) for sides in (3, 4, 5, 100)] == [180, 360, 540, 17640]
    assert code("polygon_angle_sum", 2) == "E501"


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), max_size=5))
def test_distances_agree_with_python(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    found = call("distance", a, b)
    assert float(found) == pytest.approx(math.dist(a, b))
    assert found**2 == sum((x - y) ** 2 for x, y in pairs)


@settings(deadline=None, max_examples=examples(40))
@given(POINTS, POINTS, POINTS)
def test_triangles_agree_with_sympy(a: list[int], b: list[int], c: list[int]) -> None:
    known = sympy.Polygon(*map(sympy.Point, (a, b, c)))
    if not isinstance(known, sympy.Triangle):
        assert call("polygon_area", [a, b, c]) == 0
        return
    assert call("polygon_area", [a, b, c]) == normal(abs(known.area))
    sides = [call("distance", *ends) for ends in ((a, b), (b, c), (c, a))]
    assert float(call("triangle_area", *sides)) == pytest.approx(float(abs(known.area)))


def test_triangles_with_whole_sides() -> None:
    assert call("triangle_area", 13, 14, 15) == 84
    assert call("triangle_area", Fraction(3, 2), 2, Fraction(5, 2)) == Fraction(3, 2)
    assert code("triangle_area", 1, 2, 3) == code("triangle_area", 1, 1, 5) == code("triangle_area", -3, 4, 5) == "E504"


@settings(deadline=None)
@given(st.lists(POINTS, min_size=1, max_size=12))
def test_hulls_agree_with_scipy(points: list[list[int]]) -> None:
    found = call("convex_hull", points)
    assert all(point in points for point in found) and found[0] == min(points)
    if numpy.linalg.matrix_rank(numpy.array([[x - points[0][0], y - points[0][1]] for x, y in points])) < 2:
        assert found == [min(points), max(points)][: len(set(map(tuple, points)))]
        return
    known = [points[at] for at in scipy.spatial.ConvexHull(numpy.array(points)).vertices]
    start = known.index(found[0])
    assert found == known[start:] + known[:start]
    assert float(call("polygon_area", found)) == pytest.approx(scipy.spatial.ConvexHull(numpy.array(points)).volume)
    assert all(call("is_inside", point, found) for point in points)


@settings(deadline=None, max_examples=examples(60))
@given(POINTS, st.sampled_from([
    [[0, 0], [5, 0], [5, 5], [0, 5]],
    [[-5, -5], [5, -5], [0, 0], [5, 5], [-5, 5]],
    [[0, -6], [2, -1], [6, 0], [2, 1], [0, 6], [-2, 1], [-6, 0], [-2, -1]],
]))  # fmt: skip
def test_points_inside_agree_with_sympy(point: list[int], corners: list[list[int]]) -> None:
    known, held = sympy.Polygon(*map(sympy.Point, corners)), sympy.Point(point)
    wanted = bool(known.encloses_point(held)) or any(side.contains(held) for side in known.sides)
    assert call("is_inside", point, corners) is wanted
    assert call("is_inside", point, corners[::-1]) is wanted


@settings(deadline=None, max_examples=examples(40))
@given(POINTS, POINTS, POINTS, POINTS)
def test_lines_meet_where_sympy_says(a: list[int], b: list[int], c: list[int], d: list[int]) -> None:
    if a == b or c == d:
        assert code("line_intersection", a, b, c, d) == "E504"
        return
    met = sympy.Line(a, b).intersection(sympy.Line(c, d))
    if met and isinstance(met[0], sympy.Point):
        assert call("line_intersection", a, b, c, d) == [normal(value) for value in met[0].args]
    else:
        assert code("line_intersection", a, b, c, d) == "E504"


def test_what_is_no_figure_is_refused() -> None:
    assert code("polygon_area", [[0, 0], [1, 1]]) == code("is_inside", [0, 0], [[1, 1]]) == "E501"
    assert code("is_inside", [0, 0, 0], [[0, 0], [1, 0], [1, 1]]) == code("distance", [1], [1, 2]) == "E501"
    with pytest.raises(LanguageError, match="needs a list of points"):
        call("convex_hull", [[1, 2, 3]])
    assert call("convex_hull", []) == []
