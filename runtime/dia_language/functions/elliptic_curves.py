"""Elliptic curves y^2 = x^3 + a x + b over a prime field. The point at infinity is `none`."""

from __future__ import annotations

from functools import lru_cache

from dia_language.budgets import charge
from dia_language.diagnostics import LanguageError, unknown_name
from dia_language.functions.argument_types import Curve, Point
from dia_language.functions.number_theory import factor, is_prime
from dia_language.functions.registry import library_function
from dia_language.numbers.values import Record

FIELD_BITS = 1024
COUNTED = 100_000
Jacobian = tuple[int, int, int]

# NIST SP 800-186, section 3.2.1, and SEC 2 version 2.0, section 2.4.1: a, b, p, base point x, y, its order n
NAMED = {
    "P-224": (
        -3,
        0xB4050A850C04B3ABF54132565044B0B7D7BFD8BA270B39432355FFB4,
        2**224 - 2**96 + 1,
        0xB70E0CBD6BB4BF7F321390B94A03C1D356C21122343280D6115C1D21,
        0xBD376388B5F723FB4C22DFE6CD4375A05A07476444D5819985007E34,
        0xFFFFFFFFFFFFFFFFFFFFFFFFFFFF16A2E0B8F03E13DD29455C5C2A3D,
    ),
    "P-256": (
        -3,
        0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
        2**256 - 2**224 + 2**192 + 2**96 - 1,
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
        0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    ),
    "P-384": (
        -3,
        0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF,
        2**384 - 2**128 - 2**96 + 2**32 - 1,
        0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
        0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
        0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
    ),
    "P-521": (
        -3,
        0x0051953EB9618E1C9A1F929A21A0B68540EEA2DA725B99B315F3B8B489918EF109E156193951EC7E937B1652C0BD3BB1BF073573DF883D2C34F1EF451FD46B503F00,
        2**521 - 1,
        0x00C6858E06B70404E9CD9E3ECB662395B4429C648139053FB521F828AF606B4D3DBAA14B5E77EFE75928FE1DC127A2FFA8DE3348B3C1856A429BF97E7E31C2E5BD66,
        0x011839296A789A3BC0045C8A5FB42C7D1BD998F54449579B446817AFBD17273E662C97EE72995EF42640C550B9013FAD0761353C7086A272C24088BE94769FD16650,
        0x01FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409,
    ),
    "secp256k1": (
        0,
        7,
        2**256 - 2**32 - 977,
        0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
        0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
        0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    ),
}


@library_function
def curve(a: int, b: int, p: int) -> Curve:
    """The curve y^2 = x^3 + a x + b over the field with p elements: a record of a, b (both reduced modulo p) and p.

    `p` must be a prime greater than 3 with at most 1,024 bits. Raises an error if 4 a^3 + 27 b^2 is 0 modulo p, because
    the points of such a curve do not form a group.

    Examples:
        curve(-1, 3, 97) -> {a: 96, b: 3, p: 97}
    """
    return Record(zip("abp", _sound(a, b, p), strict=True))


@library_function
def named_curve(name: str) -> Curve:
    """The curve called `name`: a record of a, b, p, name, the base point's x and y, and its order n.

    `name` is P-224, P-256, P-384, P-521 or secp256k1. Source: NIST SP 800-186; SEC 2, version 2.0.

    Examples:
        named_curve("secp256k1").b -> 7
    """
    if name not in NAMED:
        raise unknown_name("curve", name, NAMED)
    a, b, p, x, y, n = NAMED[name]
    return Record(a=a % p, b=b, p=p, name=name, x=x, y=y, n=n)


@library_function
def base_point(curve: Curve) -> Point:
    """The base point of a named curve.

    Raises an error if the curve has no base point.

    Examples:
        base_point(named_curve("secp256k1")).x % 1000 -> 240
    """
    if "x" not in curve:
        raise LanguageError("this curve has no base point", "the curves of `named_curve` have one")
    return Record(x=curve["x"], y=curve["y"])


