"""Proven bounds of expressions at rational points, and the exact test whether an algebraic number is zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from dia_language.answers.formulas import MINUS, Node, added, multiplied

ALGEBRAIC_BITS = 20_000
POINTS = tuple(
    Fraction(*pair)
    for pair in ((7, 10), (13, 10), (-4, 5), (29, 10), (-23, 10), (1, 7), (47, 5), (-1, 9), (5, 3), (-61, 7))
)


class Undefined(Exception):
    """An expression without a real value at a point, or whose value cannot be enclosed."""


def points(variables: list[str]) -> Iterator[Mapping[str, Fraction]]:
    """Yield the points at which expressions are compared."""
    for start in range(len(POINTS) if variables else 1):
        yield {name: POINTS[(start + 3 * place) % len(POINTS)] for place, name in enumerate(variables)}


def differs(left: Node, right: Node, variables: list[str]) -> bool:
    """Return whether two expressions are proven to differ at a point where both have a real value."""
    whole = added(left, multiplied(MINUS, right))
    for precision in (80, 400):
        for point in points(variables):
            try:
                difference = enclosed(whole, point, precision)
            except (Undefined, ZeroDivisionError, ValueError, OverflowError):
                continue
            if difference.a > 0 or difference.b < 0:
                return True
    return False


def is_defined(node: Node, variables: list[str]) -> bool:
    """Return whether the expression is proven to have a real value at one of the points."""
    for point in points(variables):
        try:
            enclosed(node, point, 400)
        except (Undefined, ZeroDivisionError, ValueError, OverflowError):
            continue
        return True
    return False


def enclosed(node: Node, point: Mapping[str, Fraction], precision: int) -> Any:
    """Return an interval that contains the expression's value. Raises Undefined."""
    from mpmath import iv

    before, iv.prec = iv.prec, precision
    try:
        return _enclosed(node, point, iv)
    finally:
        iv.prec = before


def _enclosed(node: Node, point: Mapping[str, Fraction], iv: Any) -> Any:
    kind = node[0]
    if kind in ("number", "symbol"):
        term = node[1] if kind == "number" else point[node[1]]
        return iv.mpf(term.numerator) / term.denominator
    if kind == "pi":
        return iv.mpf(iv.pi)
    if kind == "**":
        return _power(node, point, iv)
    if kind == "call":
        return _bounded(CALLS[node[1]](_enclosed(node[2], point, iv), iv))
    total = iv.mpf(int(kind == "*"))
    for part in node[1:]:
        term = _enclosed(part, point, iv)
        total = total * term if kind == "*" else total + term
    return _bounded(total)


def _bounded(value: Any) -> Any:
    """Return the interval. Raises Undefined if it is unbounded."""
    if not (value.a > -HUGE and value.b < HUGE):
        raise Undefined
    return value


HUGE = 10**400


def _power(node: Node, point: Mapping[str, Fraction], iv: Any) -> Any:
    base = _enclosed(node[1], point, iv)
    if node[2][0] == "number" and node[2][1].denominator == 1:
        power = int(node[2][1])
        if power < 0 and base.a <= 0 <= base.b:
            raise Undefined
        return _bounded(base**power)
    if base.a == base.b == 0 and node[2][0] == "number" and node[2][1] > 0:
        return base
    if base.a <= 0:
        raise Undefined
    if node[2][0] == "number" and node[2][1].denominator == 2:
        return _bounded(iv.sqrt(base) ** int(node[2][1].numerator))
    return _exp(_enclosed(node[2], point, iv) * iv.log(base), iv)


def _exp(value: Any, iv: Any) -> Any:
    if value.b > 900 or value.a < -900:
        raise Undefined
    return iv.exp(value)


def _log(value: Any, iv: Any) -> Any:
    if value.a <= 0:
        raise Undefined
    return iv.log(value)


def _atan(value: Any, iv: Any) -> Any:
    """atan by halving the angle until Gregory's series converges fast; the remainder is bounded by the last term."""
    doubled = 1
    while abs(value).b > 0.05 and doubled < 256:
        value, doubled = value / (1 + iv.sqrt(1 + value * value)), doubled * 2
    total, power, square, place = iv.mpf(0), value, value * value, 1
    while place < iv.prec:
        total = total + power / place * (1 if place % 4 == 1 else -1)
        power, place = power * square, place + 2
    rest = abs(power).b
    return doubled * (total + iv.mpf([-rest, rest]))


