"""Plane geometry with exact numbers. A point is a list of its coordinates; a polygon is the list of its corners."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError
from dia_language.functions.argument_types import Number, Points, Rational
from dia_language.functions.arithmetic import sqrt
from dia_language.functions.ordering import order
from dia_language.functions.registry import library_function
from dia_language.numbers import operators
from dia_language.numbers.values import normal

Point = list[Rational]


@library_function
def clock_angle(hour: int, minute: int) -> Rational:
    """The smaller angle between the hands of a clock in degrees, from 0 to 180, exact.

    `hour` must be from 0 to 24 and `minute` from 0 to 59. The hour hand moves continuously.

    Examples:
        clock_angle(3, 0) -> 90
        clock_angle(12, 15) -> 165/2
    """
    if not (0 <= hour <= 24 and 0 <= minute <= 59):
        raise LanguageError("`clock_angle` needs an hour from 0 to 24 and a minute from 0 to 59")
    apart = abs(Fraction(60 * (hour % 12) - 11 * minute, 2))
    return normal(min(apart, 360 - apart))  # type: ignore[no-any-return]


@library_function
def polygon_angle_sum(sides: int) -> int:
    """The sum of the interior angles, in degrees, of a polygon with the given number of sides.

    `sides` must be 3 or more.

    Examples:
        polygon_angle_sum(3) -> 180
        polygon_angle_sum(8) -> 1080
    """
    if sides < 3:
        raise LanguageError("`polygon_angle_sum` needs 3 sides or more")
    return (sides - 2) * 180


@library_function
def distance(a: list[Number], b: list[Number]) -> Number:
    """The exact Euclidean distance between two points with the same number of coordinates.

    Examples:
        distance([0, 0], [3, 4]) -> 5
        distance([1, 1, 1], [2, 2, 2]) -> sqrt(3)
    """
    if len(a) != len(b):
        raise LanguageError(
            f"`distance` needs points with the same number of coordinates; these have {len(a)} and {len(b)}"
        )
    charge(len(a))
    steps = [operators.subtract(x, y) for x, y in zip(a, b, strict=True)]
    return sqrt(reduce(operators.add, [operators.multiply(step, step) for step in steps], 0))


@library_function
def triangle_area(a: Number, b: Number, c: Number) -> Number:
    """The exact area of the triangle with the given side lengths, by Heron's formula.

    Raises an error if no triangle has these sides.

    Examples:
        triangle_area(3, 4, 5) -> 6
        triangle_area(1, 1, 1) -> sqrt(3)/4
    """
    whole = operators.add(operators.add(a, b), c)
    rests = [operators.subtract(whole, operators.multiply(2, side)) for side in (a, b, c)]
    if not all(operators.less(0, rest) for rest in rests):
        raise LanguageError(
            "no triangle has these sides: each must be shorter than the sum of the other two", code="E504"
        )
    return operators.divide(sqrt(reduce(operators.multiply, rests, whole)), 4)


@library_function
def polygon_area(points: Points) -> Rational:
    """The area of the polygon whose corners are given in order, by the shoelace formula.

    The sides must not cross each other.

    Examples:
        polygon_area([[0, 0], [4, 0], [4, 3]]) -> 6
    """
    corners = _corners("polygon_area", points)
    twice = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1], strict=True))
    return normal(abs(Fraction(twice)) / 2)  # type: ignore[no-any-return]


@library_function
def is_inside(point: list[Rational], polygon: Points) -> bool:
    """Whether the point is inside the polygon or on its border.

    `polygon` lists the corners in order.

    Examples:
        is_inside([1, 3], [[0, 0], [4, 0], [4, 4], [0, 4]]) -> True
        is_inside([5, 2], [[0, 0], [4, 0], [4, 4], [0, 4]]) -> False
    """
    corners = _corners("is_inside", polygon)
    if len(point) != 2:
        raise LanguageError("`is_inside` needs a point with two coordinates")
    inside = False
    for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
        turn = _turn(a, b, point)
        if turn == 0 and all(min(a[axis], b[axis]) <= point[axis] <= max(a[axis], b[axis]) for axis in (0, 1)):
            return True
        if (a[1] > point[1]) != (b[1] > point[1]) and (turn > 0) == (b[1] > a[1]):
            inside = not inside
    return inside


@library_function
def convex_hull(points: Points) -> list[Point]:
    """The corners of the convex hull of the points, counterclockwise from the leftmost (then lowest) one.

    Points on the sides are left out. If all points are on one line, the result is its two ends. Source: Andrew,
    Information Processing Letters 9 (1979).

    Examples:
        convex_hull([[0, 0], [4, 0], [2, 1], [4, 4], [0, 4], [2, 0]]) -> [[0, 0], [4, 0], [4, 4], [0, 4]]
    """
    charge(4 * len(points))
    sorted_points = [points[place] for place in order(points)]
    sorted_points = [point for at, point in enumerate(sorted_points) if at == 0 or point != sorted_points[at - 1]]
    if len(sorted_points) < 3:
        return sorted_points
    return _half_hull(sorted_points)[:-1] + _half_hull(sorted_points[::-1])[:-1]


def _half_hull(points: list[Point]) -> list[Point]:
    hull: list[Point] = []
    for point in points:
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    return hull


@library_function
def line_intersection(a: list[Rational], b: list[Rational], c: list[Rational], d: list[Rational]) -> Point:
    """The point where the line through `a` and `b` meets the line through `c` and `d`.

    Raises an error if the lines are parallel or if two points of one line are equal.

    Examples:
        line_intersection([0, 0], [2, 2], [0, 2], [2, 0]) -> [1, 1]
        line_intersection([0, 0], [1, 3], [0, 1], [1, 1]) -> [1/3, 1]
    """
    if any(len(point) != 2 for point in (a, b, c, d)):
        raise LanguageError("`line_intersection` needs points with two coordinates")
    first, second = (b[0] - a[0], b[1] - a[1]), (d[0] - c[0], d[1] - c[1])
    across = first[0] * second[1] - first[1] * second[0]
    if across == 0:
        raise LanguageError("the lines are parallel, or the two points of a line are equal", code="E504")
    share = Fraction((c[0] - a[0]) * second[1] - (c[1] - a[1]) * second[0]) / across
    return [normal(a[axis] + share * first[axis]) for axis in (0, 1)]


def _turn(a: Point, b: Point, c: Point) -> Rational:
    """Positive if the path from a over b to c turns left, 0 if it is straight."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _corners(name: str, points: Points) -> Points:
    if len(points) < 3:
        raise LanguageError(f"`{name}` needs a polygon of 3 corners or more")
    charge(len(points))
    return points