@library_function
def is_on_curve(curve: Curve, point: Point) -> bool:
    """Whether the point is on the curve. Its coordinates must be from 0 to p - 1; `none` is the point at infinity.

    Examples:
        is_on_curve(curve(2, 3, 97), {"x": 3, "y": 6}) -> True
        is_on_curve(curve(2, 3, 97), {"x": 3, "y": 7}) -> False
    """
    if point is None:
        return True
    a, b, p = _parts(curve)
    x, y = point["x"], point["y"]
    return bool(0 <= x < p and 0 <= y < p and (y * y - (x * x + a) * x - b) % p == 0)


@library_function
def point_negate(curve: Curve, point: Point) -> Point:
    """The negative of the point: the same x, with the sign of y changed. The sum of the two is `none`.

    Raises an error if the point is not on the curve.

    Examples:
        point_negate(curve(2, 3, 97), {"x": 3, "y": 6}) -> {x: 3, y: 91}
    """
    checked_point = _on(curve, point)
    return None if checked_point is None else Record(x=checked_point["x"], y=-checked_point["y"] % curve["p"])


@library_function
def point_add(curve: Curve, first: Point, second: Point) -> Point:
    """The sum of two points, which may be equal or `none`.

    Raises an error if a point is not on the curve. Source: NIST SP 800-186, section 2.1.1.

    Examples:
        point_add(curve(2, 3, 97), {"x": 3, "y": 6}, {"x": 80, "y": 10}) -> {x: 80, y: 87}
    """
    p, q = _on(curve, first), _on(curve, second)
    if p is None or q is None:
        return q if p is None else p
    return _affine(curve, _plus(curve, (p["x"], p["y"], 1), (q["x"], q["y"], 1)))