def _asin(value: Any, iv: Any) -> Any:
    if value.a == value.b and abs(value) == 1:
        return iv.pi / 2 * value
    if value.a <= -1 or value.b >= 1:
        raise Undefined
    return _atan(value / iv.sqrt(1 - value * value), iv)


CALLS: dict[str, Any] = {
    "exp": _exp,
    "log": _log,
    "sin": lambda value, iv: iv.sin(value),
    "cos": lambda value, iv: iv.cos(value),
    "atan": _atan,
    "asin": _asin,
    "acos": lambda value, iv: iv.pi / 2 - _asin(value, iv),
}


def is_zero_algebraic(node: Node) -> bool | None:
    """Whether a number built from rationals, roots, and sines and cosines of fractions of pi is zero; None for others.

    Also None if this takes too long.

    A number that is not zero is at least `1 / (l * u**(D**2 - 1))` in size (Burnikel, Fleischer, Mehlhorn, Schirra:
    A strong and easily computable separation bound for arithmetic expressions involving radicals, Algorithmica 27,
    2000), so that bounds closer to zero than that prove it to be zero. Twice a sine or cosine of p/q pi is an algebraic
    integer in the field of the 4q-th roots of unity, none of its conjugates larger than 2.
    """
    roots: dict[Node, int] = {}
    size = _size(node, roots)
    if size is None:
        return None
    degree = 1
    for order in roots.values():
        degree *= order
        if degree > 1_000:
            return None
    upper, lower = size
    bits = int((degree * degree - 1) * upper + lower) + 2
    if bits > ALGEBRAIC_BITS:
        return None
    try:
        bounds = enclosed(node, {}, bits + int(upper + lower) + 100)
    except (Undefined, ZeroDivisionError, ValueError, OverflowError):
        return None
    if bounds.a > 0 or bounds.b < 0:
        return False
    from mpmath import iv

    bound = iv.mpf(2) ** -bits
    return True if bounds.b < bound.a and -bounds.a < bound.a else None


Size = tuple[Fraction, Fraction]


def _size(node: Node, roots: dict[Node, int]) -> Size | None:
    """Bounds for log2 u and log2 l; records the roots with their orders."""
    kind = node[0]
    if kind == "number":
        return Fraction(node[1].numerator.bit_length()), Fraction(node[1].denominator.bit_length())
    if kind == "**" and node[2][0] == "number":
        return _size_of_power(node, roots)
    if kind == "call":
        return _size_of_angle(node, roots)
    if kind not in "+*":
        return None
    upper, lower = Fraction(0), Fraction(0)
    for place, part in enumerate(node[1:]):
        part_size = _size(part, roots)
        if part_size is None:
            return None
        if kind == "*" or not place:
            upper, lower = upper + part_size[0], lower + part_size[1]
        else:
            upper, lower = max(upper + part_size[1], lower + part_size[0]) + 1, lower + part_size[1]
    return upper, lower


def _size_of_angle(node: Node, roots: dict[Node, int]) -> Size | None:
    factor = _share_of_pi(node[2]) if node[1] in ("sin", "cos") else None
    if factor is None:
        return None
    order = 2 * factor.denominator  # at least the degree of the field
    roots[("unity", order)] = order
    return Fraction(1), Fraction(1)


def _share_of_pi(node: Node) -> Fraction | None:
    """Return the rational number by which pi is multiplied in an angle, if there is one."""
    parts = node[1:] if node[0] == "*" else (node,)
    if [part[0] for part in parts].count("pi") != 1 or any(part[0] not in ("pi", "number") for part in parts):
        return None
    factor = Fraction(1)
    for part in parts:
        factor *= part[1] if part[0] == "number" else 1
    return factor


def _size_of_power(node: Node, roots: dict[Node, int]) -> Size | None:
    base_size, exponent = _size(node[1], roots), node[2][1]
    if base_size is None:
        return None
    if exponent.denominator > 1:
        key = (node[1], exponent.denominator)
        roots[key] = exponent.denominator
    upper, lower = base_size if exponent > 0 else base_size[::-1]
    return upper * abs(exponent), lower * abs(exponent)