@library_function
def point_multiply(curve: Curve, k: int, point: Point) -> Point:
    """The point multiplied by the integer `k`; a negative `k` multiplies the negated point.

    `k` has at most 2,048 bits. Raises an error if the point is not on the curve.

    Examples:
        point_multiply(curve(2, 3, 97), 3, {"x": 3, "y": 6}) -> {x: 80, y: 87}
        point_multiply(curve(2, 3, 97), 5, {"x": 3, "y": 6}) -> none
    """
    if k.bit_length() > 2 * FIELD_BITS:
        raise LanguageError(f"`point_multiply` needs a factor of at most {2 * FIELD_BITS:,} bits", code="E502")
    checked_point = _on(curve, point if k >= 0 else point_negate(curve, point))
    if checked_point is None or k == 0:
        return None
    charge(k.bit_length() * (curve["p"].bit_length() // 64 + 1) ** 2 // 8)
    begin = (checked_point["x"], checked_point["y"], 1)
    total = begin
    for bit in bin(abs(k))[3:]:
        total = _double(curve, total)
        if bit == "1":
            total = _plus(curve, total, begin)
    return _affine(curve, total)


@library_function
def curve_points(curve: Curve) -> list[Point]:
    """The points of a small curve, except the point at infinity, sorted by x and then y.

    `p` must be at most 100,000. Costs one step per field element.

    Examples:
        curve_points(curve(0, 1, 5))[:2] -> [{x: 0, y: 1}, {x: 0, y: 4}]
        curve_points(curve(0, 1, 5))[-1] -> {x: 4, y: 0}
    """
    a, b, p = _parts(curve)
    roots = _roots(p)
    charge(p)
    heights = ((x, (x**3 + a * x + b) % p) for x in range(p))
    return [Record(x=x, y=y) for x, height in heights for y in roots.get(height, ())]


@library_function
def curve_order(curve: Curve) -> int:
    """The number of points on the curve, including the point at infinity.

    Curves from `named_curve` have this number as n. For any other curve, the points are counted: p must be at most
    100,000, and each field element costs one step.

    Examples:
        curve_order(curve(2, 3, 97)) -> 100
        curve_order(named_curve("secp256k1")) % 1000 -> 337
    """
    if "n" in curve:
        return int(curve["n"])
    a, b, p = _parts(curve)
    roots = _roots(p)
    charge(p)
    return 1 + sum(len(roots.get((x**3 + a * x + b) % p, ())) for x in range(p))


@library_function
def point_order(curve: Curve, point: Point) -> int:
    """The smallest positive k for which k times the point is `none`.

    The limits are those of `curve_order`.

    Examples:
        point_order(curve(2, 3, 97), {"x": 3, "y": 6}) -> 5
        point_order(curve(2, 3, 97), none) -> 1
    """
    checked_point = _on(curve, point)
    order = 1 if checked_point is None else curve_order(curve)
    for prime, exponent in factor(order):
        for _ in range(exponent):
            if point_multiply(curve, order // prime, checked_point) is not None:
                break
            order //= prime
    return order


def _parts(curve: Curve) -> tuple[int, int, int]:
    """a, b and p of a curve, checked as in `curve`, because authors can write the record by hand."""
    if "name" in curve and curve["name"] in NAMED and curve == named_curve(curve["name"]):
        return curve["a"], curve["b"], curve["p"]
    return _sound(curve["a"], curve["b"], curve["p"])


@lru_cache(maxsize=256)
def _sound(a: int, b: int, p: int) -> tuple[int, int, int]:
    if p.bit_length() > FIELD_BITS:
        raise LanguageError(f"`p` of a curve can have at most {FIELD_BITS:,} bits", code="E502")
    if p <= 3 or not is_prime(p):
        raise LanguageError("`p` of a curve must be a prime greater than 3")
    a, b = a % p, b % p
    if (4 * a**3 + 27 * b**2) % p == 0:
        raise LanguageError("4 a^3 + 27 b^2 is 0 modulo p, so this is not an elliptic curve")
    return a, b, p


def _on(curve: Curve, point: Point) -> Point:
    if not is_on_curve(curve, point):
        raise LanguageError("the point is not on the curve", "x and y must be from 0 to p - 1")
    return point


@lru_cache(maxsize=4)
def _roots(p: int) -> dict[int, tuple[int, ...]]:
    """The square roots of each square modulo a small prime, in ascending order."""
    if p > COUNTED:
        raise LanguageError(f"the points can only be counted for `p` up to {COUNTED:,}", code="E502")
    roots: dict[int, tuple[int, ...]] = {}
    for y in range(p):
        roots[y * y % p] = (*roots.get(y * y % p, ()), y)
    return roots


def _double(curve: Curve, point: Jacobian) -> Jacobian:
    """Twice the point (x / z^2, y / z^3); z = 0 is infinity. Cohen and others, Asiacrypt 1998, section 2.2."""
    a, p = curve["a"], curve["p"]
    x, y, z = point
    square = y * y % p
    s = 4 * x * square % p
    m = (3 * x * x + a * pow(z, 4, p)) % p
    new = (m * m - 2 * s) % p
    return new, (m * (s - new) - 8 * square * square) % p, 2 * y * z % p


def _plus(curve: Curve, first: Jacobian, second: Jacobian) -> Jacobian:
    """The sum of a point and another point with z = 1."""
    p = curve["p"]
    (x1, y1, z1), (x2, y2, _) = first, second
    if z1 == 0:
        return second
    square = z1 * z1 % p
    h = (x2 * square - x1) % p
    r = (y2 * square * z1 - y1) % p
    if h == 0:
        return _double(curve, first) if r == 0 else (1, 1, 0)
    h2 = h * h % p
    h3, v = h * h2 % p, x1 * h2 % p
    x = (r * r - h3 - 2 * v) % p
    return x, (r * (v - x) - y1 * h3) % p, z1 * h % p


def _affine(curve: Curve, point: Jacobian) -> Point:
    x, y, z = point
    p = curve["p"]
    if z == 0:
        return None
    inverse = pow(z, -1, p)
    return Record(x=x * inverse**2 % p, y=y * inverse**3 % p)
